"""An agent cannot take a stage past the people it waits for."""

from pathlib import Path

import grpc

from fairway.model.deployment import DeploymentStatus
from fairway.model.role import ADMIN
from fairway.model.stage import MINIMUM_APPROVALS, ManualOperation, StageStatus
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.server.actions.deployments import approve_stage
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller, CallerKind
from fairway.server.store import deployments
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW, a_stage

SUCCEEDED = m.ReportStageStatusChangedRequest(
    deployment_id="d-1",
    stage_id="ask",
    status=STAGE_STATUSES.to_wire(StageStatus.SUCCEEDED),
    completed_at=int(NOW.timestamp()),
)


async def approve(served: Serving, name: str) -> None:
    desk = ActionDesk(
        store=served.store,
        logs=served.logs,
        hints=served.hints,
        clock=served.clock,
        new_id=lambda: f"command-of-{name}",
        forget_agent=served.auth.forget,
        forget_key=lambda _: None,
    )
    caller = Caller(kind=CallerKind.USER, name=name, project_id="shop", roles=(ADMIN,))
    await approve_stage(desk, caller, "d-1", "ask")


async def test_a_stage_succeeds_once_enough_people_have_approved_it(tmp_path: Path, database: str) -> None:
    waiting = a_stage(
        "ask",
        status=StageStatus.RUNNING,
        available_operation=ManualOperation.APPROVE,
        metadata={MINIMUM_APPROVALS: "2"},
    )
    async with serving(tmp_path, database) as served:
        await served.add_agent()
        await served.add_application()
        await served.add_deployment(status=DeploymentStatus.RUNNING, stages=(waiting,))

        answers = []
        for name in ("ada", "ada", "bob"):
            await approve(served, name)
            answers.append(await served.agent().refused("ReportStageStatusChanged", SUCCEEDED))

        refused = grpc.StatusCode.FAILED_PRECONDITION.name
        assert answers == [refused, refused, "OK"]
        stored = await served.load(deployments.load_deployment, "d-1")
        assert stored.stages[0].status is StageStatus.SUCCEEDED
