"""What machines ask: is the process up, can it work, what are its numbers. Nobody shows a key for that.

So nothing of what the server keeps is told here. Why the store does not answer goes to the log: the reason may name
hosts and users.
"""

import asyncio
from typing import Any

import structlog
from litestar import MediaType, Request, Response, get
from litestar.openapi.datastructures import ResponseSpec
from prometheus_client import CONTENT_TYPE_LATEST

from fairway.errors import FairwayError, TemporaryError
from fairway.server.http_api.desk import desk_of
from fairway.server.http_api.errors import ErrorAnswer

#: A store that takes longer is of no use to anybody who waits.
_PATIENCE_SECONDS = 5.0
#: What Prometheus knows its format by; Litestar says the charset of a text itself.
_NUMBERS = CONTENT_TYPE_LATEST.removesuffix("; charset=utf-8")

_log = structlog.get_logger()


class NotReady(TemporaryError):
    """The server is up but cannot work now."""


@get("/healthz", media_type=MediaType.TEXT, summary="Is the process up?", tags=["probes"])
async def healthz() -> str:
    """Always "ok": whoever can answer is up."""
    return "ok"


@get(
    "/readyz",
    media_type=MediaType.TEXT,
    summary="Can the server work?",
    tags=["probes"],
    responses={503: ResponseSpec(ErrorAnswer, description="It cannot now; the message says why.")},
)
async def readyz(request: Request[Any, Any, Any]) -> str:
    """ "ok" once the store has answered a read and a write."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await desk_of(request).store.check()
    except TimeoutError as error:
        raise NotReady(f"the store did not answer within {_PATIENCE_SECONDS:g} seconds; try again") from error
    except FairwayError as error:
        _log.warning("the server is not ready", reason=str(error))
        raise NotReady("the store cannot be read or written now; the server's log says why") from error
    return "ok"


@get("/metrics", summary="The server's numbers for Prometheus.", tags=["probes"], media_type=_NUMBERS)
async def metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Build, process, and gRPC calls by method and status code."""
    return Response(desk_of(request).metrics.text(), media_type=_NUMBERS)
