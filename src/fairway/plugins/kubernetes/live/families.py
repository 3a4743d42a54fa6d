"""The objects of a cluster by whose they are: what was deployed for an application, and what belongs to that in turn.

It is told of one change after the other, in whatever order the kinds come, and says which applications each touches. No
cluster is asked here.
"""

from collections import defaultdict
from collections.abc import Iterable

from fairway.plugins.kubernetes.live.objects import Seen


class Families:
    """What is there now."""

    def __init__(self) -> None:
        self._objects: dict[str, Seen] = {}
        self._children: defaultdict[str, set[str]] = defaultdict(set)
        self._roots: defaultdict[str, set[str]] = defaultdict(set)
        self._revisions: defaultdict[str, int] = defaultdict(int)

    def revision(self, application_id: str) -> int:
        """A number that grows whenever something that was deployed for an application is another than before."""
        return self._revisions.get(application_id, 0)

    def roots(self, application_id: str) -> list[Seen]:
        """The objects that were deployed for an application."""
        return [self._objects[uid] for uid in self._roots.get(application_id, ())]

    def family(self, application_id: str) -> list[Seen]:
        """These, and everything that belongs to them, through any number of owners."""
        found: dict[str, Seen] = {}
        waiting = sorted(self._roots.get(application_id, ()))
        while waiting:
            uid = waiting.pop()
            if uid in found or uid not in self._objects:
                continue
            found[uid] = self._objects[uid]
            waiting.extend(self._children.get(uid, ()))
        return list(found.values())

    def change(self, uid: str, before: Seen | None, now: Seen | None) -> frozenset[str]:
        """An object is there now, is otherwise, or has gone; the applications that this touches."""
        touched = self._applications(before)
        if before is not None:
            self._forget(before)
        if now is not None:
            self._objects[uid] = now
            for owner in now.owners:
                self._children[owner].add(uid)
            if now.application:
                self._roots[now.application].add(uid)
        for application in _otherwise(before, now):
            self._revisions[application] += 1
        return touched | self._applications(now)

    def _forget(self, gone: Seen) -> None:
        self._objects.pop(gone.uid, None)
        for owner in gone.owners:
            _discard(self._children, owner, gone.uid)
        if gone.application:
            _discard(self._roots, gone.application, gone.uid)

    def _applications(self, seen: Seen | None) -> frozenset[str]:
        """The applications that an object is part of, through any of its owners."""
        found: set[str] = set()
        passed: set[str] = set()
        waiting = [seen]
        while waiting:
            each = waiting.pop()
            if each is None or each.uid in passed:
                continue
            passed.add(each.uid)
            found.update((each.application, *each.sharers))
            waiting.extend(self._objects.get(owner) for owner in each.owners)
        return frozenset(found - {""})


def _otherwise(before: Seen | None, now: Seen | None) -> Iterable[str]:
    """The applications for which something else is deployed than before; how it is does not count."""
    if before is not None and now is not None and _deployed(before) == _deployed(now):
        return ()
    touched = {name for each in (before, now) if each is not None for name in (each.application, *each.sharers)}
    return touched - {""}


def _deployed(seen: Seen) -> tuple[str, bytes, bytes]:
    return seen.application, seen.packed, seen.managers


def _discard(index: defaultdict[str, set[str]], key: str, uid: str) -> None:
    index[key].discard(uid)
    if not index[key]:
        del index[key]
