"""Paths that begin at somebody's home."""

from pathlib import Path

import pytest

from fairway.home import from_home


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("~/.kube/config", "/home/ada/.kube/config", id="one's own"),
        pytest.param("~nobody-here/key", "~nobody-here/key", id="nobody's"),
        pytest.param("/etc/~/key", "/etc/~/key", id="not at the beginning"),
        pytest.param("key", "key", id="none"),
    ],
)
def test_a_home_is_put_in_where_there_is_one(written: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")

    assert from_home(written) == Path(meant)
