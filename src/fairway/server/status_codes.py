"""Which gRPC status an error becomes: one table for every service, so that no two calls disagree.

Services raise errors in our own words and leave the number to this file. The message of a `FairwayError` is
written for whoever made the call and is sent as it is. Anything else is a defect of ours: its text may hold
what the caller must not see, so the caller gets a plain sentence and the log gets the name of the error.
"""

from typing import NoReturn

import grpc
import structlog
from google.protobuf.message import Message
from grpc import aio

from fairway.errors import FairwayError, TemporaryError, UserError
from fairway.model.deployment import UnknownStage
from fairway.model.transitions import InvalidTransition
from fairway.rpc.context import CallContext
from fairway.rpc.details import clipped
from fairway.rpc.rules.violations import violations
from fairway.server.store.errors import AlreadyExists, NotFound, UnusableDatabase

_log = structlog.get_logger()


class BadCredentials(UserError):
    """Nobody we know: the key is missing, unknown, wrong or disabled."""


class Forbidden(UserError):
    """Somebody we know, who may not do this."""


class InvalidRequest(UserError):
    """A request that breaks the rules of its own fields."""


class NotNow(UserError):
    """A request that is in order, but not in the state that things are in."""

    #: What a program is told beside the status.
    trailing_metadata: tuple[tuple[str, str], ...] = ()


class TooManyRequests(TemporaryError):
    """Somebody who asks too often."""

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


#: The first row whose type fits counts, so the special ones stand before the general ones.
STATUS_CODES: tuple[tuple[type[FairwayError], grpc.StatusCode], ...] = (
    (BadCredentials, grpc.StatusCode.UNAUTHENTICATED),
    (Forbidden, grpc.StatusCode.PERMISSION_DENIED),
    (NotFound, grpc.StatusCode.NOT_FOUND),
    (UnknownStage, grpc.StatusCode.NOT_FOUND),
    (AlreadyExists, grpc.StatusCode.ALREADY_EXISTS),
    (InvalidTransition, grpc.StatusCode.FAILED_PRECONDITION),
    (NotNow, grpc.StatusCode.FAILED_PRECONDITION),
    # Raised as the operator's fault, but the caller of a call is not the operator.
    (UnusableDatabase, grpc.StatusCode.DATA_LOSS),
    (UserError, grpc.StatusCode.INVALID_ARGUMENT),
    (TooManyRequests, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (TemporaryError, grpc.StatusCode.UNAVAILABLE),
)


def status_code(error: Exception) -> grpc.StatusCode:
    """The status that stands for the error; INTERNAL for one that nobody raised on purpose."""
    return next((code for kind, code in STATUS_CODES if isinstance(error, kind)), grpc.StatusCode.INTERNAL)


async def abort_for(error: Exception, context: CallContext) -> NoReturn:
    """End the call with the status and the words that the error stands for."""
    if isinstance(error, aio.AbortError):
        raise error
    code = status_code(error)
    message = str(error)
    if code is grpc.StatusCode.INTERNAL:
        _log.error("call failed by a defect", error=type(error).__name__, exc_info=_without_text(error))
        message = "the server failed on this call by a defect of its own; its log says where"
    await context.abort(code, clipped(message), error.trailing_metadata if isinstance(error, NotNow) else ())


def refuse_broken_rules(request: Message) -> None:
    """Raise InvalidRequest with everything that is wrong with the request."""
    if found := violations(request):
        raise InvalidRequest("; ".join(found))


def _without_text(error: Exception) -> BaseException:
    """The same place in the code under the error's name only: its text may quote a key or a secret."""
    return RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
