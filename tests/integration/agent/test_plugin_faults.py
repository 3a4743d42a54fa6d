"""Plugins that answer nonsense, never answer, or die: a reason is said, what was begun is undone, the next goes on."""

import sys
from functools import partial
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins import supervisor
from fairway.agent.plugins.keeper import Patience
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, until
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port

#: A plugin with a stage and its rollback, each of which does what the stage's option `does` says.
PROGRAM = """
import asyncio, json, os, sys
from pathlib import Path
import grpc
from grpc import aio
from fairway.rpc.plugin_api import deployment_messages as m

config = json.loads(sys.argv[sys.argv.index("--config") + 1])
name, diary = config["name"].upper(), Path(config["config"]["diary"])

async def execute(request):
    stage = m.ExecuteStageRequest.FromString(request).input.stage
    does = json.loads(m.ExecuteStageRequest.FromString(request).input.stage_config)["does"]
    with diary.open("a") as file:
        file.write(f"{stage.name} {does}\\n")
    answers = {"garbage": b"\\xff\\xff\\xff", "a status from nowhere": b"\\x08\\x63", "no end": b"\\x08\\x01"}
    if does == "dies" and diary.read_text().count(stage.name) == 1:
        os.kill(os.getpid(), 9)
    if stage.rollback:
        return m.ExecuteStageResponse(status="STAGE_SUCCESS").SerializeToString()
    if does == "an error":
        raise ValueError("what is that")
    if does == "never":
        await asyncio.sleep(1000)
    return answers.get(does, b"\\x08\\x02")

async def answer(method, request, context):
    if method == "FetchDefinedStages":
        return m.FetchDefinedStagesResponse(stages=[f"{name}_RUN", f"{name}_ROLLBACK"]).SerializeToString()
    if method == "BuildPipelineSyncStages":
        stages = m.BuildPipelineSyncStagesRequest.FromString(request).stages
        made = m.BuildPipelineSyncStagesResponse()
        for each in stages:
            made.stages.add(name=each.name, index=each.index)
        made.stages.add(name=f"{name}_ROLLBACK", index=stages[0].index, rollback=True)
        return made.SerializeToString()
    if method == "ExecuteStage":
        return await execute(request)
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, method)

class Everything(grpc.GenericRpcHandler):
    def service(self, details):
        async def handle(request, context):
            return await answer(details.method.rpartition("/")[2], request, context)
        return grpc.unary_unary_rpc_method_handler(handle)

async def serve():
    server = aio.server()
    server.add_generic_rpc_handlers([Everything()])
    server.add_insecure_port(f"127.0.0.1:{config['port']}")
    await server.start()
    await server.wait_for_termination()

asyncio.run(serve())
"""
REASONS = {
    "garbage": "plugin bad answered ExecuteStage with something that is no",
    "a status from nowhere": "plugin bad answered ExecuteStage with",
    "no end": "plugin bad ended BAD_RUN as running, which is no end",
    "an error": "what is that",
    "never": "timed out after 1s",
}
#: A plugin made with the SDK, in a process of its own.
MORTAL = '[{name: mortal, url: "python:tests.integration.agent.mortal:Mortal"}]'


def plugins(folder: Path, *names: str) -> str:
    """The agent's list of plugins: that program under these names."""
    (folder / "program.py").write_text(PROGRAM)
    path = folder / "program"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/program.py "$@"\n')
    path.chmod(0o755)
    config = {"diary": str(folder / "diary")}
    entries = [{"name": name, "url": str(path), "port": a_free_port(), "config": config} for name in names]
    return msgspec.json.encode(entries).decode()


def a_stage(name: str, does: str) -> str:
    timeout = "1s" if does == "never" else "1h"
    return msgspec.json.encode({"name": name, "timeout": timeout, "with": {"does": does}}).decode()


def how_it_ended(deployment: Deployment) -> tuple[DeploymentStatus, list[StageStatus]]:
    return deployment.status, [stage.status for stage in deployment.stages]


