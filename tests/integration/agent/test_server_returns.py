"""A server that is back but has not heard everything yet lists deployments as open that have ended: they stay ended."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from fairway.model.deployment import DeploymentStatus
from fairway.server.hints import HintTopic
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

_NEWS = {"ReportStageStatusChanged", "ReportDeploymentStatusChanged", "ReportDeploymentCompleted"}


class HalfDeaf(aio.ServerInterceptor):
    """Does not hear how a deployment goes, until it may."""

    def __init__(self) -> None:
        self.hears, self.listed = asyncio.Event(), asyncio.Event()

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        method = details.method.rpartition("/")[2]
        if method == "ListNotCompletedDeployments":
            self.listed.set()
        if method in _NEWS and not self.hears.is_set():
            return grpc.unary_unary_rpc_method_handler(_away)
        return await continuation(details)


async def _away(_request: bytes, context: Any) -> None:
    await context.abort(grpc.StatusCode.UNAVAILABLE, "not now")


async def test_what_has_ended_is_not_done_again_while_the_server_believes_it_is_open(tmp_path: Path) -> None:
    file, server = an_application_file(script(f"echo ran >> {tmp_path}/ran")), HalfDeaf()
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        port = int(world.address.rpartition(":")[2])
        await world.stop_serving()
        await world.serve(port, server)
        await world.add_application()
        async with an_agent_at_work(world):
            await until(lambda: let_go(world, tmp_path / "ran"))
            await lists_again(world, server)
            server.hears.set()
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert (tmp_path / "ran").read_text() == "ran\n"


async def lists_again(world: World, server: HalfDeaf) -> None:
    """Have the agent ask for open deployments, and look at what it was answered."""
    # When it asks a second time, it has looked at the first answer.
    for _ in range(2):
        server.listed.clear()
        world.hints.publish("agent-1", HintTopic.DEPLOYMENTS)
        await server.listed.wait()


async def let_go(world: World, ran: Path) -> bool:
    """Whether the script has run and the agent has removed what it kept for the deployment."""
    kept = world.data / "work" / "deployments"
    return await asyncio.to_thread(lambda: ran.exists() and not any(kept.iterdir()))
