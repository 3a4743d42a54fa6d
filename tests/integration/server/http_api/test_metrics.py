"""How calls are counted that do not end by themselves."""

import asyncio
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from fairway.server.http_api.metrics import CountRpcs, Metrics


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(asyncio.CancelledError(), "CANCELLED", id="a caller that went away"),
        pytest.param(RuntimeError(), "UNKNOWN", id="a defect"),
    ],
)
async def test_a_call_that_breaks_off_is_counted(error: BaseException, code: str) -> None:
    async def fail(request: Any, context: Any) -> Any:
        raise error

    async def found(details: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(fail)

    metrics = Metrics()
    details: Any = SimpleNamespace(method="/service/Method")
    handler: Any = await CountRpcs(metrics).intercept_service(found, details)

    with pytest.raises(type(error)):
        await handler.unary_unary(b"", None)

    assert f'fairway_rpcs_total{{code="{code}",method="/service/Method"}} 1.0' in metrics.text().decode()
