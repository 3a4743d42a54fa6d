"""The plugin as PipeCD's own agent has it: started and asked as piped v1 does, which knows nothing of Fairway."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from grpc import aio

from fairway.config.agent_file import DeployTarget
from fairway.model.application import SyncStatus
from fairway.model.trigger import SyncStrategy
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.trigger import SYNC_STRATEGIES
from fairway.rpc.plugin_api import DeploymentStub, register_host_service
from fairway.rpc.plugin_api import common_messages as common
from fairway.rpc.plugin_api import deployment_messages as m
from fairway.sdk.agent_double import AgentDouble
from fairway.sdk.plugin import PluginSettings
from fairway.sdk.testing import PluginUnderTest
from tests.cluster.kubernetes_applications import (
    Application,
    a_config_map,
    a_deployment,
    kubeconfig_for,
    while_running,
)
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port
from tests.unit.model import builders

PIPELINE = ("K8S_CANARY_ROLLOUT", "K8S_PRIMARY_ROLLOUT", "K8S_CANARY_CLEAN")


class Piped:
    """What piped v1 asks a plugin before it runs stages."""

    def __init__(self, web: Application, channel: aio.Channel) -> None:
        self.web = web
        self._asks = DeploymentStub(channel)

    async def stages(self) -> set[str]:
        """The names of the stages that the plugin has."""
        return set((await self._asks.FetchDefinedStages(m.FetchDefinedStagesRequest())).stages)

    async def decides(self) -> tuple[list[str], SyncStrategy]:
        """The versions that the files bring, and how they are to be deployed."""
        plugin = self.web.plugin
        asked = m.PlanPluginInput(
            deployment=to_wire_deployment(builders.a_deployment(application_id=plugin.application_id)),
            target_deployment_source=self._source(plugin.folder, plugin.commit),
            running_deployment_source=self._source(plugin.running, plugin.running_commit) if plugin.running else None,
        )
        versions = await self._asks.DetermineVersions(m.DetermineVersionsRequest(input=asked))
        strategy = await self._asks.DetermineStrategy(m.DetermineStrategyRequest(input=asked))
        return [each.version for each in versions.versions], SYNC_STRATEGIES.from_wire(strategy.sync_strategy)

    async def plans(self, *names: str) -> list[str]:
        """The stages of a quick sync, or of a pipeline, with its rollback."""
        if not names:
            quick = await self._asks.BuildQuickSyncStages(m.BuildQuickSyncStagesRequest(rollback=True))
            return [each.name for each in quick.stages]
        wanted = [
            m.BuildPipelineSyncStagesRequest.StageConfig(name=name, index=index, config=b"{}")
            for index, name in enumerate(names)
        ]
        request = m.BuildPipelineSyncStagesRequest(rollback=True, stages=wanted)
        return [each.name for each in (await self._asks.BuildPipelineSyncStages(request)).stages]

    def _source(self, folder: Path, commit: str) -> common.DeploymentSource:
        file = folder / "app.pipecd.yaml"
        return common.DeploymentSource(
            application_directory=str(folder),
            commit_hash=commit,
            application_config=file.read_bytes(),
            application_config_filename=file.name,
            shared_config_directory=str(folder / ".pipe"),
        )


@asynccontextmanager
async def piped(cluster: RunningCluster, namespace: str, folder: Path) -> AsyncIterator[Piped]:
    """The plugin as a program that piped has started; it ends as piped ends it."""
    agent, server, port = AgentDouble(), aio.server(options=SERVER_OPTIONS), a_free_port()
    # Nothing but what PipeCD's agent serves.
    register_host_service(agent, server)
    host = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    target = {"name": "test", "config": {"kubeConfigPath": str(kubeconfig_for(cluster.kubeconfig, namespace, folder))}}
    entry: dict[str, Any] = {"name": "kubernetes", "url": "file:///plugin", "port": port, "deployTargets": [target]}
    arguments = ("start", f"--piped-plugin-service=localhost:{host}", f"--config={msgspec.json.encode(entry).decode()}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fairway.cli", "plugin", "kubernetes", *arguments),
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
    )
    try:
        async with aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await channel.channel_ready()
            (folder / "application").mkdir()
            settings = PluginSettings(name="kubernetes", targets=(DeployTarget(name="test"),), state=folder)
            plugin = PluginUnderTest(agent, channel, folder / "application", settings)
            plugin.application_id = f"app-{namespace}"
            yield Piped(Application(plugin, cluster, namespace, folder), channel)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await server.stop(None)


async def test_pipecds_agent_deploys_with_it(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with piped(cluster, namespace, tmp_path) as agent:
        web = agent.web
        web.commit(a_deployment(), a_config_map(a="1"))
        assert await agent.stages() >= {"K8S_SYNC", "K8S_ROLLBACK", *PIPELINE}
        assert await agent.plans() == ["K8S_SYNC", "K8S_ROLLBACK"]
        await web.succeed("K8S_SYNC")
        web.deployed()

        web.commit(a_deployment(image="web:2"), a_config_map(a="1"))
        decided = await agent.decides()
        for name in PIPELINE:
            await web.succeed(name)

        async def synced() -> bool:
            return (await web.plugin.live_state())[1].status is SyncStatus.SYNCED

        assert decided == (["2"], SyncStrategy.PIPELINE)
        assert await agent.plans(*PIPELINE) == [*PIPELINE, "K8S_ROLLBACK"]
        assert web.names("deployment") == ["web"]
        assert await until(synced)


async def test_what_pipecds_agent_breaks_off_is_rolled_back(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with piped(cluster, namespace, tmp_path) as agent:
        web = agent.web
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="broken:2"))

        async with while_running(web, "K8S_CANARY_ROLLOUT", "ImagePullBackOff"):
            """Whoever leaves breaks the call off."""
        ended = await web.succeed("K8S_ROLLBACK")

        assert web.names("deployment") == ["web"]
    assert f"Deployment {namespace}/web-canary: removed" in "\n".join(ended.log)
