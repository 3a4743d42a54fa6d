"""Wheels are checked before they are unpacked, and are unpacked whole or not at all."""

import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.launcher import wheel as wheel_module
from fairway.agent.launcher.wanted import Wanted, parse_wanted
from fairway.agent.launcher.wheel import BadWheel, extract, unpack
from tests.integration.agent.launcher.wheels import SOURCE, a_wheel

METADATA = "Metadata-Version: 2.4\nName: {}\nVersion: {}\n"


def a_small_wheel(folder: Path, files: dict[str, str]) -> Path:
    """A wheel of 9.9 with these files and a proper description."""
    about = {"fairway-9.9.dist-info/METADATA": METADATA.format("fairway", "9.9"), "fairway/__init__.py": ""}
    path = folder / "small.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in {**about, **files}.items():
            wheel.writestr(name, content)
    return path


def test_a_wheel_of_this_repository_is_unpacked_and_can_be_run(tmp_path: Path) -> None:
    wanted = parse_wanted(a_wheel(tmp_path, "9.9"))

    unpack(tmp_path / SOURCE.format(version="9.9"), wanted, tmp_path)

    command = [sys.executable, str(tmp_path / wanted.key), "fairway.cli", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout == "fairway 9.9\n"
    unpack(tmp_path / "none.whl", wanted, tmp_path)  # it is there already


@pytest.mark.parametrize(
    ("files", "words"),
    [
        pytest.param({"../out": ""}, r"no place for a file", id="a file outside"),
        pytest.param({"/etc/out": ""}, r"no place for a file", id="an absolute name"),
        pytest.param({"fairway/../../out": ""}, r"no place for a file", id="a file outside, by a detour"),
        pytest.param({"other/__init__.py": ""}, r"no place for a file", id="another package"),
        pytest.param({"fairway/" + "a/" * 1000 + "b.py": ""}, r"more than 32 directories", id="very many directories"),
        pytest.param({"__main__.py": ""}, r"no place for a file", id="a program of its own"),
        pytest.param(
            {"fairway-9.9.dist-info/METADATA": METADATA.format("other", "9.9")},
            r"is other 9.9; expected fairway 9.9",
            id="another name",
        ),
        pytest.param(
            {"fairway-9.9.dist-info/METADATA": METADATA.format("fairway", "9.8")},
            r"is fairway 9.8; expected fairway 9.9",
            id="another version",
        ),
        pytest.param(
            {"fairway-9.9.dist-info/METADATA": METADATA.format("fairway", "9.9") + "Requires-Python: >=9\n"},
            r"needs Python >=9",
            id="another Python",
        ),
        pytest.param(
            {
                "fairway-9.9.dist-info/METADATA": METADATA.format("fairway", "9.9")
                + "Requires-Dist: no-such-thing>=1\nRequires-Dist: msgspec>=999\nRequires-Dist: x; extra == 'y'\n"
            },
            r"not installed beside the agent: msgspec>=999 \(there is .*\); no-such-thing>=1 \(there is none\)$",
            id="what it needs is not there",
        ),
        pytest.param(
            {"fairway-9.9.dist-info/METADATA": METADATA.format("fairway", "9.9") + "Requires-Dist: ???\n"},
            r"says in no known way what it needs",
            id="nonsense",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_wheel_that_is_not_to_be_run_is_refused_and_leaves_nothing(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    wheel, versions = a_small_wheel(tmp_path, files), tmp_path / "versions"
    versions.mkdir()

    with pytest.raises(BadWheel, match=words):
        unpack(wheel, Wanted("9.9", "a" * 64), versions)

    assert list(versions.iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_what_is_no_zip_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"no zip")

    with pytest.raises(BadWheel, match=r"cannot be unpacked"):
        unpack(tmp_path / "x.whl", Wanted("9.9", "a" * 64), tmp_path)


@given(place=st.integers(0, 500), byte=st.integers(0, 255), cut=st.integers(0, 500))
def test_a_wheel_that_is_damaged_is_unpacked_or_refused_and_never_a_surprise(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = a_small_wheel(folder, {"fairway/x.py": "x = 1\n" * 20})
    content = bytearray(wheel.read_bytes())
    content[place % len(content)] = byte
    wheel.write_bytes(content[: len(content) - (cut if cut < 100 else 0)])

    with suppress(BadWheel):
        extract(wheel, "9.9", folder / "place")


def test_a_wheel_of_another_version_has_no_description_of_this_one(tmp_path: Path) -> None:
    with pytest.raises(BadWheel, match=r"no place for a file of fairway 9.8"):
        unpack(a_small_wheel(tmp_path, {}), Wanted("9.8", "a" * 64), tmp_path)


def test_source_that_becomes_very_much_when_compiled_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler works out constant expressions: each line here becomes four kilobytes."""
    monkeypatch.setattr(wheel_module, "_MOST_BYTES", 1 << 20)
    bomb = "".join(f"x = 'a{number:05}' * 680\n" for number in range(1000))
    wheel, versions = a_small_wheel(tmp_path, {"fairway/bomb.py": bomb}), tmp_path / "versions"
    versions.mkdir()

    with pytest.raises(BadWheel, match="the compiled files of the wheel exceed 1 MiB"):
        unpack(wheel, Wanted("9.9", "a" * 64), versions)

    assert list(versions.iterdir()) == []
