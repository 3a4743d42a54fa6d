"""The wheel of a version comes from a file or from the web, and is the one that was meant."""

import hashlib
import os
from pathlib import Path

import pytest

from fairway.agent.launcher import fetch
from fairway.agent.launcher.fetch import FetchFailed, fetched
from fairway.agent.launcher.wanted import Wanted
from fairway.agent.launcher.wheel import BadWheel
from fairway.git.retry import Retry
from tests.integration.agent.plugins.web import a_web_server

CONTENT = b"as good as a wheel"
WANTED = Wanted("1.2", hashlib.sha256(CONTENT).hexdigest())
ONCE = Retry(attempts=1)


async def test_a_wheel_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "a b-1.2.whl").write_bytes(CONTENT)

    async with fetched(WANTED, f"file://{tmp_path}/a%20b-{{version}}.whl", tmp_path) as wheel:
        assert wheel.read_bytes() == CONTENT

    assert os.listdir(tmp_path) == ["a b-1.2.whl"]


async def test_a_wheel_comes_from_the_web(tmp_path: Path) -> None:
    with a_web_server({"/1.2/x.whl": CONTENT}, []) as host:
        async with fetched(WANTED, f"http://{host}/{{version}}/x.whl", tmp_path) as wheel:
            assert wheel.read_bytes() == CONTENT


async def test_another_checksum_is_refused_with_both(tmp_path: Path) -> None:
    (tmp_path / "1.2").write_bytes(CONTENT + b"!")
    words = rf"has the checksum sha256:[0-9a-f]{{64}}; expected sha256:{WANTED.sha256}"

    with pytest.raises(BadWheel, match=words):
        async with fetched(WANTED, f"file://{tmp_path}/{{version}}", tmp_path):
            raise AssertionError("it was taken")


async def test_what_is_not_there_is_asked_for_again_and_may_be_there_later(tmp_path: Path) -> None:
    async def bring(_: float) -> None:
        (tmp_path / "1.2").write_bytes(CONTENT)

    async with fetched(WANTED, f"file://{tmp_path}/{{version}}", tmp_path, Retry(attempts=2, sleep=bring)) as wheel:
        assert wheel.read_bytes() == CONTENT


async def test_what_is_not_there_is_said_by_its_address(tmp_path: Path) -> None:
    with a_web_server({}, []) as host, pytest.raises(FetchFailed, match=rf"http://{host}/1.2 answered 404"):
        async with fetched(WANTED, f"http://{host}/{{version}}", tmp_path, ONCE):
            raise AssertionError("it was taken")
    with pytest.raises(FetchFailed, match=r"none-1\.2 cannot be read \(No such file"):
        async with fetched(WANTED, f"file://{tmp_path}/none-{{version}}", tmp_path, ONCE):
            raise AssertionError("it was taken")


async def test_what_is_no_address_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadWheel, match=r"https://256\.1\.1\.1/1\.2 is no address"):
        async with fetched(WANTED, "https://256.1.1.1/{version}", tmp_path):
            raise AssertionError("it was taken")
    with pytest.raises(FetchFailed, match=r"http://127\.0\.0\.1:99999/1\.2 cannot be fetched"):
        async with fetched(WANTED, "http://127.0.0.1:99999/{version}", tmp_path, ONCE):
            raise AssertionError("it was taken")


async def test_what_is_much_too_large_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 4)
    (tmp_path / "1.2").write_bytes(CONTENT)

    with pytest.raises(BadWheel, match=r"is larger than"):
        async with fetched(WANTED, f"file://{tmp_path}/{{version}}", tmp_path):
            raise AssertionError("it was taken")
