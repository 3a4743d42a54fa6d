"""What was opened lately is masked, whoever wrote it, and what was opened long ago is forgotten."""

import pytest

from fairway.agent import opened_lately
from fairway.agent.opened_lately import OpenedLately
from fairway.secrets.secret import Secret


def masked(lately: OpenedLately, lines: bytes) -> bytes:
    mask = lately.mask()
    return mask.feed(lines) + mask.flush()


class Backwards:
    """Opens a text by reading it from its end."""

    def unseal(self, text: str) -> Secret:
        return Secret(text[::-1])


def test_what_was_opened_is_masked_from_then_on() -> None:
    lately = OpenedLately(Backwards())
    lines = b"one: secret-one\ntwo: secret-two\n"

    before = masked(lately, lines)
    opened = lately.unseal("eno-terces")
    one = masked(lately, lines)
    lately.unseal("owt-terces")

    assert opened.reveal() == "secret-one"
    assert (before, one.decode(), masked(lately, lines).decode()) == (
        lines,
        "one: •••\ntwo: secret-two\n",
        "one: •••\ntwo: •••\n",
    )


def test_those_that_were_opened_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened_lately, "_REMEMBERED", 2)
    lately = OpenedLately(Backwards())

    for text in ("eno-terces", "owt-terces", "eno-terces", "eerht-terces"):
        lately.unseal(text)

    assert masked(lately, b"secret-one secret-two secret-three").decode() == "••• secret-two •••"
