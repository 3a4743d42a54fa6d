"""The queue of deployments: one of each application at a time, in their order, and none holds up the others."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.deployments import Deployments, GivingUp, Underway
from fairway.agent.run_context import Cancelling
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW, a_commit, a_deployment, a_stage, a_trigger


def deployed(id: str, minutes: int = 0, application: str = "a-1", **fields: object) -> Deployment:
    """A deployment of a commit that is so many minutes old."""
    commit = a_commit(hash=f"{id}-hash", created_at=NOW + timedelta(minutes=minutes))
    return a_deployment(id=id, application_id=application, trigger=a_trigger(commit=commit), **fields)


class Desk:
    """Remembers what is brought to its end, in which order; the gate holds the first up."""

    def __init__(self, deploy: Callable[[Underway], Awaitable[None]] | None = None) -> None:
        self.gate = asyncio.Event()
        self.done: list[str] = []
        self.given_up: list[tuple[str, GivingUp]] = []
        self.deployments = Deployments(deploy or self._deploy, self._give_up)

    async def _deploy(self, underway: Underway) -> None:
        await self.gate.wait()
        self.done.append(underway.deployment.id)

    async def _give_up(self, underway: Underway, giving_up: GivingUp) -> None:
        self.given_up.append((underway.deployment.id, giving_up))

    async def finish(self) -> None:
        """Open the gate, and wait until nothing is under way."""
        self.gate.set()
        found = [self.deployments.find(id) for id in self.deployments.open_ids]
        await asyncio.gather(*(each.ended.wait() for each in found if each is not None))


@given(st.permutations(range(5)))
def test_those_that_wait_go_by_the_age_of_their_commit_and_one_that_has_begun_goes_first(order: list[int]) -> None:
    async def run() -> list[str]:
        desk = Desk()
        desk.deployments.take(deployed("first"))
        for each in order:
            # The last one was begun by an agent that is gone.
            stages = (a_stage(),) if each == 4 else ()
            desk.deployments.take(deployed(f"d-{each}", minutes=each, stages=stages))
        await desk.finish()
        return desk.done

    assert asyncio.run(run()) == ["first", "d-4", "d-0", "d-1", "d-2", "d-3"]


async def test_applications_do_not_wait_for_each_other() -> None:
    at_work: set[str] = set()
    both = asyncio.Event()

    async def deploy(underway: Underway) -> None:
        at_work.add(underway.deployment.id)
        if len(at_work) == 2:
            both.set()
        await both.wait()

    desk = Desk(deploy)
    for application in ("a-1", "a-2"):
        desk.deployments.take(deployed(f"of-{application}", application=application))
    await desk.finish()

    assert at_work == {"of-a-1", "of-a-2"}


async def test_one_that_fails_by_a_defect_is_given_up_and_the_next_has_its_turn() -> None:
    done: list[str] = []

    async def deploy(underway: Underway) -> None:
        if underway.deployment.id == "bad":
            raise ZeroDivisionError("by nought")
        done.append(underway.deployment.id)

    desk = Desk(deploy)
    desk.deployments.take(deployed("bad"))
    desk.deployments.take(deployed("good", minutes=1))
    await desk.finish()

    reason = "A defect of the agent: ZeroDivisionError: by nought"
    assert desk.given_up == [("bad", GivingUp(DeploymentStatus.FAILED, reason, had_its_turn=True))]
    assert done == ["good"]


async def test_one_that_cannot_even_be_given_up_holds_up_nobody() -> None:
    done: list[str] = []

    async def deploy(underway: Underway) -> None:
        if underway.deployment.id == "bad":
            raise OSError(errno.EMFILE, "Too many open files")
        done.append(underway.deployment.id)

    async def give_up(underway: Underway, giving_up: GivingUp) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    deployments = Deployments(deploy, give_up)
    deployments.take(deployed("bad"))
    deployments.take(deployed("good", minutes=1))
    both = [deployments.find(each) for each in ("bad", "good")]
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(*(each.ended.wait() for each in both if each is not None))

    assert done == ["good"]


async def test_one_that_has_ended_is_not_begun_again_when_the_server_still_lists_it() -> None:
    desk = Desk()
    desk.deployments.take(deployed("d-1"))
    await desk.finish()

    desk.deployments.take(deployed("d-1"))
    desk.deployments.take(deployed("d-2"))
    await desk.finish()

    assert desk.done == ["d-1", "d-2"]


async def test_a_cancel_takes_one_out_of_the_queue() -> None:
    desk = Desk()
    for minutes, id in enumerate(("first", "second", "third")):
        desk.deployments.take(deployed(id, minutes))
    second = desk.deployments.find("second")
    assert second is not None

    second.cancel(Cancelling(CancelDeployment(deployment_id="second"), "ada"))
    await second.ended.wait()
    before = list(desk.done)
    await desk.finish()

    reason = "Cancelled by ada while it waited for its turn"
    assert desk.given_up == [("second", GivingUp(DeploymentStatus.CANCELLED, reason))]
    assert (before, desk.done) == ([], ["first", "third"])


async def test_a_newer_commit_supersedes_pushes_that_wait_and_not_what_somebody_asked_for() -> None:
    desk = Desk()
    asked = a_deployment(id="asked", application_id="a-1", trigger=a_trigger(commander="ada"))
    for each in (deployed("first"), asked, deployed("push", 1), deployed("newest", 2)):
        desk.deployments.take(each)

    desk.deployments.supersede(deployed("newest", 2))
    await desk.finish()

    assert [id for id, _ in desk.given_up] == ["push"]
    assert desk.done == ["first", "asked", "newest"]
