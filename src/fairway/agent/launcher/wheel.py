"""A wheel of Fairway: checked, and unpacked into a directory from which the same interpreter can run it.

Nothing is installed. What a version needs must be there already, in the environment of the interpreter; a version that
needs more is refused with the name of what is missing, because an agent must not change the machine it runs on.
"""

import importlib.metadata
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.parser import BytesHeaderParser
from pathlib import Path, PurePosixPath
from typing import IO

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from fairway.agent.launcher.compiling import TOO_LARGE
from fairway.agent.launcher.wanted import Wanted
from fairway.durable import sync
from fairway.errors import UserError
from fairway.interpreter import python_module

_NAME = "fairway"
#: A wheel has a megabyte or two in some hundred files; what is far beyond that is a bomb.
_MOST_FILES, _MOST_BYTES = 20_000, 256 * 1024 * 1024
#: Each directory takes room of its own.
_MOST_PARTS = 32
_PIECE = 1024 * 1024
#: Lies beside the package, so that `python DIRECTORY MODULE …` runs a module of that version and of no other.
_MAIN = '''"""Runs one of the modules beside it: python DIRECTORY MODULE [ARGUMENT …]"""

import runpy
import sys

del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
'''


class BadWheel(UserError):
    """A wheel that this agent will not run."""


def unpack(wheel: Path, wanted: Wanted, versions: Path) -> None:
    """Check a wheel and unpack it, whole or not at all, to where the launcher looks for that version."""
    place = versions / wanted.key
    if place.is_dir():
        return
    unfinished = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=versions))
    try:
        extract(wheel, wanted.version, unfinished)
        (unfinished / "__main__.py").write_text(_MAIN)
        _compile(unfinished, place)
        _sync(unfinished)
        unfinished.rename(place)
        sync(versions)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def extract(wheel: Path, version: str, place: Path) -> None:
    """Check a wheel and write its files to a directory; BadWheel when it is not to be run."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            _check(archive, version)
            _extract(archive, place)
    except (BadWheel, OSError):
        raise
    except Exception as error:
        # In a file that is no wheel `zipfile` stumbles over anything, in any way.
        raise BadWheel(f"the wheel of {version} cannot be unpacked ({error})") from error


def _check(archive: zipfile.ZipFile, version: str) -> None:
    """BadWheel unless this is Fairway in that version, for this interpreter and with all that it needs."""
    _check_names(archive, version)
    try:
        about = BytesHeaderParser().parsebytes(archive.read(f"{_NAME}-{version}.dist-info/METADATA"))
    except KeyError as error:
        raise BadWheel(f"the wheel has no {_NAME}-{version}.dist-info; it is not {_NAME} {version}") from error
    name, said = str(about["Name"]), str(about["Version"])
    if canonicalize_name(name) != _NAME or not _same(said, version):
        raise BadWheel(f"the wheel is {name} {said}; expected {_NAME} {version}")
    if f"{_NAME}/__init__.py" not in archive.namelist():
        raise BadWheel(f"the wheel has no {_NAME}/__init__.py; it cannot be run")
    python = ".".join(map(str, sys.version_info[:3]))
    try:
        if not SpecifierSet(about["Requires-Python"] or "").contains(python, prereleases=True):
            raise BadWheel(f"{version} needs Python {about['Requires-Python']}; the agent runs in {python}")
        missing = sorted(set(_missing([Requirement(each) for each in about.get_all("Requires-Dist") or ()])))
    except (InvalidRequirement, InvalidSpecifier) as error:
        raise BadWheel(f"the wheel of {version} says in no known way what it needs ({error})") from error
    if missing:
        raise BadWheel(f"{version} needs what is not installed beside the agent: {'; '.join(missing)}")


def _check_names(archive: zipfile.ZipFile, version: str) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_FILES or sum(each.file_size for each in entries) > _MOST_BYTES:
        raise BadWheel(
            f"the wheel of {version} has {len(entries)} files; the limit is {_MOST_FILES} files "
            f"with {_MOST_BYTES >> 20} MiB in total"
        )
    for each in entries:
        path = PurePosixPath(each.filename)
        if len(path.parts) > _MOST_PARTS:
            raise BadWheel(f"the wheel has {each.filename[:200]!r}: more than {_MOST_PARTS} directories in each other")
        is_link = stat.S_ISLNK(each.external_attr >> 16)
        if is_link or ".." in path.parts or path.parts[:1] not in {(_NAME,), (f"{_NAME}-{version}.dist-info",)}:
            raise BadWheel(f"the wheel has {each.filename[:200]!r}, which is no place for a file of {_NAME} {version}")


def _missing(needed: list[Requirement], extra: str = "", depth: int = 0) -> Iterator[str]:
    """What is needed and not there, or not in the right version."""
    for each in needed:
        if each.marker is not None and not each.marker.evaluate({"extra": extra}):
            continue
        try:
            found = importlib.metadata.distribution(each.name)
        except importlib.metadata.PackageNotFoundError:
            yield f"{each.name}{each.specifier} (there is none)"
            continue
        if not each.specifier.contains(found.version, prereleases=True):
            yield f"{each.name}{each.specifier} (there is {found.version})"
        # An extra is what a dependency needs besides; one step is as deep as any of ours go.
        if depth == 0:
            for wish in each.extras:
                yield from _missing([Requirement(text) for text in found.requires or ()], wish, depth + 1)


def _extract(archive: zipfile.ZipFile, place: Path) -> None:
    left = _MOST_BYTES
    for each in archive.infolist():
        if each.is_dir():
            continue
        path = place / each.filename
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with archive.open(each) as content:
            left -= _write(path, _pieces(content), left)


def _pieces(content: IO[bytes]) -> Iterator[bytes]:
    while piece := content.read(_PIECE):
        yield piece


def _write(path: Path, pieces: Iterable[bytes], most: int = _MOST_BYTES) -> int:
    """Write a file; how large it is."""
    size = 0
    with open(path, "xb") as file:
        for piece in pieces:
            size += len(piece)
            if size > most:
                raise BadWheel(f"the wheel is larger than it says, at {path.name}")
            file.write(piece)
    return size


def _compile(unfinished: Path, place: Path) -> None:
    """Compile what an agent loads, while the one before still works; otherwise the start would take seconds longer."""
    command = [*python_module("fairway.agent.launcher.compiling"), str(unfinished), str(place), str(_MOST_BYTES)]
    # In another process, which has limits. Without compiled files all is well, only slower.
    with suppress(OSError):
        status = subprocess.run(command, check=False, capture_output=True).returncode
        if status == TOO_LARGE:
            raise BadWheel(
                f"the compiled files of the wheel exceed {_MOST_BYTES >> 20} MiB; no version of {_NAME} has that"
            )


def _sync(directory: Path) -> None:
    """Make a directory safe from a power cut, with all that is in it."""
    for root, _, files in os.walk(directory):
        for each in files:
            sync(Path(root, each))
        sync(Path(root))


def _same(said: str, version: str) -> bool:
    try:
        return Version(said) == Version(version)
    except InvalidVersion:
        return False
