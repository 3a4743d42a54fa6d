"""Where an application has ever had objects: kinds and namespaces, kept with the application for as long as it lives.

What is not in Git any more can only be found by looking for it. Looking everywhere would need permission to list every
kind in the whole cluster; looking where something was ever put needs only what putting it there needed.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.sdk import Plugin, StageRun


class Where(msgspec.Struct, frozen=True, order=True):
    """One kind in one namespace."""

    api_version: str
    kind: str
    #: Empty for a kind without namespaces.
    namespace: str

    @classmethod
    def of(cls, body: Body) -> "Where":
        """Where an object is."""
        return cls(str(body["apiVersion"]), str(body["kind"]), key_of(body).namespace)


class _Kept(msgspec.Struct, frozen=True):
    places: frozenset[Where] = frozenset()
    #: Whether somebody has looked everywhere since this is kept: PipeCD may have put things where nobody wrote it down.
    whole: bool = False


#: The names of all deploy targets where an application has had objects.
_TARGETS: Final = "kubernetes-targets"


def _key(target: str) -> str:
    return f"kubernetes-places-{target}"


async def kept_places(plugin: Plugin, application_id: str, target: str) -> frozenset[Where]:
    """Where an application has had objects, asked outside of stages."""
    kept = await plugin.application_object(application_id, _key(target))
    return frozenset() if kept is None else msgspec.json.decode(kept, type=_Kept).places


async def kept_targets(plugin: Plugin, application_id: str) -> frozenset[str]:
    """The deploy targets where an application has had objects, asked outside of stages."""
    kept = await plugin.application_object(application_id, _TARGETS)
    return frozenset() if kept is None else msgspec.json.decode(kept, type=frozenset[str])


class TargetRecord:
    """The deploy targets where one application has had objects. It is written before a stage begins."""

    def __init__(self, run: StageRun[Any]) -> None:
        self._run = run

    async def extend(self, targets: Iterable[str], known: Iterable[str]) -> frozenset[str]:
        """Store where a stage works, and return all deploy targets of the record. Without a record, `known` are those
        where an earlier version may have left objects."""
        kept = await self._run.get_object(_TARGETS)
        if kept is None:
            before = frozenset([each for each in known if await self._run.get_object(_key(each)) is not None])
        else:
            before = msgspec.json.decode(kept, type=frozenset[str])
        after = before | frozenset(targets)
        if kept is None or after != before:
            await self._write(after)
        return after

    async def forget(self, target: str) -> None:
        """Nothing of the application is left at a deploy target."""
        kept = await self._run.get_object(_TARGETS)
        before = frozenset() if kept is None else msgspec.json.decode(kept, type=frozenset[str])
        await self._write(before - {target})

    async def _write(self, targets: frozenset[str]) -> None:
        await self._run.put_object(_TARGETS, msgspec.json.encode(sorted(targets)))


class Record:
    """What was kept for one application and deploy target. It is written before anything is applied."""

    def __init__(self, run: StageRun[Any], target: str) -> None:
        self._run = run
        self._key = _key(target)
        self._kept: _Kept | None = None

    async def places(self) -> frozenset[Where]:
        """Where the application has had objects."""
        return (await self._read()).places

    async def is_whole(self) -> bool:
        """Whether the application can have objects nowhere else."""
        return (await self._read()).whole

    async def extend(self, placed: Iterable[Placed]) -> None:
        """Keep where objects are about to be put."""
        before = await self._read()
        places = before.places | {Where(each.kind.api_version, each.kind.kind, each.namespace) for each in placed}
        await self._write(_Kept(places, before.whole))

    async def complete(self, places: Iterable[Where], *, whole: bool) -> None:
        """Keep where else objects were found by looking everywhere, and whether everything could be seen there."""
        await self._write(_Kept((await self._read()).places | frozenset(places), whole))

    async def _read(self) -> _Kept:
        if self._kept is None:
            kept = await self._run.get_object(self._key)
            self._kept = _Kept() if kept is None else msgspec.json.decode(kept, type=_Kept)
        return self._kept

    async def _write(self, kept: _Kept) -> None:
        if kept != await self._read():
            written = {"places": sorted(kept.places), "whole": kept.whole}
            await self._run.put_object(self._key, msgspec.json.encode(written))
            self._kept = kept
