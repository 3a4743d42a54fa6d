"""Commands: each answered exactly once, with a reason when it is not done."""

import asyncio
from typing import Any

import pytest

from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.deployments import Deployments, GivingUp, Underway
from fairway.agent.inbox import Find, Inbox, Sync
from fairway.agent.outbox import Outbox
from fairway.agent.reports import Answer, Report
from fairway.clock import FakeClock
from fairway.model.command import (
    ApproveStage,
    CancelDeployment,
    Command,
    CommandStatus,
    Payload,
    RestartAgent,
    SyncApplication,
)
from fairway.model.deployment import Deployment, DeploymentStatus
from tests.unit.model.builders import NOW, a_deployment


class Answers(Outbox):
    """Remembers what was said to the server."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    async def deliver(self, stream: str, *reports: Report) -> bool:
        del stream
        for report in reports:
            request: Any = report.request
            self.said.append((request.command_id, dict(request.metadata).get("reason", "")))
        return True


async def synced(_command: Command, _payload: object) -> Answer:
    return Answer(status=CommandStatus.SUCCEEDED)


async def nowhere(_deployment_id: str) -> Deployment:
    raise ServerRefused("there is none")


def an_inbox(answers: Answers, sync: Sync = synced, find: Find = nowhere) -> Inbox:
    async def deploy(underway: Underway) -> None:
        cancelled = asyncio.Event()
        underway.on_cancel(lambda _wish: cancelled.set())
        await cancelled.wait()

    async def give_up(_underway: Underway, _giving_up: GivingUp) -> None: ...

    return Inbox(Deployments(deploy, give_up), answers, FakeClock(NOW), sync, synced, find)


def a_command(id: str, payload: Payload) -> Command:
    people: Any = {"agent_id": "agent-1", "project_id": "shop", "commander": "ada"}
    return Command(id=id, payload=payload, created_at=NOW, updated_at=NOW, **people)


async def test_a_command_that_is_listed_again_is_answered_once() -> None:
    answers = Answers()
    inbox = an_inbox(answers)
    sync = a_command("c-1", SyncApplication(application_id="a-1"))

    for _ in range(3):
        await inbox.take([sync])
        await asyncio.sleep(0)
    await inbox.take([])

    assert answers.said == [("c-1", "")]


async def test_a_command_that_takes_long_keeps_no_other_waiting() -> None:
    answers, go = Answers(), asyncio.Event()

    async def slowly(command: Command, payload: object) -> Answer:
        await go.wait()
        return await synced(command, payload)

    inbox = an_inbox(answers, slowly)
    sync = a_command("c-1", SyncApplication(application_id="a-1"))
    taking = asyncio.create_task(inbox.take([sync, a_command("c-2", CancelDeployment(deployment_id="gone"))]))
    for _ in range(10):
        await asyncio.sleep(0)
    first = list(answers.said)
    go.set()
    await taking
    for _ in range(10):
        await asyncio.sleep(0)

    assert (first, answers.said[1:]) == ([("c-2", "the deployment has ended already")], [("c-1", "")])


async def test_a_command_that_meets_a_defect_is_answered_with_it() -> None:
    answers = Answers()

    async def stumbling(_command: Command, _payload: object) -> Answer:
        raise ValueError("of ours")

    await an_inbox(answers, stumbling).take([a_command("c-1", SyncApplication(application_id="a-1"))])
    for _ in range(10):
        await asyncio.sleep(0)

    assert answers.said == [("c-1", "a defect of the agent: ValueError; its log says where")]


async def test_commands_about_what_has_ended_are_refused_with_a_reason() -> None:
    answers = Answers()
    cancel = a_command("c-1", CancelDeployment(deployment_id="gone"))
    approve = a_command("c-2", ApproveStage(deployment_id="gone", stage_id="stage-0"))

    await an_inbox(answers).take([cancel, approve])

    assert answers.said == [
        ("c-1", "the deployment has ended already"),
        ("c-2", "the stage has ended already"),
    ]


async def test_a_cancel_of_a_deployment_that_is_not_taken_up_yet_takes_it_up_and_cancels_it() -> None:
    answers = Answers()

    async def found(deployment_id: str) -> Deployment:
        return a_deployment(id=deployment_id)

    inbox = an_inbox(answers, find=found)
    await inbox.take([a_command("c-1", CancelDeployment(deployment_id="d-1"))])
    for _ in range(10):
        await asyncio.sleep(0)

    assert answers.said == [("c-1", "")]


async def test_a_cancel_that_meets_a_server_that_is_away_is_taken_up_again() -> None:
    answers = Answers()
    answer_of_the_server: list[Exception | Deployment] = [ServerAway("nobody there"), a_deployment(id="d-1")]

    async def found(_deployment_id: str) -> Deployment:
        answer = answer_of_the_server.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    inbox = an_inbox(answers, find=found)
    cancel = a_command("c-1", CancelDeployment(deployment_id="d-1"))
    with pytest.raises(ServerAway):
        await inbox.take([cancel])
    await inbox.take([cancel])
    for _ in range(10):
        await asyncio.sleep(0)

    assert (answers.said, answer_of_the_server) == ([("c-1", "")], [])


async def test_a_cancel_of_a_deployment_that_another_agent_has_ended_is_refused() -> None:
    answers = Answers()

    async def found(deployment_id: str) -> Deployment:
        return a_deployment(id=deployment_id, status=DeploymentStatus.FAILED)

    await an_inbox(answers, find=found).take([a_command("c-1", CancelDeployment(deployment_id="d-1"))])

    assert answers.said == [("c-1", "the deployment has ended already")]


async def test_a_restart_is_answered_before_it_is_done() -> None:
    answers = Answers()
    inbox = an_inbox(answers)

    await inbox.take([a_command("c-1", RestartAgent(agent_id="agent-1"))])

    assert (answers.said, inbox.restart.is_set()) == ([("c-1", "")], True)
