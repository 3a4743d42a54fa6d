"""Real leases of several agents against the server's own decisions, over a network and in a time that we make."""

import asyncio
import selectors
import tempfile
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from fairway.agent.control_plane import ServerAway
from fairway.agent.lease import Lease, Role
from fairway.agent.left_alone import LeftAlone
from fairway.agent.standing import Ends, Held
from fairway.rpc.agent_api import lease_messages
from fairway.server.lease import Asking, Times, decide_hold, decide_release
from fairway.server.store import leases
from tests.unit.model.builders import NOW

TIMES = Times(15.0)


class OwnTime(asyncio.SelectorEventLoop):
    """A loop in which waiting takes no time: its clock goes to whatever comes next."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Impatient(self))

    def time(self) -> float:
        return self.now


class _Impatient(selectors.SelectSelector):
    def __init__(self, loop: OwnTime) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "nothing will ever happen any more"
        self._loop.now += max(0.0, timeout)
        return super().select(0)


class Travel(NamedTuple):
    """What becomes of one question on its way."""

    there: float = 0.01
    back: float = 0.01
    lost_there: bool = False
    lost_back: bool = False
    replica: int = 0


class World:
    """The server's row, its replicas, and the agents that ask for it."""

    def __init__(self, folder: Path, loop: OwnTime) -> None:
        self.folder = folder
        self.loop = loop
        self.row: leases.Lease | None = None
        #: What each replica has seen: the last beat, and since when.
        self.replicas: list[tuple[str, float]] = [("", 0.0), ("", 0.0)]
        self.cut: set[str] = set()
        self.travels: dict[str, list[Travel]] = {}
        self.agents: dict[str, SimulatedAgent] = {}
        #: What those who were killed have left running: whose it is, and when it is made to end.
        self.left: list[tuple[str, float]] = []
        self.beats = 0

    def answer(self, request: lease_messages.HoldRequest, replica: int) -> lease_messages.HoldAnswer:
        self.beats += 1
        asking = Asking(
            agent_id="agent",
            holder=request.holder,
            description=request.description,
            predecessors=tuple(request.predecessors),
            fencing_token=request.fencing_token,
            held_seconds=request.held_seconds,
            beat=str(self.beats),
        )
        before, decision = self.row, decide_hold(self.row, asking, self._quiet(replica), TIMES, self._wall())
        self.row = decision.lease
        if before is not None and before.standby is None and decision.lease.standby is not None:
            for name in self.agents.keys() - self.cut:
                self.agents[name].lease.ask_soon()
        self._quiet(replica)
        self.check()
        return lease_messages.HoldAnswer(
            granted=decision.granted,
            fencing_token=decision.lease.fencing_token,
            seconds=decision.seconds,
            standby_waiting=decision.standby_waiting,
        )

    def check(self) -> None:
        """Never two."""
        acting = [name for name, agent in self.agents.items() if agent.acts]
        acting += [name for name, end in self.left if self.loop.now < end and name not in acting]
        assert len(acting) < 2, f"{acting} at {self.loop.now}"

    def _quiet(self, replica: int) -> float:
        beat, since = self.replicas[replica]
        if self.row is None or beat != self.row.beat:
            self.replicas[replica] = ("" if self.row is None else self.row.beat, self.loop.now)
            return 0.0
        return self.loop.now - since

    def _wall(self) -> datetime:
        return NOW + timedelta(seconds=self.loop.now)


class Net:
    """An agent's way to the server."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._name = name
        self.token = 0

    async def hold(self, request: lease_messages.HoldRequest, seconds: float) -> lease_messages.HoldAnswer:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._travel(request)
        raise ServerAway("no answer")

    async def _travel(self, request: lease_messages.HoldRequest) -> lease_messages.HoldAnswer:
        world = self._world
        travels = world.travels.get(self._name) or [Travel()]
        travel = travels.pop(0) if len(travels) > 1 else travels[0]
        await asyncio.sleep(travel.there)
        if travel.lost_there or self._name in world.cut:
            await asyncio.sleep(1000)
        answer = world.answer(request, travel.replica)
        await asyncio.sleep(travel.back)
        if travel.lost_back or self._name in world.cut:
            await asyncio.sleep(1000)
        return answer

    async def release(self, holder: str, seconds: float) -> None:
        if self._name not in self._world.cut:
            self._world.row = decide_release(self._world.row, holder)

    def show(self, fencing_token: int) -> None:
        self.token = fencing_token


class NotedEnds(LeftAlone):
    """When what an agent runs would be made to end, by the world's time."""

    def __init__(self, world: World, data: Path) -> None:
        super().__init__(data)
        self._world = world
        self.made = 0.0

    def until(self, ends: Ends, fencing_token: int) -> None:
        self.made = self._world.loop.now + ends.made


