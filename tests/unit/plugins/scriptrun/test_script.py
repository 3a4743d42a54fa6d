"""The text that a shell is given."""

import shlex

from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.scriptrun.script import script_text


def test_one_command_stands_behind_its_variables_as_it_was_written() -> None:
    text = script_text(['if true; then\n  echo "$A"\nfi'], {"A": "it's"}, "/journal/step")

    assert text == "export A='it'\"'\"'s'\nif true; then\n  echo \"$A\"\nfi\n"


def test_several_commands_are_counted_and_shown_and_the_first_that_fails_is_the_last() -> None:
    text = script_text(["make", "make 'it so'"], {}, "/journal/the step")

    assert text.splitlines() == [
        "set -e",
        "echo 1 1<> '/journal/the step' || :",
        "printf '%s\\n' '$ make' || :",
        "eval make",
        "echo 2 1<> '/journal/the step' || :",
        "printf '%s\\n' '$ make '\"'\"'it so'\"'\"'' || :",
        "eval 'make '\"'\"'it so'\"'\"''",
    ]


def test_a_name_that_no_shell_can_export_is_passed_over() -> None:
    text = script_text(["true"], {"SR_LABELS_APP.KUBERNETES.IO/NAME": "x", "1ST": "x", "FINE_1": "y", "A\nB": "z"}, "s")

    assert text == "export FINE_1=y\ntrue\n"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_value_is_one_word_whatever_it_holds(value: str) -> None:
    exported = script_text(["true"], {"A": value}, "step").removesuffix("\ntrue\n")

    assert shlex.split(exported) == ["export", f"A={value}"]
