"""The logs of stages, appended to by agents and read while they grow.

An append is one new object and never changes another, so that appenders in several replicas cannot lose each other's
blocks; readers merge them in the order of their indexes. A completed log is rewritten into fewer objects: the new ones
are there before the old ones go, so that a reader finds every block at any moment and a crash in between costs only
space. Because nothing is refused and nothing overwritten, a second run of a stage simply adds to the log, completed or
not.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Self

import structlog

from fairway.model.log_block import LogBlock
from fairway.server.logs.compaction import PART_BYTES, plan_compaction
from fairway.server.logs.local_directory import LocalDirectory
from fairway.server.logs.objects import LogPlaceError, LogStorageError, Objects
from fairway.server.logs.part import LAST_INDEX, Merge, Part, decode_part, encode_part, find_parts
from fairway.server.logs.stage_log import LogGrowth, StageLog, StageLogKey, deployment_folder, log_folder, log_key

_COMPLETED = "completed"
#: Rewriting is never urgent: a burst of finished stages must not crowd out their logs.
_COMPACTIONS_AT_ONCE = 2
#: How much text a reader holds while it merges, and gives in one page.
_MOST_CHARACTERS = 16 * 1024 * 1024
_END = LAST_INDEX + 1

_log = structlog.get_logger()


class LogStore:
    """Every log of this server; any number of stores may share one place."""

    def __init__(self, objects: Objects, most_characters: int = _MOST_CHARACTERS) -> None:
        self._objects = objects
        self._most_characters = most_characters
        self._listeners: list[Callable[[LogGrowth], None]] = []
        self._compactions: dict[str, asyncio.Task[None]] = {}
        self._compaction_places = asyncio.Semaphore(_COMPACTIONS_AT_ONCE)

    @classmethod
    def open(cls, place: str | Path, options: Mapping[str, str] | None = None) -> Self:
        """Logs in a local directory, made when it is not there, or in a bucket: `s3://bucket/prefix`, `gs://…`.

        Keys and endpoint of a bucket are options, or come from the usual `AWS_…` and `GOOGLE_…` variables.
        """
        scheme, separator, path = str(place).partition("://")
        if not separator:
            return cls(LocalDirectory(Path(place).absolute()))
        if scheme == "file":
            return cls(LocalDirectory(Path(path).absolute()))
        if scheme not in {"s3", "gs"}:
            raise LogPlaceError(f"logs cannot be kept at {scheme}://…; expected a directory or s3://bucket/prefix")
        from fairway.server.logs.bucket import Bucket  # obstore takes memory that a server without a bucket can spare

        return cls(Bucket.open(str(place), options or {}))

    async def append(self, key: StageLogKey, blocks: Sequence[LogBlock], completed: bool = False) -> None:
        """Add blocks, and the mark that the log is complete; both survive a crash once this returns.

        A block that is there already is not added again.
        """
        folder = log_folder(key)
        objects: dict[str, bytes] = {}
        if blocks:
            part, content = encode_part(blocks)
            objects[folder + part.name] = content
        if completed:
            # After the blocks: whoever sees the mark finds them all.
            objects[folder + _COMPLETED] = b""
        await self._objects.create(objects)
        if completed:
            self._start_compaction(folder)
        growth = LogGrowth(key, min((block.index for block in blocks), default=LAST_INDEX))
        for listener in self._listeners:
            listener(growth)

    def listen(self, listener: Callable[[LogGrowth], None]) -> None:
        """Tell the listener from now on what was appended through this store, once it is durable."""
        self._listeners.append(listener)

    async def read(
        self,
        key: StageLogKey,
        from_index: int = 0,
        limit: int | None = None,
        known: Sequence[tuple[int, int]] = (),
        most_characters: int | None = None,
    ) -> StageLog:
        """The blocks from an index on; an unknown log is an empty one.

        With a limit, a page of at most so many blocks and characters; its `next_index` tells how to go on. Objects
        all of whose indexes are known, as ranges from first to last, are not looked into.
        """
        most_characters = min(most_characters or self._most_characters, self._most_characters)
        folder = log_folder(key)
        parts, completed = await self._list(folder)
        if completed and plan_compaction(parts):
            # A server that was killed after the last append never came to it.
            self._start_compaction(folder)
        blocks: list[LogBlock] = []
        characters = 0
        unknown = [part for part in parts if not any(low <= part.first and part.last <= high for low, high in known)]
        async with aclosing(self._batches(folder, unknown, from_index)) as batches:
            async for batch in batches:
                for block in batch:
                    # A page goes on behind an index, so blocks that share one stay on one page.
                    full = limit is not None and blocks and blocks[-1].index != block.index
                    if full and (len(blocks) >= (limit or 0) or characters >= most_characters):
                        return StageLog(tuple(blocks), completed, block.index)
                    blocks.append(block)
                    characters += len(block.log)
        return StageLog(tuple(blocks), completed)

    async def batches(self, key: StageLogKey) -> AsyncGenerator[list[LogBlock]]:
        """The whole log as far as it has been written, in batches of bounded size; an unknown log has none."""
        folder = log_folder(key)
        parts, _ = await self._list(folder)
        async with aclosing(self._batches(folder, parts, 0)) as batches:
            async for batch in batches:
                yield batch

    async def size(self, key: StageLogKey) -> int:
        """How many bytes the log takes; 0 for an unknown one."""
        return sum((await self._objects.list(log_folder(key))).values())

    async def list_stages(self, deployment_id: str) -> tuple[StageLogKey, ...]:
        """The logs that a deployment has, one for each run of each stage."""
        names = await self._objects.list(deployment_folder(deployment_id))
        return tuple(sorted({key for name in names if (key := log_key(name))}))

    async def delete_deployment(self, deployment_id: str) -> None:
        """Remove every log of a deployment that has ended; one that is being rewritten is waited for."""
        folder = deployment_folder(deployment_id)
        rewriting = [task for name, task in self._compactions.items() if name.startswith(folder)]
        await asyncio.gather(*rewriting)
        await self._objects.delete(list(await self._objects.list(folder)))

    async def close(self) -> None:
        """Finish what is being written and rewritten."""
        await asyncio.gather(*self._compactions.values())
        await self._objects.close()

    async def _list(self, folder: str) -> tuple[list[Part], bool]:
        """The parts of a log, and whether it is complete.

        A listing is no snapshot: while a log is rewritten, it may miss an old part that is gone and the new one that
        came. Rewriting begins after the mark; so without the mark one listing is right, else two equal ones are.
        """
        listing = await self._objects.list(folder)
        if await self._objects.get(folder + _COMPLETED) is None:
            return find_parts(listing), False
        while (again := await self._objects.list(folder)) != listing:
            listing = again
        return find_parts(listing), True

    async def _batches(self, folder: str, parts: list[Part], from_index: int) -> AsyncGenerator[list[LogBlock]]:
        """The merged blocks of the parts in order, with bounded memory however many parts overlap.

        Where they overlap too much to be held together, only the blocks before a horizon are merged; those behind it
        are read again once the first ones are given.
        """
        position, horizon, merge = from_index, _END, Merge()
        waiting = _from(parts, position)
        while waiting:
            part = waiting.popleft()
            content = await self._objects.get(folder + part.name)
            if content is None:
                # Rewritten since it was listed: its blocks are in a new part by now.
                parts, _ = await self._list(folder)
                horizon, merge, waiting = _END, Merge(), _from(parts, position)
                continue
            merge.add(block for block in decode_part(part, content) if position <= block.index < horizon)
            horizon = min(horizon, merge.drop_beyond(self._most_characters))
            ready = min(horizon, waiting[0].first if waiting else _END)
            if batch := merge.take_below(ready):
                yield batch
                position = batch[-1].index + 1
            if ready == horizon < _END:
                position = horizon
                horizon, merge, waiting = _END, Merge(), _from(parts, position)

    def _start_compaction(self, folder: str) -> None:
        """Rewrite a log behind the caller's back, who need not wait for it; one that is under way is enough."""
        if folder not in self._compactions:
            task = asyncio.create_task(self._compact(folder))
            self._compactions[folder] = task
            task.add_done_callback(lambda _: self._compactions.pop(folder))

    async def _compact(self, folder: str) -> None:
        """Rewrite what is worth it. Failing is no harm: the log is complete as it is, and slower to read."""
        async with self._compaction_places:
            try:
                parts, _ = await self._list(folder)
                for group in plan_compaction(parts):
                    new = await self._rewrite(folder, group)
                    await self._objects.delete([folder + part.name for part in group if part not in new])
            except LogStorageError as error:
                _log.warning("a stage log was not compacted", folder=folder, error=str(error))

    async def _rewrite(self, folder: str, group: list[Part]) -> set[Part]:
        new: set[Part] = set()
        pending: list[LogBlock] = []
        size = 0
        async with aclosing(self._batches(folder, group, group[0].first)) as batches:
            async for batch in batches:
                for block in batch:
                    pending.append(block)
                    size += len(block.log)
                    if size >= PART_BYTES:
                        new.add(await self._write(folder, pending))
                        pending, size = [], 0
        if pending:
            new.add(await self._write(folder, pending))
        return new

    async def _write(self, folder: str, blocks: list[LogBlock]) -> Part:
        part, content = encode_part(blocks)
        await self._objects.create({folder + part.name: content})
        return part


def _from(parts: list[Part], index: int) -> deque[Part]:
    """The parts that may have blocks from an index on."""
    return deque(part for part in parts if part.last >= index)
