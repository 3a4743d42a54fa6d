"""Which applications a commit touches.

A `TouchIndex` is built once for a set of applications and asked for every commit. It looks each changed file
up by its directories, so that the cost grows with the changed files and not with the applications: five thousand
applications are as cheap as five. Patterns are asked only about files below their fixed beginning.

A file counts when it is in the application's directory or matches its `paths`, and does not match its
`ignores`. One file that counts is enough, whatever else is in the commit.
"""

import posixpath
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from fairway.delivery.paths import PathPatterns, PatternError


class TouchRule(msgspec.Struct, frozen=True, kw_only=True):
    """What counts as a change of one application."""

    application_id: str
    #: From the root of the repository; "." or "" is the root itself.
    directory: str
    paths: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """An application that a commit touches, and the file that shows it."""

    application_id: str
    file: str
    reason: str


class _Watch(NamedTuple):
    """The applications to think of when a file below one directory changes."""

    #: Positions of the applications.
    applications: list[int]
    #: `None` when being below the directory is enough.
    paths: PathPatterns | None


class TouchIndex:
    """The applications of one repository, arranged to be found by changed files."""

    def __init__(self, rules: Iterable[TouchRule]) -> None:
        self._rules = tuple(rules)
        #: Application id → why its patterns mean nothing. Such an application is never touched.
        self.refused: dict[str, str] = {}
        self._ignores: dict[int, PathPatterns] = {}
        self._watches: dict[str, list[_Watch]] = {}
        # Applications with the same patterns share them, so that a file is matched once for all of them.
        compiled: dict[tuple[str, ...], PathPatterns] = {}
        shared: dict[tuple[str, ...], _Watch] = {}
        own: dict[str, _Watch] = {}
        for position, rule in enumerate(self._rules):
            try:
                patterns = {each: compiled.get(each) or PathPatterns(each) for each in (rule.paths, rule.ignores)}
            except PatternError as error:
                self.refused[rule.application_id] = f"trigger.onCommit: {error}"
                continue
            compiled.update(patterns)
            if rule.ignores:
                self._ignores[position] = patterns[rule.ignores]
            own.setdefault(_directory(rule.directory), _Watch([], None)).applications.append(position)
            if rule.paths:
                watch = shared.setdefault(rule.paths, _Watch([], patterns[rule.paths]))
                watch.applications.append(position)
        for directory, watch in own.items():
            self._watches[directory] = [watch]
        for watch in shared.values():
            for beginning in watch.paths.beginnings() if watch.paths else ():
                self._watches.setdefault(beginning, []).append(watch)

    def touched_by(self, changed_files: Iterable[str]) -> tuple[Touched, ...]:
        """The applications that these changed files touch, in the order the index was given them."""
        found: dict[int, Touched] = {}
        above: dict[str, tuple[_Watch, ...]] = {}
        for file in changed_files:
            for watch in self._above(file.rpartition("/")[0], above):
                self._ask(watch, file, found)
            for watch in self._watches.get(file, ()):
                self._ask(watch, file, found)
        return tuple(found[position] for position in sorted(found))

    def _above(self, directory: str, known: dict[str, tuple[_Watch, ...]]) -> tuple[_Watch, ...]:
        """What watches a directory or one that contains it; each directory of a commit is worked out once."""
        watches = known.get(directory)
        if watches is None:
            parents = self._above(directory.rpartition("/")[0], known) if directory else ()
            watches = known[directory] = (*parents, *self._watches.get(directory, ()))
        return watches

    def _ask(self, watch: _Watch, file: str, found: dict[int, Touched]) -> None:
        waiting = [position for position in watch.applications if position not in found]
        if not waiting or (watch.paths is not None and not watch.paths.match(file)):
            return
        where = "is in the application's directory" if watch.paths is None else "matches trigger.onCommit.paths"
        # Git knows names that are not UTF-8, which nobody can be told.
        shown = file.encode(errors="replace").decode()
        for position in waiting:
            ignores = self._ignores.get(position)
            if ignores is None or not ignores.match(file):
                application_id = self._rules[position].application_id
                found[position] = Touched(application_id=application_id, file=file, reason=f"{shown} {where}")


def _directory(path: str) -> str:
    normal = posixpath.normpath(path.lstrip("/") or ".")
    return "" if normal == "." else normal
