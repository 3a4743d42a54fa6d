"""Manifests by kustomize: what it may read, what it is told, and what it wrote.

Kustomize follows whatever a kustomization names, so everything that one names is looked at before it runs: nothing may
lie outside of the repository. Options that run programs or write files are refused, because who may change a
repository, or only ask for a preview of a change, is not who may run programs on the agent's machine.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from fairway.config.reader.document import read_documents
from fairway.plugins.kubernetes.manifests.command import ToolFailed
from fairway.plugins.kubernetes.manifests.documents import LIMITS, BadManifests
from fairway.plugins.kubernetes.manifests.places import OutsideRepository, Place

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
#: Fields that name files and directories, wherever they stand.
_NAMING: Final = frozenset(
    {
        *("resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators"),
        *("patchesStrategicMerge", "path", "files", "envs", "env", "valuesFile", "additionalValuesFiles"),
        *("chartHome", "configHome"),
    }
)
#: What stands in these, or in files behind them, names files in its turn.
_NAMING_AGAIN: Final = frozenset({"generators", "transformers", "validators"})
#: The option that lets kustomize read what lies outside of a kustomization's own directory, and its default.
_RESTRICTOR, _RESTRICTED = "load-restrictor", "LoadRestrictionsRootOnly"
_REMOTE: Final = re.compile(r"[a-z+]+::|[a-z][a-z0-9+.-]*://|git@|github\.com[/:]|[^/]+\.[a-z]+/.*(\?ref=|\.git)")
_REFUSED: Final = {
    **dict.fromkeys(["output", "o"], "manifests are not written to files"),
    **dict.fromkeys(
        ["enable-exec", "enable-alpha-plugins", "enable-star", "helm-command", "as-current-user"],
        "it lets a repository run programs on the agent's machine; a SCRIPT_RUN stage is there for that",
    ),
    **dict.fromkeys(["network", "network-name", "mount", "env", "e"], "it lets a repository reach what is the agent's"),
}


class Kustomization(msgspec.Struct, frozen=True):
    """What kustomize will read."""

    directories: tuple[Path, ...]
    files: tuple[Path, ...]
    #: Whether some of it is elsewhere and may change there.
    remote: bool


def arguments(options: Mapping[str, str]) -> tuple[str, ...]:
    """The options as kustomize is told them; ToolFailed for one that is refused."""
    for name in options:
        why = _REFUSED.get(_plain(name))
        if why is not None or not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            raise ToolFailed(f"input.kustomizeOptions has {name!r}, which is refused: {why or 'it is no option'}")
    return tuple(f"--{name}={value}" if value else f"--{name}" for name, value in sorted(options.items()))


def reads_anywhere(options: Mapping[str, str]) -> bool:
    """Whether kustomize is asked to read whatever it is told to, wherever that is."""
    return any(_plain(name) == _RESTRICTOR and value != _RESTRICTED for name, value in options.items())


def survey(place: Place, directory: Path, *, anywhere: bool = False) -> Kustomization:
    """Everything that a kustomization names, directly or by others; refuses what leaves the repository.

    Where kustomize would read `anywhere`, only what can be known beforehand may say what it reads.
    """
    directories: dict[Path, None] = {}
    files: dict[Path, None] = {}
    remote = False
    waiting = [(directory, False)]
    while waiting:
        folder, again = waiting.pop()
        if folder in directories and not again:
            continue
        directories[folder] = None
        file = kustomization_in(folder)
        if file is None:
            # Kustomize itself says best what is wrong with a directory that is none of its own.
            continue
        named = list(_named(place, file))
        while named:
            field, written = named.pop()
            if anywhere and (field in _NAMING_AGAIN or _REMOTE.match(written)):
                raise _reads_unseen(place, file, field)
            if _REMOTE.match(written):
                _refuse_machine(place, written, file)
                remote = True
                continue
            path = _inside(place, folder, written, file)
            is_plugin = again or field in _NAMING_AGAIN
            if path.is_dir() and path not in directories:
                waiting.append((path, is_plugin))
            elif path.is_file() and path not in files:
                files[path] = None
                named += _named(place, path) if is_plugin else ()
    return Kustomization(tuple(directories), tuple(files), remote)


def _reads_unseen(place: Place, file: Path, field: str) -> ToolFailed:
    return ToolFailed(
        f"{place.shown(file)} has {field}, of which nobody knows beforehand what they read, and "
        f"input.kustomizeOptions has {_RESTRICTOR}, so that they could read anything on the agent's machine; "
        f"leave out one of them"
    )


def _plain(option: str) -> str:
    """An option as it is known; versions before 4 write theirs with underscores."""
    return option.lstrip("-_").lower().replace("_", "-")


def kustomization_in(directory: Path) -> Path | None:
    """The file that makes a directory kustomize's."""
    return next((directory / name for name in KUSTOMIZATIONS if (directory / name).is_file()), None)


def _inside(place: Place, folder: Path, written: str, file: Path) -> Path:
    path = (folder / written).resolve()
    if not path.is_relative_to(place.root):
        raise OutsideRepository(
            f"{place.shown(file)} names {written!r}, which leaves the repository; expected a path below its root"
        )
    return path


def _refuse_machine(place: Place, written: str, file: Path) -> None:
    if "file://" in written.lower():
        raise OutsideRepository(
            f"{place.shown(file)} names {written!r}, which is on the agent's machine; expected a path in the "
            "repository, or an address elsewhere"
        )


def _named(place: Place, file: Path) -> Iterator[tuple[str, str]]:
    return _paths_of(file.read_bytes(), place.shown(file))


def _paths_of(text: bytes, shown: str) -> Iterator[tuple[str, str]]:
    documents, problems = read_documents(text, shown, LIMITS)
    if not documents:
        raise BadManifests(problems)
    for document in documents:
        yield from _paths(document.value, "", shown)


def _paths(value: Any, field: str, shown: str) -> Iterator[tuple[str, str]]:
    """Every text that stands in a field which names files, with that field."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, key, shown)
    elif isinstance(value, list):
        for item in value:
            yield from _paths(item, field, shown)
    elif not isinstance(value, str) or field not in _NAMING or not value:
        return
    elif field in _NAMING_AGAIN:
        # Written out here, or in a file. Kustomize asks only whether it can be read.
        yield field, "." if _is_written_out(value) else value
        yield from _paths_of(value.encode(), shown) if _is_written_out(value) else ()
    elif "\n" not in value or field != "patchesStrategicMerge":
        # A generator's file may be given a name: NAME=PATH.
        yield field, value.partition("=")[2] if field == "files" and "=" in value else value


def _is_written_out(value: str) -> bool:
    """Whether it is a document rather than the name of one: no path has what every mapping has."""
    return bool(re.search(r"[\n{]|:\s", value))
