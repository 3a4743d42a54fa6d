"""`onRollback` on stages of any plugin: run in the rollback among the scripts, for what was started alone."""

from pathlib import Path

import msgspec
import pytest

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import (
    OwnTime,
    World,
    a_world,
    an_agent_at_work,
    an_application_file,
    script,
    until,
)
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port


def how_it_ended(deployment: Deployment) -> tuple[DeploymentStatus, list[tuple[str, StageStatus]]]:
    return deployment.status, [(stage.name, stage.status) for stage in deployment.stages]


async def is_waiting(world: World) -> bool:
    """Whether the first stage of the one deployment runs."""
    return any(each.stages and each.stages[0].status is StageStatus.RUNNING for each in await world.deployments())


async def test_stages_of_every_plugin_are_undone_by_their_scripts_in_pipeline_order(tmp_path: Path) -> None:
    undone = tmp_path / "undone"
    config = {"diary": str(tmp_path / "diary")}
    plugin = {"name": "foreign", "url": str(a_foreign_plugin(tmp_path)), "port": a_free_port(), "config": config}
    # The foreign plugin refuses options that it does not know.
    file = an_application_file(
        f"{{name: FOREIGN_RUN, with: {{onRollback: 'echo $WHO >> {undone}', env: {{WHO: foreign}}}}}}",
        script("true", onRollback=f"echo script >> {undone}"),
        f"{{name: WAIT, onRollback: ['x=$SR_IS_ROLLBACK', 'echo wait $x >> {undone}'], with: {{duration: 1ms}}}}",
        script("exit 1"),
        f"{{name: WAIT, onRollback: 'echo never >> {undone}', with: {{duration: 1ms}}}}",
    )
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, msgspec.json.encode([plugin]).decode()):
            deployment = await world.ended()

    succeeded, never = StageStatus.SUCCEEDED, StageStatus.NOT_STARTED
    assert how_it_ended(deployment) == (
        DeploymentStatus.FAILED,
        [
            ("FOREIGN_RUN", succeeded),
            ("SCRIPT_RUN", succeeded),
            ("WAIT", succeeded),
            ("SCRIPT_RUN", StageStatus.FAILED),
            ("WAIT", never),
            ("FOREIGN_ROLLBACK", succeeded),
            *[("SCRIPT_RUN_ROLLBACK", succeeded)] * 3,
            ("SCRIPT_RUN_ROLLBACK", never),
        ],
    ), deployment.stages
    assert undone.read_text() == "foreign\nscript\nwait true\n"


async def test_a_stage_of_a_v0_application_that_timed_out_is_undone_by_its_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = OwnTime(monkeypatch)
    file = an_application_file(
        f"{{name: WAIT_APPROVAL, timeout: 1s, onRollback: 'echo undone > {tmp_path}/undone'}}"
    ).replace("kind: Application", "kind: LambdaApp")
    file = file.replace("  planner:\n    alwaysUsePipeline: true\n", "  planner: {alwaysUsePipeline: true}\n")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until(lambda: is_waiting(world))
            time.pass_by(2)
            deployment = await world.ended()

    assert how_it_ended(deployment) == (
        DeploymentStatus.FAILED,
        [("WAIT_APPROVAL", StageStatus.FAILED), ("SCRIPT_RUN_ROLLBACK", StageStatus.SUCCEEDED)],
    )
    assert (tmp_path / "undone").read_text() == "undone\n"
