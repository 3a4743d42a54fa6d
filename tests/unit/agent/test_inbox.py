"""Commands: each answered exactly once, with a reason when it is not done."""

import asyncio
from typing import Any

from fairway.agent.deployments import Deployments, GivingUp, Underway
from fairway.agent.inbox import Inbox, Sync
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
from tests.unit.model.builders import NOW


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


def an_inbox(answers: Answers, sync: Sync = synced) -> Inbox:
    async def deploy(_underway: Underway) -> None: ...

    async def give_up(_underway: Underway, _giving_up: GivingUp) -> None: ...

    return Inbox(Deployments(deploy, give_up), answers, FakeClock(NOW), sync, synced)


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


async def test_a_restart_is_answered_before_it_is_done() -> None:
    answers = Answers()
    inbox = an_inbox(answers)

    await inbox.take([a_command("c-1", RestartAgent(agent_id="agent-1"))])

    assert (answers.said, inbox.restart.is_set()) == ([("c-1", "")], True)
