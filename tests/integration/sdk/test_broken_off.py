"""Under an agent that can end a stage only by breaking off its call: the stage ends, and its log with it."""

import asyncio
from pathlib import Path

from grpc import aio

from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.rpc.plugin_api import host_messages as h
from fairway.rpc.plugin_api import register_host_service
from fairway.sdk.plugin import PluginSettings
from fairway.sdk.serve import Host, Served, serving
from fairway.sdk.testing import AgentDouble, PluginUnderTest
from tests.integration.agent.running import until


class ForeignAgent(AgentDouble):
    """Writes down which logs are complete."""

    def __init__(self) -> None:
        super().__init__()
        self.complete: set[str] = set()

    async def ReportStageLogsFromLastCheckpoint(
        self, request: h.ReportStageLogsFromLastCheckpointRequest, context: CallContext
    ) -> h.ReportStageLogsFromLastCheckpointResponse:
        self.complete |= {request.stage_id} if request.completed else set()
        return await super().ReportStageLogsFromLastCheckpoint(request, context)


async def test_a_call_that_breaks_off_ends_the_script_and_its_log(tmp_path: Path) -> None:
    agent, server = ForeignAgent(), aio.server(options=SERVER_OPTIONS)
    register_host_service(agent, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    settings = PluginSettings(name="scriptrun", state=tmp_path / "state")
    host = Host(address=f"127.0.0.1:{port}", stops_stages=False)

    async def begun() -> bool:
        return agent.logs.get("s") == ["begun"]

    async def ended() -> bool:
        return agent.complete == {"s"}

    try:
        async with (
            serving([Served(ScriptRun(settings), "127.0.0.1:0")], host) as (served,),
            aio.insecure_channel(f"127.0.0.1:{served}", options=CHANNEL_OPTIONS) as channel,
        ):
            plugin = PluginUnderTest(agent, channel, tmp_path, settings)
            running = asyncio.create_task(plugin.run("SCRIPT_RUN", {"run": "echo begun; sleep 1000"}, id="s"))
            await until(begun)
            running.cancel()
            await until(ended)
    finally:
        await server.stop(None)

    assert agent.logs["s"][1].startswith("Stopped: ended by signal 15 (SIGTERM) after ")
