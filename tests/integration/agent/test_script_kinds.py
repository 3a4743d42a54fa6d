"""Scripts belong to no platform: they run, and are undone, in applications of every kind, old and new."""

from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.server.logs import StageLogKey
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

KINDS = ("Application", "KubernetesApp", "TerraformApp", "LambdaApp", "CloudRunApp", "ECSApp")


def a_file(kind: str) -> str:
    """Two scripts, of which the second fails. Terraform is the one that is not undone unless somebody says so."""
    stages = (script("echo $SR_APPLICATION_NAME", onRollback="echo undone"), script("exit 3"))
    spec = "  input: {autoRollback: true}\n" if kind == "TerraformApp" else ""
    return an_application_file(*stages, spec=spec).replace("kind: Application", f"kind: {kind}")


async def test_a_script_runs_and_is_undone_in_an_application_of_every_kind(tmp_path: Path) -> None:
    files = {f"{kind.lower()}/app.pipecd.yaml": a_file(kind) for kind in KINDS}
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        for kind in KINDS:
            await world.add_application(kind.lower())
        async with an_agent_at_work(world):
            ended = [await world.ended(number) for number in range(1, len(KINDS) + 1)]
        said = {each.application_name: [await world.output(each, stage) for stage in (0, 2)] for each in ended}

    assert said == {kind.lower(): [kind.lower(), "undone"] for kind in KINDS}
    ran = [("SCRIPT_RUN", StageStatus.SUCCEEDED), ("SCRIPT_RUN", StageStatus.FAILED)]
    expected = (DeploymentStatus.FAILED, [*ran, ("SCRIPT_RUN_ROLLBACK", StageStatus.SUCCEEDED)])
    assert [(each.status, [(stage.name, stage.status) for stage in each.stages]) for each in ended] == [expected] * 6


LAMBDA = an_application_file(script("echo done", onRollback="echo undone"), script("exit 3")).replace(
    "kind: Application", "kind: LambdaApp"
)


async def test_where_the_agent_lacks_the_platform_the_stages_run_and_are_undone(tmp_path: Path) -> None:
    text = LAMBDA.replace("  planner:\n    alwaysUsePipeline: true\n", "")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": text})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            ended = await world.ended()
        said = [await world.output(ended, stage) for stage in (0, 2)]

    assert ended.summary == (
        "Pipeline, because this agent has no plugin lambda, so only the stages of the pipeline run"
    )
    assert [(stage.name, stage.status) for stage in ended.stages] == [
        ("SCRIPT_RUN", StageStatus.SUCCEEDED),
        ("SCRIPT_RUN", StageStatus.FAILED),
        ("SCRIPT_RUN_ROLLBACK", StageStatus.SUCCEEDED),
    ]
    assert said == ["done", "undone"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(LAMBDA.partition("  planner:")[0], "this agent has no plugin 'lambda'", id="no pipeline"),
        pytest.param(
            LAMBDA.replace(script("echo done", onRollback="echo undone"), "{name: LAMBDA_SYNC}"),
            "No plugin of this agent has LAMBDA_SYNC (stage 1); add the plugin lambda to the agent's file",
            id="a stage that needs it",
        ),
    ],
)
async def test_what_only_the_platform_could_do_is_refused_where_the_agent_lacks_it(
    tmp_path: Path, text: str, reason: str
) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": text})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            ended = await world.ended()

    assert ended.status is DeploymentStatus.FAILED
    assert reason in ended.status_reason


async def test_what_is_written_to_either_stream_is_told_in_one_order_and_with_its_time(tmp_path: Path) -> None:
    go = tmp_path / "go"
    text = f"echo 1; echo 2 >&2; echo 3; echo 4 >&2; until test -e {go}; do sleep 0.02; done; echo 5; echo 6 >&2"
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(text))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):

            async def first_lines() -> str | None:
                begun = [each for each in await world.deployments() if each.stages]
                log = await world.log(begun[0], 0) if begun else ""
                return log if "4" in log else None

            before = await until(first_lines)
            go.touch()
            deployment = await world.ended()
        blocks = (await world.logs.read(StageLogKey(deployment.id, deployment.stages[0].id, 0))).blocks

    assert before.split() == ["1", "2", "3", "4"]
    assert "\n".join(block.log for block in blocks).split()[:6] == ["1", "2", "3", "4", "5", "6"]
    times = [block.created_at for block in blocks]
    assert times == sorted(times)
    assert deployment.created_at.replace(microsecond=0) <= times[0]
