"""What people see, as whole texts."""

from datetime import timedelta
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from fairway.cli.output import (
    LOOKS,
    ago,
    coloured,
    fields,
    log_text,
    plain,
    reason_text,
    roughly,
    short_ids,
    show,
    status,
    table,
    took,
)
from fairway.model.agent import ConnectionStatus
from fairway.model.application import SyncStatus
from fairway.model.command import CommandStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.event import EventStatus
from fairway.model.live_state import Health
from fairway.model.stage import StageStatus
from tests.unit.model.builders import NOW


def printed(renderable: RenderableType, width: int = 1000) -> str:
    file = StringIO()
    show(Console(file=file, width=width, highlight=False, markup=False), renderable)
    return file.getvalue()


def test_a_table_is_aligned_and_has_no_blanks_at_the_ends_of_lines() -> None:
    rows = [("cart", status("succeeded"), "3m ago"), ("a longer name", status("rolling_back"), "now")]

    assert printed(table(("NAME", "STATUS", "WHEN"), rows)) == (
        "NAME           STATUS          WHEN\n"
        "cart           ✓ succeeded     3m ago\n"
        "a longer name  ↺ rolling back  now\n"
    )


def test_a_table_is_cut_to_the_width() -> None:
    rows = [("cart", "a sentence that is far too long for the terminal")]

    assert printed(table(("NAME", "SUMMARY"), rows), width=30) == (
        "NAME  SUMMARY\n"  #
        "cart  a sentence that is far …\n"
    )


def test_an_empty_table_says_so() -> None:
    assert printed(table(("NAME",), [], "no applications")) == "no applications\n"


def test_fields_that_are_empty_are_left_out() -> None:
    assert printed(fields([("id", "d-1"), ("labels", ""), ("asked by", "ada")])) == (
        "  id        d-1\n"  #
        "  asked by  ada\n"
    )


def test_lines_are_told_apart_when_they_become_one() -> None:
    assert (
        plain("2 are refused:\na.yaml:1: x\n\n  b.yaml:2: y;\nlast") == "2 are refused: a.yaml:1: x; b.yaml:2: y; last"
    )


def test_the_lines_of_a_reason_are_kept_where_there_is_room_for_them() -> None:
    assert (
        reason_text("2 are refused:\na.yaml:1: x\x1b[1m\n\nb.yaml:2: y")
        == "2 are refused:\n  a.yaml:1: x [1m\n  b.yaml:2: y"
    )


def test_escape_sequences_do_not_reach_the_terminal() -> None:
    assert plain("a\x1b[31mb\r\x9bc\u202ed ") == "a [31mb; c d"
    assert log_text("\x1b[1;31mred\x1b[0m\ttab\nline\r\x07\x1b]0;title\x07!") == "red\ttab\nline!"


def test_a_log_keeps_its_colours_and_no_other_power_over_the_terminal() -> None:
    line = coloured(
        "\x1b[1;31mred\x1b[0m \x1b[2J\x1b[1;1H\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b\x1b[32mgreen\x9b5A\r"
    )

    assert (line.plain, [(line.plain[span.start : span.end], str(span.style)) for span in line.spans]) == (
        "red linkgreen5A",
        [("red", "bold color(1)"), ("green5A", "color(2)")],
    )


@given(st.text(st.sampled_from("\x1b[]0123;mAJH\\x\x07\x9b\r\n ")))
def test_no_coloured_line_moves_the_cursor(text: str) -> None:
    shown = coloured(text).plain

    assert not {"\x1b", "\x9b", "\x07", "\r"} & set(shown)


@given(st.text())
def test_no_text_moves_the_cursor(text: str) -> None:
    allowed = {"\n", "\t"}

    assert all(character.isprintable() or ord(character) > 0x9F for character in plain(text))
    assert all(character in allowed or character >= " " for character in log_text(text))
    assert "\x1b" not in log_text(text)
    assert "\x9b" not in log_text(text)


@pytest.mark.parametrize(
    ("seconds", "rough", "exact"),
    [
        pytest.param(0, "0s", "0s", id="nothing"),
        pytest.param(-5, "0s", "0s", id="a clock that is ahead"),
        pytest.param(59.9, "59s", "59s", id="seconds"),
        pytest.param(61, "1m", "1m01s", id="minutes"),
        pytest.param(3_661, "1h", "1h01m", id="hours"),
        pytest.param(90_000, "1d", "1d01h", id="days"),
    ],
)
def test_a_length_of_time_in_words(seconds: float, rough: str, exact: str) -> None:
    length = timedelta(seconds=seconds)

    assert (roughly(length), took(length)) == (rough, exact)


def test_a_time_is_told_from_now() -> None:
    times = (None, NOW, NOW - timedelta(minutes=3), NOW + timedelta(seconds=9))

    assert [ago(at, NOW) for at in times] == ["never", "now", "3m ago", "now"]


def test_ids_are_shortened_as_far_as_they_stay_different() -> None:
    one = "c0ffee12-3400-4000-8000-000000000000"
    near = "c0ffee12-3500-4000-8000-000000000000"

    assert short_ids([one]) == {one: "c0ffee12"}
    assert short_ids([one, near]) == {one: "c0ffee12-34", near: "c0ffee12-35"}
    assert short_ids(["a-name-that-somebody-chose"]) == {"a-name-that-somebody-chose": "a-name-that-somebody-chose"}


@pytest.mark.parametrize(
    "statuses", [DeploymentStatus, StageStatus, SyncStatus, ConnectionStatus, CommandStatus, EventStatus, Health]
)
def test_every_status_has_a_look(statuses: type[DeploymentStatus]) -> None:
    assert [member.value for member in statuses if member.value not in LOOKS] == []
