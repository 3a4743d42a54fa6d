"""Requests that no agent should send, answered as PipeCD's plugins answer them: never UNKNOWN, never success."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import aio

from fairway.model.stage import Stage, StageStatus
from fairway.plugins.kubernetes.plugin import Kubernetes
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.plugins.wait import Wait
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.stage import STAGE_STATUSES, to_wire_stage
from fairway.rpc.plugin_api import (
    DeploymentStub,
    LiveStateStub,
    PlanPreviewStub,
    live_state_messages,
    plan_preview_messages,
    register_host_service,
)
from fairway.rpc.plugin_api import deployment_messages as m
from fairway.sdk import Plugin
from fairway.sdk.agent_double import AgentDouble
from fairway.sdk.plugin import PluginSettings
from fairway.sdk.serve import Host, Served, serving
from tests.unit.model.builders import a_deployment, a_stage

Code = grpc.StatusCode
_AT = datetime(2026, 1, 1, tzinfo=UTC)
STAGE = to_wire_stage(a_stage("script", name="SCRIPT_RUN"))
DEPLOYMENT = to_wire_deployment(a_deployment(stages=(a_stage("script", name="SCRIPT_RUN"),)))


@asynccontextmanager
async def served(kind: type[Plugin], folder: Path) -> AsyncIterator[tuple[aio.Channel, AgentDouble]]:
    agent, server = AgentDouble(), aio.server(options=SERVER_OPTIONS)
    register_host_service(agent, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    plugin = kind(PluginSettings(name=kind.name, state=folder / "state"))
    # As PipeCD's agent, which cannot say Stop.
    host = Host(address=f"127.0.0.1:{port}", stops_stages=False)
    try:
        async with (
            serving([Served(plugin, "127.0.0.1:0")], host) as (number,),
            aio.insecure_channel(f"127.0.0.1:{number}", options=CHANNEL_OPTIONS) as channel,
        ):
            yield channel, agent
    finally:
        await server.stop(None)


def a_pipeline(config: bytes = b"{}", **fields: Any) -> m.BuildPipelineSyncStagesRequest:
    wanted = m.BuildPipelineSyncStagesRequest.StageConfig(**{"name": "SCRIPT_RUN", "config": config, **fields})
    return m.BuildPipelineSyncStagesRequest(rollback=True, stages=[wanted])


def execute(**fields: Any) -> m.ExecuteStageRequest:
    known = {"deployment": DEPLOYMENT, "stage": STAGE, "stage_config": b'{"run": "true"}'}
    return m.ExecuteStageRequest(input=m.ExecutePluginInput(**{**known, **fields}))


def without(message: Any, field: str) -> Any:
    changed = type(message)()
    changed.CopyFrom(message)
    changed.ClearField(field)
    return changed


@pytest.mark.parametrize(
    ("call", "request_", "words"),
    [
        ("DetermineVersions", m.DetermineVersionsRequest(), "input is not set"),
        ("DetermineVersions", m.DetermineVersionsRequest(input={}), "input.deployment is not set"),
        ("DetermineStrategy", m.DetermineStrategyRequest(), "input is not set"),
        (
            "DetermineStrategy",
            m.DetermineStrategyRequest(input={"deployment": without(DEPLOYMENT, "id")}),
            "input.deployment.id is empty",
        ),
        ("BuildPipelineSyncStages", a_pipeline(name=""), "stages[0].name is empty"),
        ("BuildPipelineSyncStages", a_pipeline(index=-1), "stages[0].index is -1"),
        ("BuildPipelineSyncStages", a_pipeline(name="NO_SUCH"), "has no stage NO_SUCH"),
        ("BuildPipelineSyncStages", a_pipeline(b"{"), "not a JSON object"),
        ("BuildPipelineSyncStages", a_pipeline(b"[1]"), "not a JSON object"),
        ("BuildPipelineSyncStages", a_pipeline(b"null"), "run is missing"),
        ("BuildPipelineSyncStages", a_pipeline(), "run is missing"),
        ("BuildPipelineSyncStages", a_pipeline(b'{"runs": []}'), "run is missing"),
        ("ExecuteStage", m.ExecuteStageRequest(), "input is not set"),
        ("ExecuteStage", execute(deployment=None), "input.deployment is not set"),
        ("ExecuteStage", execute(stage=None), "input.stage is not set"),
        ("ExecuteStage", execute(deployment=without(DEPLOYMENT, "id")), "input.deployment.id is empty"),
        ("ExecuteStage", execute(deployment=without(DEPLOYMENT, "trigger")), "input.deployment.trigger is not set"),
        ("ExecuteStage", execute(stage=without(STAGE, "id")), "input.stage.id is empty"),
        ("ExecuteStage", execute(stage=without(STAGE, "name")), "input.stage.name is empty"),
    ],
)
async def test_a_broken_request_is_an_invalid_argument(tmp_path: Path, call: str, request_: Any, words: str) -> None:
    async with served(ScriptRun, tmp_path) as (channel, _):
        with pytest.raises(aio.AioRpcError) as refused:
            await getattr(DeploymentStub(channel), call)(request_)

    assert refused.value.code() is Code.INVALID_ARGUMENT
    assert words in (refused.value.details() or "")


@pytest.mark.parametrize(
    ("config", "words"),
    [(b"{", "not a JSON object"), (b"3", "not a JSON object"), (b"{}", "run is missing"), (b"", "run is missing")],
)
async def test_a_stage_with_broken_options_fails_and_says_so_in_its_log(
    tmp_path: Path, config: bytes, words: str
) -> None:
    async with served(ScriptRun, tmp_path) as (channel, agent):
        answer = await DeploymentStub(channel).ExecuteStage(execute(stage_config=config))

    assert STAGE_STATUSES.from_wire(answer.status) is StageStatus.FAILED
    assert any(words in line for line in agent.logs["script"])


async def test_an_error_of_the_plugin_is_internal(tmp_path: Path) -> None:
    class Broken(Wait):
        async def versions(self, _target: Any) -> Any:
            raise ValueError("secret")

    async with served(Broken, tmp_path) as (channel, _):
        request = m.DetermineVersionsRequest(input={"deployment": DEPLOYMENT})
        with pytest.raises(aio.AioRpcError) as refused:
            await DeploymentStub(channel).DetermineVersions(request)

    assert (refused.value.code(), refused.value.details()) == (
        Code.INTERNAL,
        "internal error of plugin wait (ValueError); the log of the plugin says where",
    )


async def test_live_state_and_plan_preview_of_unreadable_files_have_a_status(tmp_path: Path) -> None:
    source = {"application_directory": str(tmp_path), "application_config": b"{", "commit_hash": "c0ffee"}
    async with served(Kubernetes, tmp_path) as (channel, _):
        with pytest.raises(aio.AioRpcError) as looked:
            await LiveStateStub(channel).GetLivestate(
                live_state_messages.GetLivestateRequest(deploy_source=source, deploy_targets=["none"])
            )
        with pytest.raises(aio.AioRpcError) as previewed:
            await PlanPreviewStub(channel).GetPlanPreview(
                plan_preview_messages.GetPlanPreviewRequest(target_deployment_source=source)
            )

    assert Code.UNKNOWN not in {looked.value.code(), previewed.value.code()}


@pytest.mark.parametrize(
    ("noted", "ended", "ran"),
    [
        pytest.param({}, StageStatus.FAILED, False, id="nothing is known"),
        pytest.param({"started-0": "_"}, StageStatus.SUCCEEDED, True, id="the script was started"),
    ],
)
async def test_a_rollback_of_a_deployment_without_stages_never_succeeds_for_nothing(
    tmp_path: Path, noted: dict[str, str], ended: StageStatus, ran: bool
) -> None:
    undo = Stage(id="undo", name="SCRIPT_RUN_ROLLBACK", rollback=True, created_at=_AT, updated_at=_AT)
    options = b'{"run": "true", "onRollback": "touch undone"}'
    async with served(ScriptRun, tmp_path) as (channel, agent):
        agent.plugin_notes["scriptrun"] = dict(noted)
        request = execute(
            deployment=to_wire_deployment(a_deployment()), stage=to_wire_stage(undo), stage_config=options
        )
        request.input.target_deployment_source.application_directory = str(tmp_path)
        answer = await DeploymentStub(channel).ExecuteStage(request)

    assert STAGE_STATUSES.from_wire(answer.status) is ended
    assert (tmp_path / "undone").exists() is ran
