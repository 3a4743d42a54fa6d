"""The example of the script-run documents, run: seven stages, and which scripts are undone when one of them ends it.

1. K8S_CANARY_ROLLOUT  2. WAIT  3. SCRIPT_RUN  4. K8S_PRIMARY_ROLLOUT  5. SCRIPT_RUN  6. K8S_CANARY_CLEAN  7. SCRIPT_RUN
"""

from pathlib import Path

from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

PLATFORM = '[{name: kubernetes, url: "python:tests.integration.agent.platform:Platform"}]'


def a_script(number: int) -> str:
    """Fails when it is told to; what undoes it has its variables, and runs in its directory."""
    run = f'echo "$MSG"; [ "$(cat end)" != "fail {number}" ]'
    env = {"MSG": f"execute script {number}", "R_MSG": f"rollback script {number} of $(cat end)"}
    return script(run, env=env, onRollback='eval "echo $R_MSG $SR_IS_ROLLBACK"')


FILE = an_application_file(
    "{name: K8S_CANARY_ROLLOUT, with: {replicas: 10%}}",
    "{name: WAIT, with: {duration: 1ms}}",
    a_script(3),
    "{name: K8S_PRIMARY_ROLLOUT}",
    a_script(5),
    "{name: K8S_CANARY_CLEAN}",
    a_script(7),
)


async def undone(world: World, deployment: Deployment) -> list[str]:
    """What the stages of the rollback did that were started, in the order in which they began."""
    begun = [
        (stage.updated_at, position)
        for position, stage in enumerate(deployment.stages)
        if stage.is_rollback and stage.status is not StageStatus.NOT_STARTED
    ]
    return [(await world.log(deployment, position)).splitlines()[0] for _, position in sorted(begun)]


async def test_the_platform_and_then_the_scripts_that_were_started_are_undone_in_their_order(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": FILE, "web/end": "fail 3\n"})
    found: dict[str, list[str]] = {}
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, PLATFORM):
            for number, end in enumerate(("fail 3", "fail 4", "fail 6", "wait 6", "never 0"), 1):
                if number > 1:
                    origin.commit({"web/end": f"{end}\n"})
                if end == "wait 6":
                    waiting = await until(lambda: at_stage(world, 6))
                    await world.command(CancelDeployment(deployment_id=waiting.id))
                ended = await world.ended(number)
                found[f"{end}: {ended.status.value}"] = await undone(world, ended)

    def script_undone(number: int, end: str) -> str:
        return f"rollback script {number} of {end} true"

    assert found == {
        "fail 3: failed": ["undone", script_undone(3, "fail 3")],
        "fail 4: failed": ["undone", script_undone(3, "fail 4")],
        "fail 6: failed": ["undone", script_undone(3, "fail 6"), script_undone(5, "fail 6")],
        "wait 6: cancelled": ["undone", script_undone(3, "wait 6"), script_undone(5, "wait 6")],
        "never 0: succeeded": [],
    }


async def at_stage(world: World, number: int) -> Deployment | None:
    newest = (await world.deployments())[-1]
    here = len(newest.stages) >= number and newest.stages[number - 1].status is StageStatus.RUNNING
    return newest if here and newest.status is DeploymentStatus.RUNNING else None