class SimulatedAgent:
    """A real lease, and an agent that does nothing but end what it runs when it must."""

    def __init__(self, world: World, name: str) -> None:
        data = world.folder / name
        data.mkdir(exist_ok=True)
        self._world = world
        # Its clock shows another time, and goes equally fast.
        self._offset = 1e6 * len(name)
        self.lease = Lease(Net(world, name), data, lambda: world.loop.now + self._offset)
        self.lease._left_alone = self.left_alone = NotedEnds(world, data)
        self._tasks = [asyncio.ensure_future(each) for each in (self.lease._ask_for_ever(), self._step_down())]

    @property
    def acts(self) -> bool:
        """Whether something of it may run: it believes in its lease, or has not yet ended all."""
        found = self.lease._held
        if found is None or self.lease.role not in (Role.ACTIVE, Role.STEPPING_DOWN):
            return False
        in_time = self._world.loop.now < self._ends(found)
        # Who had to step down must be done with it by then; nobody waits for the end of what a paused one runs.
        return in_time or (self.lease.role is Role.STEPPING_DOWN and found.standby_waiting)

    @property
    def works_on(self) -> bool:
        """Whether its lease is all but over and it knows of no standby: the case without a promise."""
        found = self.lease._held
        return found is not None and not found.standby_waiting and self.left_alone.made > self._ends(found)

    def _ends(self, held: Held) -> float:
        return held.sent_at + held.seconds - self._offset

    async def _step_down(self) -> None:
        while True:
            await self.lease.reached(Role.STEPPING_DOWN)
            await asyncio.sleep(self.lease.grace_seconds + 0.5)
            await self.lease.stepped_down()

    async def end(self, politely: bool) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if politely:
            await self.lease.release()


class Fault(NamedTuple):
    after: float
    kind: str
    agent: str = "a"


async def happen(world: World, fault: Fault) -> None:
    await asyncio.sleep(fault.after)
    agent = world.agents.get(fault.agent)
    if fault.kind == "cut":
        world.cut.add(fault.agent)
    elif fault.kind == "mend":
        world.cut.discard(fault.agent)
    elif fault.kind == "restart replica":
        world.replicas = [("", world.loop.now), world.replicas[1]]
    elif fault.kind == "start" and agent is None:
        world.agents[fault.agent] = SimulatedAgent(world, fault.agent)
    elif fault.kind in ("kill", "stop") and agent is not None:
        del world.agents[fault.agent]
        if fault.kind == "kill" and agent.acts and not agent.works_on:
            world.left.append((fault.agent, agent.left_alone.made))
        await agent.end(politely=fault.kind == "stop")
    world.check()


def run(faults: list[Fault], travels: Mapping[str, list[Travel]], last: float = 60.0) -> World:
    """What becomes of it all; the two agents are started by faults too."""
    loop = OwnTime()

    async def play(world: World) -> None:
        world.travels = {name: list(each) for name, each in travels.items()}
        for fault in faults:
            await happen(world, fault)
        for _ in range(int(last)):
            await asyncio.sleep(1.0)
            world.check()

    async def all_of_it(world: World) -> None:
        try:
            await play(world)
        finally:
            for agent in world.agents.values():
                await agent.end(politely=False)

    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), loop)
        try:
            loop.run_until_complete(all_of_it(world))
        finally:
            loop.close()
    return world


class Scripted:
    """A server that answers in the order in which it was told to."""

    def __init__(self, *answers: lease_messages.HoldAnswer | Exception) -> None:
        self._answers = list(answers)
        self.shown: list[int] = []
        self.slowness = 0.0

    def answer_from_now_on(self, answer: lease_messages.HoldAnswer) -> None:
        self._answers = [answer]

    async def hold(self, request: lease_messages.HoldRequest, seconds: float) -> lease_messages.HoldAnswer:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        await asyncio.sleep(self.slowness)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def release(self, holder: str, seconds: float) -> None:
        pass

    def show(self, fencing_token: int) -> None:
        self.shown.append(fencing_token)


def in_own_time(work: Coroutine[Any, Any, None]) -> None:
    loop = OwnTime()
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()
