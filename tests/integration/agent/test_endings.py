"""Every sort of stage is ended by a cancel, and whatever a plugin does to a deployment, the next one works."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import (
    OwnTime,
    World,
    a_world,
    an_agent_at_work,
    an_application_file,
    script,
    until,
)
from tests.integration.agent.test_foreign_plugins import diary, how_it_ended, plugins, run_until
from tests.integration.git.repositories import an_origin


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("{{name: WAIT, onRollback: 'touch {0}/undone', with: {{duration: 24h}}}}", id="a wait"),
        pytest.param("{{name: WAIT_APPROVAL, onRollback: 'touch {0}/undone', with: {{}}}}", id="an approval"),
        pytest.param(
            "{{name: SCRIPT_RUN, with: {{run: 'touch {0}/runs; sleep 1000', onRollback: 'touch {0}/undone'}}}}",
            id="a script",
        ),
    ],
)
async def test_a_cancel_ends_a_stage_of_every_sort_and_it_is_undone(tmp_path: Path, stage: str) -> None:
    file = an_application_file(stage.format(tmp_path))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            running = await until(lambda: has_begun(world))
            if "SCRIPT_RUN" in stage:
                # Of one that had not come to life there would be nothing to undo.
                await until(lambda: asyncio.to_thread((tmp_path / "runs").exists))
            await world.answer(await world.command(CancelDeployment(deployment_id=running.id)))
            deployment = await world.ended()

    assert (deployment.status, [each.status for each in deployment.stages]) == (
        DeploymentStatus.CANCELLED,
        [StageStatus.CANCELLED, StageStatus.SUCCEEDED],
    )
    assert await asyncio.to_thread((tmp_path / "undone").exists)


def let_time_pass(time: OwnTime, _pid: int) -> None:
    time.pass_by(3600 * 24)


def kill(_time: OwnTime, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param(let_time_pass, "timed out after 6h", id="it never answers"),
        pytest.param(kill, "how far it had come is not known", id="it is killed"),
    ],
)
async def test_a_stage_whose_plugin_gives_no_answer_is_undone_by_it_and_the_next_deployment_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[[OwnTime, int], None], said: str
) -> None:
    time, go = OwnTime(monkeypatch), tmp_path / "go"
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(run_until(go))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            asked = await diary(tmp_path, 2)
            fault(time, int(asked[0][1]))
            first = await world.ended()
            go.touch()
            origin.commit({"web/app.pipecd.yaml": an_application_file(run_until(go), script("true"))})
            second = await world.ended(2)

    assert how_it_ended(first) == (
        DeploymentStatus.FAILED,
        [("FOREIGN_RUN", StageStatus.FAILED), ("FOREIGN_ROLLBACK", StageStatus.SUCCEEDED)],
    )
    assert said in first.stages[0].status_reason
    assert second.status is DeploymentStatus.SUCCEEDED, second.status_reason


async def has_begun(world: World) -> Deployment | None:
    """The first deployment, once its first stage runs."""
    found = await world.deployments()
    return found[0] if found and found[0].stages and found[0].stages[0].status is StageStatus.RUNNING else None
