"""What happens, as it happens: looks at the server whenever its stream rings, and hands what is new to a screen."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Protocol

import msgspec

from fairway.cli.call import Call
from fairway.cli.cards import ShownDeployment
from fairway.cli.find import list_of
from fairway.cli.follow import LATE_SECONDS
from fairway.cli.logs import LogReader, block_lines
from fairway.cli.output import plain
from fairway.cli.remote import Refused, Unreachable, segments
from fairway.cli.up.board import State
from fairway.cli.up.registration import applications, suggestions, unusable_files
from fairway.cli.up.rest import (
    Expected,
    Rest,
    RestDecision,
    decide_rest,
    missing_approvals,
    to_approve,
    waits_for_approval,
)
from fairway.cli.watch import TimedOut, Watch
from fairway.model.stage import Stage, StageStatus

#: Deployments that are looked at: those that changed last.
_NEWEST = 100
#: Lines that are shown of what runs.
_TAIL = 4
#: A stream takes so many topics, and three are the lists.
_MOST_LOGS = 25


class Screen(Protocol):
    """Where it is shown."""

    def update(self, state: State) -> None:
        """This is how everything stands."""
        ...

    def logged(self, deployment: ShownDeployment, stage: Stage, lines: Sequence[str]) -> None:
        """A stage has written something."""
        ...

    def ended(self, deployment: ShownDeployment, tail: Sequence[str], /) -> None:
        """A deployment has ended."""
        ...


class Aim(msgspec.Struct, frozen=True, kw_only=True):
    """Until when, and with whose consent."""

    #: Ends when everything has come to rest.
    until_idle: bool = False
    #: Approves whatever waits for it.
    approve: bool = False
    timeout: timedelta | None = None
    #: What the applications should come to.
    expected: Callable[[State], Expected] = lambda _: Expected()
    #: A line for each plugin that does not start.
    plugins: Callable[[], Sequence[str]] = tuple
    #: Called at each look with how everything stands; whether something else is to be seen at the next one.
    play: Callable[[State], bool] = lambda _: False


class Follower:
    """Follows everything on one server."""

    def __init__(self, call: Call, screen: Screen, aim: Aim) -> None:
        self._call = call
        self._screen = screen
        self._aim = aim
        self._state = State()
        self._readers: dict[str, LogReader] = {}
        #: By deployment and stage.
        self._tails: dict[tuple[str, str], deque[str]] = {}
        #: Deployments of which nothing more is to be told.
        self._told: set[str] = set()
        #: Until when the last lines of those are waited for that have ended.
        self._late: dict[str, float] = {}
        #: By deployment and stage.
        self._approved: set[tuple[str, str]] = set()
        #: By deployment and stage: why we may not approve it.
        self._refused: dict[tuple[str, str], str] = {}
        self._rest = RestDecision(Rest.NOT_YET, "")

    def begin(self) -> None:
        """What has ended until now is not told."""
        self._told = {id for id, each in self._deployments().items() if each.status.is_terminal}

    def run(self) -> RestDecision:
        """Follow until everything has come to rest, or for ever."""
        timeout = self._aim.timeout
        deadline = None if timeout is None else time.monotonic() + timeout.total_seconds()
        while True:
            left = None if deadline is None else timedelta(seconds=deadline - time.monotonic())
            try:
                Watch(self._call.remote, self._topics, self._lost, left).run(self._look)
                return self._rest
            except TimedOut as error:
                raise TimedOut(f"{error}: {self._awaited()}") from error
            except Unreachable as error:
                if left is not None and left <= timedelta(0):
                    raise TimedOut(f"it took too long: {error}") from error
                # Whoever keeps the server running brings it back; this is only about what is shown meanwhile.
                self._lost(error)

    def _awaited(self) -> str:
        """What keeps us from rest."""
        busy = [
            f"{plain(each.application_name)} is {each.status.value.replace('_', ' ')}"
            + (f", waiting for {plain(each.waiting_for)}" if each.waiting_for else "")
            for each in self._busy()
        ]
        return "; ".join(busy) or self._decided().reason

    def _busy(self) -> list[ShownDeployment]:
        """The deployments that go on by themselves."""
        deployments = self._state.deployments.values()
        return [each for each in deployments if not each.status.is_terminal and not waits_for_approval(each)]

    def _decided(self) -> RestDecision:
        state = self._state
        expected = msgspec.structs.replace(self._aim.expected(state), unapproved=state.unapproved)
        return decide_rest(state.applications, state.deployments, expected)

    def _topics(self) -> list[str]:
        growing = [
            f"log:{deployment.id}/{stage.id}"
            for deployment in self._state.deployments.values()
            for stage in self._growing(deployment)
        ]
        return ["deployments", "applications", "agents", *growing[:_MOST_LOGS]]

    def _growing(self, deployment: ShownDeployment) -> list[Stage]:
        """The stages whose logs may have more lines."""
        if deployment.id in self._late:
            return self._readers[deployment.id].unfinished(deployment)
        running = [stage for stage in deployment.stages if stage.status is StageStatus.RUNNING]
        return [] if deployment.status.is_terminal else running

    def _look(self) -> bool:
        deployments = self._deployments()
        found = applications(self._call)
        for reference in filter(None, (each.last_triggered for each in found)):
            id = reference.deployment_id
            if id not in deployments:
                deployments[id] = self._call.get(ShownDeployment, segments("deployments", id))
        new = [each for id, each in deployments.items() if id not in self._told]
        for deployment in sorted(new, key=lambda each: each.created_at):
            self._read_logs(deployment)
        tails = {each.id: self._tail(each) for each in new}
        self._state = State(
            applications=found,
            deployments=deployments,
            tails=tails,
            suggestions=suggestions(self._call),
            unusable=unusable_files(self._call),
            unapproved=self._unapproved(deployments.values()),
            plugins=self._aim.plugins(),
        )
        self._screen.update(self._state)
        for deployment in [each for each in new if each.status.is_terminal and not self._awaits_lines(each)]:
            self._screen.ended(deployment, tails[deployment.id])
            self._told.add(deployment.id)
            del self._readers[deployment.id], self._late[deployment.id]
        acted = self._act(new)
        if not self._aim.until_idle or acted or self._busy() or any(each.id in self._late for each in new):
            return False
        self._rest = self._decided()
        return self._rest.rest is not Rest.NOT_YET

    def _awaits_lines(self, ended: ShownDeployment) -> bool:
        """Whether lines may still come that the end of their deployment has overtaken."""
        give_up = self._late.setdefault(ended.id, time.monotonic() + LATE_SECONDS)
        return time.monotonic() <= give_up and bool(self._readers[ended.id].unfinished(ended))

    def _act(self, deployments: Sequence[ShownDeployment]) -> bool:
        """What we do ourselves: approve where that was asked for, and play; whether that changes what is to be seen."""
        done = {*self._approved, *self._refused}
        waiting = to_approve(deployments, done) if self._aim.approve else []
        for deployment, stage in waiting:
            self._approve(deployment, stage)
        return self._aim.play(self._state) or bool(waiting)

    def _approve(self, deployment: ShownDeployment, stage: Stage) -> None:
        try:
            self._call.remote.send("POST", segments("deployments", deployment.id, "stages", stage.id, "approve"))
            self._approved.add((deployment.id, stage.id))
        except Refused as error:
            if error.status == HTTPStatus.FORBIDDEN:
                self._refused[deployment.id, stage.id] = str(error)
            # It may have gone on since we looked: by somebody else's yes, or by ours whose answer got lost.
            elif error.status != HTTPStatus.CONFLICT:
                raise

    def _unapproved(self, deployments: Iterable[ShownDeployment]) -> dict[str, str]:
        """Why some wait for approval although we have done what we can."""
        waiting = to_approve(deployments, ())
        refused = {each.id: self._refused.get((each.id, stage.id), "") for each, stage in waiting}
        lacking = {
            each.id: missing_approvals(stage) for each, stage in waiting if (each.id, stage.id) in self._approved
        }
        return {id: why for id, why in {**refused, **lacking}.items() if why}

    def _deployments(self) -> dict[str, ShownDeployment]:
        found = list_of(self._call, "deployments", ShownDeployment, {}, _NEWEST)[1]
        return {each.id: each for each in found}

    def _read_logs(self, deployment: ShownDeployment) -> None:
        reader = self._readers.setdefault(deployment.id, LogReader(self._call, deployment.id))
        for stage, block in reader.unread(deployment):
            lines = block_lines(block, "")
            self._tails.setdefault((deployment.id, stage.id), deque(maxlen=_TAIL)).extend(lines)
            self._screen.logged(deployment, stage, lines)

    def _tail(self, deployment: ShownDeployment) -> Sequence[str]:
        """What the stage says that matters now: the one that runs, or the one that failed."""
        wanted = StageStatus.FAILED if deployment.status.is_terminal else StageStatus.RUNNING
        stages = [stage for stage in deployment.stages if stage.status is wanted]
        return tuple(self._tails.get((deployment.id, stages[-1].id), ())) if stages else ()

    def _lost(self, error: Unreachable) -> None:
        self._state = msgspec.structs.replace(self._state, trouble=f"{error}; going on when it is back")
        self._screen.update(self._state)
