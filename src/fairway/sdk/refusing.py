"""How a plugin refuses a call: a broken request, an error raised on purpose, an error of the plugin itself."""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import structlog
from google.protobuf.message import Message
from grpc import aio

from fairway.errors import FairwayError
from fairway.model.limits import cut
from fairway.rpc.context import CallContext
from fairway.rpc.convert.wire_enum import WireError
from fairway.rpc.rules.violations import violations

_log = structlog.get_logger()

#: The most that a message says. gRPC takes 8 KiB of trailers, and each byte may need three.
_MOST_CHARACTERS = 600


def code_of(error: FairwayError) -> grpc.StatusCode:
    """UNAVAILABLE for what may be otherwise later: an agent asks again. Anything else is final."""
    if isinstance(error, WireError):
        return grpc.StatusCode.INVALID_ARGUMENT
    return grpc.StatusCode.UNAVAILABLE if error.retry else grpc.StatusCode.FAILED_PRECONDITION


class Checked:
    """A servicer whose requests are checked before it answers, as PipeCD's plugins check theirs.

    A request that breaks the rules of its fields gets INVALID_ARGUMENT. An error of the plugin gets INTERNAL, and its
    log says where.
    """

    def __init__(self, servicer: object, plugin: str) -> None:
        self._servicer = servicer
        self._plugin = plugin

    def __getattr__(self, method: str) -> Callable[[Message, CallContext], Awaitable[Message]]:
        behaviour: Any = getattr(self._servicer, method)

        async def answer(request: Message, context: CallContext) -> Message:
            if found := violations(request):
                await self._refuse(context, method, "; ".join(found))
            try:
                reply: Message = await behaviour(request, context)
            except aio.AbortError:
                raise
            except FairwayError as error:
                await context.abort(code_of(error), cut(str(error), _MOST_CHARACTERS))
            except Exception as error:
                _log.exception("internal error of a plugin", plugin=self._plugin, call=method)
                name = type(error).__name__
                message = f"internal error of plugin {self._plugin} ({name}); the log of the plugin says where"
                await context.abort(grpc.StatusCode.INTERNAL, message)
            return reply

        return answer

    async def _refuse(self, context: CallContext, method: str, reason: str) -> None:
        reason = cut(reason, _MOST_CHARACTERS)
        _log.error("request refused", plugin=self._plugin, call=method, reason=reason)
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, reason)
