"""What was opened lately is masked, whoever wrote it, and what was opened long ago is forgotten."""

import pytest

from fairway.agent import opened_lately
from fairway.agent.opened_lately import OpenedLately
from fairway.secrets.secret import Secret


class Backwards:
    """Opens a text by reading it from its end."""

    def unseal(self, text: str) -> Secret:
        return Secret(text[::-1])


def test_what_was_opened_is_masked_from_then_on() -> None:
    lately = OpenedLately(Backwards())
    lines = b"one: secret-one\ntwo: secret-two\n"

    before = lately.masked(lines)
    opened = lately.unseal("eno-terces")
    one = lately.masked(lines)
    lately.unseal("owt-terces")

    assert opened.reveal() == "secret-one"
    assert (before, one.decode(), lately.masked(lines).decode()) == (
        lines,
        "one: •••\ntwo: secret-two\n",
        "one: •••\ntwo: •••\n",
    )


def test_those_that_were_opened_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened_lately, "_REMEMBERED", 2)
    lately = OpenedLately(Backwards())

    for text in ("eno-terces", "owt-terces", "eno-terces", "eerht-terces"):
        lately.unseal(text)

    assert lately.masked(b"secret-one secret-two secret-three").decode() == "••• secret-two •••"
