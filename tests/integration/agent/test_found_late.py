"""An agent that was away for longer than its stages may take: what ended well meanwhile has ended well."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from fairway.clock import SystemClock
from fairway.model.deployment import STARTED_AT, Deployment, DeploymentStatus
from fairway.server.store import deployments
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script
from tests.integration.agent.test_cancelling import appears, there
from tests.integration.git.repositories import an_origin

AWAY = timedelta(hours=1)


def stage_began_before(found: Deployment) -> Deployment:
    stage = msgspec.structs.replace(found.stages[0], updated_at=found.stages[0].updated_at - AWAY)
    return msgspec.structs.replace(found, stages=(stage, *found.stages[1:]))


def deployment_began_before(found: Deployment) -> Deployment:
    began = {STARTED_AT: (SystemClock().now() - AWAY).isoformat()}
    return msgspec.structs.replace(found, shared_metadata={**found.shared_metadata, **began})


@pytest.mark.parametrize(
    ("spec", "began_before"),
    [
        pytest.param("", stage_began_before, id="longer than the stage may take"),
        pytest.param("  timeout: 10m\n", deployment_began_before, id="longer than the deployment may take"),
    ],
)
async def test_a_script_that_ended_well_while_its_agent_was_away(
    tmp_path: Path, spec: str, began_before: Callable[[Deployment], Deployment]
) -> None:
    run = f"echo run >> {tmp_path}/runs; while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; echo done; touch {{}}"
    ended = tmp_path / "ended"
    timed = script(run.format(ended), timeout="30m", onRollback=f"touch {tmp_path}/undone")
    file = an_application_file(timed, spec=spec)
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "runs")
        left = await there(world, 1)
        (tmp_path / "go").touch()
        await appears(ended)
        await world.store.write(lambda each: deployments.update_deployment(each, left.id, began_before))
        async with an_agent_at_work(world):
            deployment = await world.ended()
            output = await world.output(deployment, 0)

    assert (deployment.status, output) == (DeploymentStatus.SUCCEEDED, "done")
    assert (tmp_path / "runs").read_text() == "run\n"
    assert not (tmp_path / "undone").exists()
