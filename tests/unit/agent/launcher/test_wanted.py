"""Which version a server wants, and whether this agent follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.launcher.record import INSTALLED, Failure
from fairway.agent.launcher.wanted import (
    BadWish,
    Bring,
    Circumstances,
    Return,
    Stay,
    Wanted,
    decide_upgrade,
    parse_wanted,
)
from fairway.config.upgrade import Upgrade

A, B = "a" * 64, "b" * 64
SOURCE = "file:///wheels/fairway-{version}-py3-none-any.whl"
NOW = Circumstances(running=INSTALLED, installed="0.1.0", upgrade=Upgrade(source=SOURCE))
KEY = f"0.2.0-{A}"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        pytest.param(f"0.2.0@sha256:{A.upper()}", Wanted("0.2.0", A), id="ours"),
        pytest.param("v0.2.0", Wanted("0.2.0"), id="PipeCD's"),
        pytest.param(" 1.0rc1\n", Wanted("1.0rc1"), id="space around it"),
        pytest.param("1.0-rc1".replace("-", ""), Wanted("1.0rc1"), id="a candidate"),
    ],
)
def test_a_text_names_a_version(text: str, meant: Wanted) -> None:
    assert parse_wanted(text) == meant


@pytest.mark.parametrize("text", ["latest", "../../etc", "0.2.0@sha256:12", f"0.2.0@md5:{A}", "0.2.0 or so", "1..2"])
def test_a_text_that_names_none_is_refused(text: str) -> None:
    with pytest.raises(BadWish, match=r"is no version; expected VERSION@sha256:HEX"):
        parse_wanted(text)


@given(st.text(max_size=100))
def test_whatever_is_wanted_cannot_leave_its_place_in_an_address(text: str) -> None:
    try:
        wanted = parse_wanted(text)
    except BadWish:
        return
    assert set(wanted.version) <= set("0123456789abcdefghijklmnopqrstuvwxyz.+!")


@pytest.mark.parametrize(
    ("text", "now", "decision"),
    [
        pytest.param("", NOW, Stay(), id="nothing is wanted"),
        pytest.param("v0.1.0", NOW, Stay(), id="the installed version runs already"),
        pytest.param(f"0.1.0@sha256:{A}", NOW, Stay(), id="the installed version is trusted"),
        pytest.param(f"0.2.0@sha256:{A}", NOW, Bring(Wanted("0.2.0", A), SOURCE), id="another"),
        pytest.param(f"0.0.9@sha256:{A}", NOW, Bring(Wanted("0.0.9", A), SOURCE), id="an older one"),
        pytest.param(f"0.2.0@sha256:{A}", NOW._replace(running=KEY), Stay(), id="it runs already"),
        pytest.param("0.2.0", NOW._replace(running=KEY), Stay(), id="it runs already, of any checksum"),
        pytest.param(
            f"0.2.0@sha256:{B}",
            NOW._replace(running=KEY),
            Bring(Wanted("0.2.0", B), SOURCE),
            id="the same version with another checksum",
        ),
        pytest.param("0.1.0", NOW._replace(running=KEY), Return(), id="back to what is installed"),
        pytest.param(
            "v0.2.0",
            NOW._replace(upgrade=Upgrade(source=SOURCE, checksums={"v0.2": B, "0.2.0": A})),
            Bring(Wanted("0.2.0", A), SOURCE),
            id="the checksum of the file",
        ),
    ],
)
def test_a_wish_is_followed(text: str, now: Circumstances, decision: object) -> None:
    assert decide_upgrade(text, now) == decision


@pytest.mark.parametrize(
    ("text", "now", "words"),
    [
        pytest.param("latest", NOW, "is no version", id="no version"),
        pytest.param("0.2.0", NOW, "its checksum is not known", id="no checksum"),
        pytest.param(f"0.2.0@sha256:{A}", NOW._replace(upgrade=None), "has no spec.upgrade", id="no source"),
        pytest.param(f"0.2.0@sha256:{A}", NOW._replace(launched=False), "no launcher", id="no launcher"),
        pytest.param(
            f"0.2.0@sha256:{A}",
            NOW._replace(failures=(Failure(KEY, "it crashed", 1),)),
            "0.2.0 was tried and left: it crashed; `fairway agent restart` lets it try again",
            id="it has failed",
        ),
        pytest.param(
            f"0.2.0@sha256:{A}",
            NOW._replace(upgrade=Upgrade(source=SOURCE, checksums={"0.2.0": B})),
            "another checksum than the agent's file says",
            id="two checksums",
        ),
    ],
)
def test_a_wish_is_refused_with_words(text: str, now: Circumstances, words: str) -> None:
    decision = decide_upgrade(text, now)

    assert isinstance(decision, Stay)
    assert words in decision.reason


def test_a_version_that_was_excused_may_be_tried() -> None:
    now = NOW._replace(failures=(Failure(KEY, "it was not ready", 1, excused=True),))

    assert decide_upgrade(f"0.2.0@sha256:{A}", now) == Bring(Wanted("0.2.0", A), SOURCE)


def test_a_version_that_failed_with_another_checksum_may_be_tried() -> None:
    now = NOW._replace(failures=(Failure(KEY, "it crashed", 1),))

    assert decide_upgrade(f"0.2.0@sha256:{B}", now) == Bring(Wanted("0.2.0", B), SOURCE)
