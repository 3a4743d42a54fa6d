"""An agent takes over deployments that PipeCD's agents have left in the middle of a script."""

from pathlib import Path
from typing import Any

import pytest

from fairway.clock import SystemClock
from fairway.model.application import GitPath, Repository
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import WAITS_FOR, StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.server.store import deployments
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import Origin, an_origin
from tests.unit.model.builders import a_commit, a_deployment, a_stage, a_trigger

D = DeploymentStatus
S = StageStatus
PLACE = GitPath(repository=Repository(id="r-1"), path="web", config_filename="app.pipecd.yaml")
INTERRUPTED = "interrupted: another agent has started the script, and it is not known whether it still runs"


def an_origin_of(folder: Path, **options: Any) -> Origin:
    stage = script(f"echo run >> {folder}/runs", onRollback=f"echo undone >> {folder}/runs", **options)
    return an_origin(folder, {"web/app.pipecd.yaml": an_application_file(stage)})


def left(origin: Origin, status: S, **fields: Any) -> Deployment:
    """A deployment as PipeCD's agent has left it, with its script in this status."""
    now = SystemClock().now()
    times = {"created_at": now, "updated_at": now}
    commit = a_commit(hash=origin.head(), branch="main")
    ended = {"completed_at": now} if status.is_terminal else {}
    return a_deployment(
        **{
            "id": "left",
            "application_id": "a-web",
            "application_name": "web",
            "git_path": PLACE,
            "trigger": a_trigger(commit=commit, sync_strategy=SyncStrategy.PIPELINE),
            "status": D.RUNNING,
            "stages": (
                a_stage("script", name="SCRIPT_RUN", status=status, **times, **ended),
                a_stage("undo", name="SCRIPT_RUN_ROLLBACK", rollback=True, **times),
            ),
            **times,
            **fields,
        }
    )


async def waiting(world: World) -> Deployment:
    """The deployment that was left, once the agent has reported what it waits for."""

    async def look() -> Deployment | None:
        found = await world.store.read(lambda each: deployments.load_deployment(each, "left"))
        return found if found.shared_metadata.get(WAITS_FOR) else None

    return await until(look)


async def end_of(world: World) -> Deployment:
    async def look() -> Deployment | None:
        found = await world.store.read(lambda each: deployments.load_deployment(each, "left"))
        return found if found.status.is_terminal else None

    return await until(look)


@pytest.mark.parametrize(
    ("status", "notes", "options"),
    [
        pytest.param(S.RUNNING, {}, {"onInterrupted": "run-again"}, id="piped v0"),
        pytest.param(S.RUNNING, {"scriptrun": {"started-0": "_"}}, {}, id="piped v1, killed"),
        pytest.param(S.CANCELLED, {"scriptrun": {"started-0": "_"}}, {}, id="piped v1, terminated"),
    ],
)
async def test_nothing_runs_beside_a_script_that_piped_has_left_until_a_user_decides(
    tmp_path: Path, status: S, notes: dict[str, dict[str, str]], options: dict[str, str]
) -> None:
    origin = an_origin_of(tmp_path, **options)
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        deployment = left(origin, status, plugin_metadata=notes)
        await world.store.write(lambda each: deployments.insert_deployment(each, deployment))
        async with an_agent_at_work(world):
            found = await waiting(world)
            before = (tmp_path / "runs").exists()
            await world.command(CancelDeployment(deployment_id="left"))
            ended = await end_of(world)
            log = await world.log(ended, 0)

    assert not before
    assert found.shared_metadata[WAITS_FOR].startswith("the script of stage 1 (SCRIPT_RUN): another agent has started")
    assert (ended.status, ended.stages[1].status) == (D.CANCELLED, S.SUCCEEDED)
    if status is S.RUNNING:
        assert ended.stages[0].status_reason == f"Cancelled by ada; {INTERRUPTED}"
        assert "make sure that it has ended" in log
    # The second line belongs to the deployment of the same commit that waited behind it.
    assert (tmp_path / "runs").read_text().splitlines()[0] == "undone"


async def test_the_end_that_the_other_agent_reports_ends_the_wait(tmp_path: Path) -> None:
    origin = an_origin_of(tmp_path)
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        deployment = left(origin, S.RUNNING)
        await world.store.write(lambda each: deployments.insert_deployment(each, deployment))
        async with an_agent_at_work(world):
            await waiting(world)
            now = SystemClock().now()
            await world.store.write(
                lambda each: deployments.update_deployment(
                    each, "left", lambda found: found.advance_stage("script", S.SUCCEEDED, "", now)
                )
            )
            ended = await end_of(world)

    assert (ended.status, ended.stages[0].status, ended.stages[1].status) == (D.SUCCEEDED, S.SUCCEEDED, S.NOT_STARTED)
