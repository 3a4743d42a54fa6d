"""Under an agent that can end a stage only by breaking off its call: the stage ends, and its log with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from grpc import aio

from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.rpc.plugin_api import host_messages as h
from fairway.rpc.plugin_api import register_host_service
from fairway.sdk.agent_double import AgentDouble
from fairway.sdk.plugin import PluginSettings
from fairway.sdk.serve import Host, Served, serving
from fairway.sdk.testing import PluginUnderTest
from tests.integration.agent.running import until


class ForeignAgent(AgentDouble):
    """Writes down which logs are complete, and what it was told by calls of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.complete: set[str] = set()
        self.noted: dict[str, dict[str, str]] = {}

    async def PutStageMetadataMulti(
        self, request: h.PutStageMetadataMultiRequest, context: CallContext
    ) -> h.PutStageMetadataMultiResponse:
        self.noted[request.stage_id] = dict(request.metadata)
        return await super().PutStageMetadataMulti(request, context)

    async def ReportStageLogsFromLastCheckpoint(
        self, request: h.ReportStageLogsFromLastCheckpointRequest, context: CallContext
    ) -> h.ReportStageLogsFromLastCheckpointResponse:
        self.complete |= {request.stage_id} if request.completed else set()
        return await super().ReportStageLogsFromLastCheckpoint(request, context)


@asynccontextmanager
async def a_script_plugin(tmp_path: Path) -> AsyncIterator[tuple[ForeignAgent, PluginUnderTest]]:
    """Under an agent that ends stages by breaking off the call."""
    agent, server = ForeignAgent(), aio.server(options=SERVER_OPTIONS)
    register_host_service(agent, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    settings = PluginSettings(name="scriptrun", state=tmp_path / "state")
    host = Host(address=f"127.0.0.1:{port}", stops_stages=False)
    try:
        async with (
            serving([Served(ScriptRun(settings), "127.0.0.1:0")], host) as (served,),
            aio.insecure_channel(f"127.0.0.1:{served}", options=CHANNEL_OPTIONS) as channel,
        ):
            yield agent, PluginUnderTest(agent, channel, tmp_path, settings)
    finally:
        await server.stop(None)


async def test_how_a_script_ended_is_kept_by_any_agent(tmp_path: Path) -> None:
    async with a_script_plugin(tmp_path) as (agent, plugin):
        await plugin.run("SCRIPT_RUN", {"run": "exit 3"}, id="s")

    assert agent.noted["s"]["fairway/exit-status"] == "3"


async def test_a_call_that_breaks_off_ends_the_script_and_its_log(tmp_path: Path) -> None:
    async with a_script_plugin(tmp_path) as (agent, plugin):

        async def begun() -> bool:
            return agent.logs.get("s") == ["begun"]

        async def ended() -> bool:
            return agent.complete == {"s"}

        running = asyncio.create_task(plugin.run("SCRIPT_RUN", {"run": "echo begun; sleep 1000"}, id="s"))
        await until(begun)
        running.cancel()
        await until(ended)

    assert agent.logs["s"][1].startswith("Stopped: ended by signal 15 (SIGTERM) after ")
