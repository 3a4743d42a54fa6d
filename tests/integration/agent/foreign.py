"""A plugin of another maker: an executable that knows what PipeCD's plugins know, and nothing of Fairway's own.

`a_foreign_plugin` writes the executable; run as a script this is what it does.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from fairway.rpc.plugin_api import (
    DeploymentServicer,
    HostStub,
    deployment_messages,
    host_messages,
    register_deployment_service,
)


def a_foreign_plugin(folder: Path, name: str = "foreign") -> Path:
    """An executable, as somebody else would have built it."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} "$@"\n')
    path.chmod(0o755)
    return path


class Foreign(DeploymentServicer):
    """Has the stages FOREIGN_RUN and FOREIGN_ROLLBACK, and writes down what it is asked for."""

    def __init__(self, config: Mapping[str, Any], agent: HostStub) -> None:
        self._run = config["config"].get("run", "FOREIGN_RUN")
        self._diary = Path(config["config"]["diary"])
        #: It plans nothing before that file is there.
        self._plans_when = Path(config["config"]["plansWhen"]) if "plansWhen" in config["config"] else None
        self._agent = agent

    async def FetchDefinedStages(self, _request: Any, _context: Any) -> Any:
        return deployment_messages.FetchDefinedStagesResponse(stages=[self._run, "FOREIGN_ROLLBACK"])

    async def DetermineVersions(self, _request: Any, _context: Any) -> Any:
        return deployment_messages.DetermineVersionsResponse()

    async def DetermineStrategy(self, _request: Any, _context: Any) -> Any:
        return deployment_messages.DetermineStrategyResponse(unsupported=True)

    async def BuildQuickSyncStages(self, _request: Any, _context: Any) -> Any:
        return deployment_messages.BuildQuickSyncStagesResponse()

    async def BuildPipelineSyncStages(self, request: Any, _context: Any) -> Any:
        if self._plans_when is not None:
            self._note("planning")
            while not await asyncio.to_thread(self._plans_when.exists):  # noqa: ASYNC110  # a file
                await asyncio.sleep(0.02)
        answer = deployment_messages.BuildPipelineSyncStagesResponse()
        for each in request.stages:
            answer.stages.add(name=each.name, index=each.index)
        first = min(each.index for each in request.stages)
        answer.stages.add(name="FOREIGN_ROLLBACK", index=first, rollback=True)
        return answer

    async def ExecuteStage(self, request: Any, context: Any) -> Any:
        stage = request.input.stage
        options = json.loads(request.input.stage_config or b"{}")
        if unknown := options.keys() - {"until"}:
            # As strict as a plugin can be.
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"unknown options {sorted(unknown)}")
        self._note(f"{stage.name} {os.getpid()}")
        block = {
            "log": f"{stage.name} of {request.input.deployment.application_name}",
            "index": 1,
            "created_at": int(time.time()),
        }
        await self._agent.ReportStageLogsFromLastCheckpoint(
            host_messages.ReportStageLogsFromLastCheckpointRequest(
                deployment_id=request.input.deployment.id, stage_id=stage.id, blocks=[block], completed=True
            )
        )
        if not stage.rollback and "until" in options:
            child = await asyncio.create_subprocess_exec("sleep", "1000")
            self._note(f"child {child.pid}")
            try:
                while not await asyncio.to_thread(Path(options["until"]).exists):  # noqa: ASYNC110  # a file
                    await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                self._note("broken off")
                raise
            finally:
                child.kill()
        return deployment_messages.ExecuteStageResponse(status="STAGE_SUCCESS")

    def _note(self, line: str) -> None:
        with self._diary.open("a") as diary:
            diary.write(f"{line}\n")


async def _serve(agent: str, config: dict[str, Any]) -> None:
    if told_at := config["config"].get("address"):
        await asyncio.to_thread(Path(told_at).write_text, agent)
    channel, server = aio.insecure_channel(agent), aio.server()
    register_deployment_service(Foreign(config, HostStub(channel)), server)
    server.add_insecure_port(f"127.0.0.1:{config['port']}")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["start"])
    parser.add_argument("--piped-plugin-service", required=True)
    parser.add_argument("--config", required=True)
    told = parser.parse_args()
    asyncio.run(_serve(told.piped_plugin_service, json.loads(told.config)))