async def ended_of(world: World, name: str) -> Deployment:
    """The newest deployment of an application, once it has ended."""

    async def look() -> Deployment | None:
        found = [each for each in await world.deployments() if each.application_name == name]
        return found[-1] if found and found[-1].status.is_terminal else None

    return await until(look)


async def test_whatever_a_plugin_answers_the_stage_ends_with_a_reason_and_is_undone(tmp_path: Path) -> None:
    doing = {f"app-{number}": does for number, does in enumerate((*REASONS, "well"))}
    files = {f"{name}/app.pipecd.yaml": an_application_file(a_stage("BAD_RUN", does)) for name, does in doing.items()}
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        for name in doing:
            await world.add_application(name)
        async with an_agent_at_work(world, plugins(tmp_path, "bad")):
            ended = {does: await ended_of(world, name) for name, does in doing.items()}

    well = ended.pop("well")
    assert well.status is DeploymentStatus.SUCCEEDED, well.status_reason
    undone = (DeploymentStatus.FAILED, [StageStatus.FAILED, StageStatus.SUCCEEDED])
    assert {does: how_it_ended(each) for does, each in ended.items()} == dict.fromkeys(REASONS, undone)
    said = {does: each.stages[0].status_reason for does, each in ended.items()}
    assert [does for does, reason in REASONS.items() if reason not in said[does]] == [], said


async def test_a_plugin_that_dies_in_a_stage_and_in_its_rollback_is_started_again_to_undo(tmp_path: Path) -> None:
    file = an_application_file(a_stage("MORTAL_RUN", "dies"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path, "mortal")):
            first = await world.ended()
            origin.commit({"web/app.pipecd.yaml": file.replace("dies", "well")})
            second = await world.ended(2)

    assert how_it_ended(first) == (DeploymentStatus.FAILED, [StageStatus.FAILED, StageStatus.SUCCEEDED])
    assert "how far it had come is not known" in first.stages[0].status_reason
    assert second.status is DeploymentStatus.SUCCEEDED, second.status_reason
    asked = (tmp_path / "diary").read_text().splitlines()
    assert asked == ["MORTAL_RUN dies", *["MORTAL_ROLLBACK dies"] * 2, "MORTAL_RUN well"]


def a_mortal_stage(folder: Path, timeout: str = "1h", **options: object) -> str:
    written = {"diary": str(folder / "diary"), **options}
    return msgspec.json.encode({"name": "MORTAL", "timeout": timeout, "with": written}).decode()


async def test_a_stage_that_ends_its_plugin_each_time_is_not_run_for_ever_and_is_undone(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(a_mortal_stage(tmp_path, ends=100))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, MORTAL):
            ended = await world.ended()

    assert how_it_ended(ended) == (DeploymentStatus.FAILED, [StageStatus.FAILED, StageStatus.SUCCEEDED])
    assert ended.stages[0].status_reason == (
        "plugin mortal ended with status 3 each of the 3 times that it ran MORTAL; how far it had come is not known"
    )
    assert (tmp_path / "diary").read_text().splitlines() == ["begun"] * 3


async def test_a_stage_that_timed_out_says_that_its_plugin_did_not_answer_and_is_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those who are patient would wait for the better part of a minute.
    monkeypatch.setattr(supervisor, "Patience", partial(Patience, ping=0.1, answer=3.0, misses=1))
    stage = a_mortal_stage(tmp_path, timeout="1s", blocks=True)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(stage)})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, MORTAL):
            ended = await world.ended()

    assert how_it_ended(ended) == (DeploymentStatus.FAILED, [StageStatus.FAILED, StageStatus.SUCCEEDED])
    assert ended.stages[0].status_reason.startswith("timed out after 1s; plugin mortal did not answer for ")
    assert (tmp_path / "diary").read_text().splitlines() == ["begun"]


async def test_a_stage_whose_plugin_ended_goes_on_when_it_is_back(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(a_mortal_stage(tmp_path, ends=2))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, MORTAL):
            ended = await world.ended()

    assert ended.status is DeploymentStatus.SUCCEEDED, ended.status_reason
    assert (tmp_path / "diary").read_text().splitlines() == ["begun"] * 3
