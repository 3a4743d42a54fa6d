"""A server that does not want the lines of a log: the work that they tell of is done all the same."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
from grpc import aio

from fairway.model.deployment import DeploymentStatus
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script
from tests.integration.git.repositories import an_origin


class WantsNoLogs(aio.ServerInterceptor):
    """Refuses logs for good, as PipeCD's server does when it is told the end of one a second time."""

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        if "ReportStageLogs" in details.method:
            return grpc.unary_unary_rpc_method_handler(refuse)
        return await continuation(details)


async def refuse(_request: bytes, context: aio.ServicerContext[bytes, bytes]) -> bytes:
    await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the stage was already completed")


async def test_a_stage_whose_log_is_refused_has_done_its_work(tmp_path: Path) -> None:
    file = an_application_file(script("echo said"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        port = int(world.address.rpartition(":")[2])
        await world.stop_serving()
        await world.serve(port, WantsNoLogs())
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.stages
