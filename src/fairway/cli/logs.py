"""The logs of a deployment's stages, line by line, each exactly once however often one looks.

What has been read is known by index for each run of each stage, so looking again after a lost connection neither
repeats nor loses a line. Blocks may arrive late, behind others: reading goes on at the first one that is missing, and
once a stage has ended its log is gone through from the start.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from sys import maxsize

import msgspec

from fairway.cli.call import Call, UsageError
from fairway.cli.output import log_text, plain
from fairway.cli.remote import segments
from fairway.model.deployment import Deployment
from fairway.model.log_block import LogBlock
from fairway.model.stage import Stage
from fairway.model.undoing import stage_undone_by


class LogPage(msgspec.Struct, frozen=True):
    """Some of a stage's log."""

    blocks: tuple[LogBlock, ...]
    completed: bool = False
    next_index: int | None = None


class StageBlock(msgspec.Struct, frozen=True):
    """One piece of a log, and the stage it belongs to; what --json prints, one a line."""

    stage_id: str
    stage: str
    index: int
    created_at: str
    severity: str
    log: str


class Seen:
    """Which indexes of a log have been read, as ranges: indexes follow one another, so there are few."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []

    @property
    def next_index(self) -> int:
        """The first one that is missing."""
        return self._ranges[0][1] + 1 if self._ranges else 0

    def add(self, index: int) -> bool:
        """Whether it is new."""
        place = bisect_right(self._ranges, (index, maxsize))
        if place and index <= self._ranges[place - 1][1]:
            return False
        first = last = index
        if place < len(self._ranges) and self._ranges[place][0] == index + 1:
            last = self._ranges.pop(place)[1]
        if place and self._ranges[place - 1][1] == index - 1:
            place -= 1
            first = self._ranges.pop(place)[0]
        self._ranges.insert(place, (first, last))
        return True


class LogReader:
    """Reads what has not been read yet."""

    def __init__(self, call: Call, deployment_id: str, stage: str = "") -> None:
        self._call = call
        self._deployment_id = deployment_id
        self._stage = stage
        #: By stage and run.
        self._seen: dict[tuple[str, int], Seen] = {}
        self._finished: set[tuple[str, int]] = set()

    def wanted(self, deployment: Deployment) -> list[Stage]:
        """The stages whose logs are asked for, each id once: v0 agents use one id for several rollbacks."""
        by_id = {stage.id: stage for stage in reversed(deployment.stages)}
        stages = [stage for stage in deployment.stages if by_id[stage.id] is stage]
        return pick_stages(stages, self._stage)

    def unread(self, deployment: Deployment) -> Iterator[tuple[Stage, LogBlock]]:
        """Everything that has been written since the last time, stage by stage."""
        for stage in self.wanted(deployment):
            run = (stage.id, stage.retried_count)
            if stage.was_started and run not in self._finished:
                seen = self._seen.setdefault(run, Seen())
                ended = stage.status.is_terminal
                completed = yield from self._read(stage, seen, 0 if ended else seen.next_index)
                if ended and completed:
                    self._finished.add(run)

    def unfinished(self, deployment: Deployment) -> list[Stage]:
        """The stages that were started and whose logs have not been read to their end."""
        started = (stage for stage in self.wanted(deployment) if stage.was_started)
        return [stage for stage in started if (stage.id, stage.retried_count) not in self._finished]

    def _read(self, stage: Stage, seen: Seen, first: int) -> Generator[tuple[Stage, LogBlock], None, bool]:
        """What is new from an index on; whether the agent said that no more is to come."""
        path = segments("deployments", self._deployment_id, "stages", stage.id, "log")
        while True:
            page = self._call.get(LogPage, path, {"from_index": first})
            yield from ((stage, block) for block in page.blocks if seen.add(block.index))
            if page.next_index is None:
                return page.completed
            first = page.next_index


def pick_stages(stages: list[Stage], given: str) -> list[Stage]:
    """Those that are meant by an id, the beginning of one, or a name; all of them by nothing."""
    if not given:
        return stages
    fits: tuple[Callable[[Stage], bool], ...] = (
        lambda stage: stage.id == given,
        lambda stage: stage.name.lower() == given.lower(),
        lambda stage: stage.id.startswith(given),
    )
    for fit in fits:
        if found := [stage for stage in stages if fit(stage)]:
            return found
    known = ", ".join(stage.name for stage in stages) or "no stages yet"
    raise UsageError(f"there is no stage {given!r}; there is {known}")


def block_lines(block: LogBlock, prefix: str) -> list[str]:
    """A block as lines, each behind the prefix."""
    return [f"{prefix}{line}" for line in log_text(block.log).rstrip("\n").split("\n")]


def prefixes(stages: list[Stage], planned: Sequence[Stage]) -> dict[str, str]:
    """By stage id: what stands before each line, equally wide; nothing when there is one stage only.

    `planned` are all of the deployment: a stage may undo one that is not wanted.
    """
    if len(stages) < 2:
        return {stage.id: "" for stage in stages}
    names = [_name(stage, planned) for stage in stages]
    titles = [
        f"{name} {names[: number + 1].count(name)}" if names.count(name) > 1 else name
        for number, name in enumerate(names)
    ]
    width = max(map(len, titles))
    return {stage.id: f"{title:<{width}} │ " for stage, title in zip(stages, titles, strict=True)}


def _name(stage: Stage, planned: Sequence[Stage]) -> str:
    undone = stage_undone_by(stage, planned)
    return plain(stage.name if undone is None else f"{stage.name}, undoes stage {undone.index + 1}")


def as_json_line(stage: Stage, block: LogBlock) -> bytes:
    """A block for programs."""
    return msgspec.json.encode(
        StageBlock(stage.id, stage.name, block.index, block.created_at.isoformat(), block.severity.value, block.log)
    )
