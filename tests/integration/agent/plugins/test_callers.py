"""Who may call the agent's PluginService, and what for."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest
import structlog.testing
from grpc import aio

from fairway.agent.plugins.callers import Tokens
from fairway.rpc.plugin_api import TOKEN_KEY, HostStub, SecretStub, secret_messages
from fairway.rpc.plugin_api import host_messages as m
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin


class Inside(NamedTuple):
    """What somebody would have who has got into the agent's private directory."""

    channel: aio.Channel
    tokens: Mapping[str, str]
    #: Deployment and stage of a script that runs.
    running: Mapping[str, str]

    async def code(self, call: str, token: str, **fields: str) -> grpc.StatusCode:
        """How a call ends that shows this token."""
        service, requests = (SecretStub, secret_messages) if call == "DecryptSecret" else (HostStub, m)
        named = "OpenSecretRequest" if call == "DecryptSecret" else f"{call}Request"
        try:
            await getattr(service(self.channel), call)(
                getattr(requests, named)(**fields), metadata=((TOKEN_KEY, token),) if token else ()
            )
        except aio.AioRpcError as error:
            return error.code()
        return grpc.StatusCode.OK


@asynccontextmanager
async def inside(folder: Path, patch: pytest.MonkeyPatch) -> AsyncIterator[Inside]:
    """An agent that runs a script and then waits, seen from its private directory."""
    tokens: dict[str, str] = {}
    issue = Tokens.issue

    def noted(self: Tokens, plugin: str) -> str:
        tokens[plugin] = issue(self, plugin)
        return tokens[plugin]

    patch.setattr(Tokens, "issue", noted)
    private = folder / "t"
    private.mkdir()
    patch.setattr(tempfile, "tempdir", str(private))
    file = an_application_file(
        script(f"until [ -e {folder}/go ]; do sleep 0.05; done"), "{name: WAIT, with: {duration: 10ms}}"
    )
    async with a_world(folder, an_origin(folder, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):

            async def begun() -> dict[str, str] | None:
                found = await world.deployments()
                stages = found[0].stages if found else ()
                running = bool(stages) and stages[0].status.value == "running"
                return {"deployment_id": found[0].id, "stage_id": stages[0].id} if running else None

            running = await until(begun)
            (socket,) = private.glob("fairway-*/agent.sock")
            async with aio.insecure_channel(f"unix:{socket}") as channel:
                yield Inside(channel, tokens, running)
            (folder / "go").touch()
            await world.ended()


async def test_each_plugin_is_known_by_its_token_and_gets_what_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = {}
    async with inside(tmp_path, monkeypatch) as agent:
        tokens, stage = agent.tokens, agent.running
        deployment["deployment_id"] = stage["deployment_id"]
        mine = {**deployment, "plugin_name": "scriptrun", "key": "k"}
        object_of_another = {"application_id": "a-web", "plugin_name": "wait", "key": "k"}
        with structlog.testing.capture_logs() as logs:
            found = [
                await agent.code("GetStageMetadata", tokens["scriptrun"], **stage, key="k"),
                await agent.code("GetDeploymentPluginMetadata", tokens["scriptrun"], **mine),
                await agent.code("GetDeploymentSharedMetadata", tokens["scriptrun"], **deployment, key="k"),
                await agent.code("ReportStageLogs", "", **stage),
                await agent.code("ReportStageLogs", "wrong", **stage),
                await agent.code("ReportStageLogs", tokens["wait"], **stage),
                await agent.code("ReportStageLogs", tokens["wait"], **stage),
                await agent.code("PutStageMetadata", tokens["wait"], **stage, key="k", value="v"),
                await agent.code("ListStageCommands", tokens["wait"], **stage),
                await agent.code("GetDeploymentSharedMetadata", tokens["customsync"], **deployment, key="k"),
                await agent.code("PutDeploymentPluginMetadata", tokens["wait"], **mine, value="v"),
                await agent.code("PutApplicationSharedObject", tokens["scriptrun"], **object_of_another),
                await agent.code("DecryptSecret", tokens["customsync"], **deployment, secret="x"),
                await agent.code("InstallTool", "", name="x", version="1", install_script="true"),
            ]

    fine, unknown, denied = grpc.StatusCode.OK, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED
    assert found == [fine] * 3 + [unknown] * 2 + [denied] * 8 + [unknown]
    # The call that came twice is told of once.
    assert len([each for each in logs if each["event"] == "a call of a plugin was refused"]) == 10


async def test_a_tool_that_could_not_be_installed_is_not_taken_for_an_agent_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inside(tmp_path, monkeypatch) as agent:
        told = await agent.code("InstallTool", agent.tokens["wait"], name="x", version="1", install_script="exit 1")

    assert told is grpc.StatusCode.ABORTED


def test_a_token_is_one_plugins_and_nobodys_else() -> None:
    tokens = Tokens()
    one, other = tokens.issue("one"), tokens.issue("other")

    assert [tokens.plugin_of(each) for each in (one, other, one[:-1], "", "ö")] == ["one", "other", "", "", ""]
    assert tokens.issue("one") == one
