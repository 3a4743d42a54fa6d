"""What `fairway agent upgrade` says to the server."""

import pytest

from fairway.cli.agent import wished_version
from fairway.cli.call import UsageError

DIGITS = "0a" * 32


@pytest.mark.parametrize(
    ("given", "wish"),
    [
        pytest.param(("0.2.0", DIGITS.upper(), False), f"0.2.0@sha256:{DIGITS}", id="with its checksum"),
        pytest.param(("0.2.0", f"sha256:{DIGITS}", False), f"0.2.0@sha256:{DIGITS}", id="written in full"),
        pytest.param(("v0.2.0", "", False), "v0.2.0", id="the agent's file has the checksum"),
        pytest.param(("", "", True), "", id="nothing is wanted"),
    ],
)
def test_a_wish_is_one_text(given: tuple[str, str, bool], wish: str) -> None:
    assert wished_version(*given) == wish


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(("", "", False), "either a VERSION or --any", id="nothing"),
        pytest.param(("0.2.0", "", True), "either a VERSION or --any", id="both"),
        pytest.param(("0.2.0", "abc", False), "64 hexadecimal digits", id="a short checksum"),
        pytest.param(("", DIGITS, True), "64 hexadecimal digits", id="a checksum of nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: tuple[str, str, bool], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        wished_version(*given)
