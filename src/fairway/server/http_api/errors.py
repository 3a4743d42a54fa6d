"""What a request is told when it cannot be answered: a status, a word for programs and a sentence for people.

Which error means what is the table of `status_codes`, the same as for gRPC; here it only gets HTTP's numbers. What
Litestar finds wrong by itself (no such path, a parameter that is no number) is put into the same shape. As there, the
text of an error that nobody raised on purpose stays in the server.
"""

from typing import Any

import grpc
import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi.datastructures import ResponseSpec

from fairway.server.http_api.body import MOST_BYTES, WrongMediaType
from fairway.server.http_api.methods import allowed
from fairway.server.status_codes import InvalidRequest, TooManyRequests, status_code

_log = structlog.get_logger()

#: What is not here is 500.
_NUMBERS = {
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNAVAILABLE: 503,
}
#: How Litestar says that the caller left before the body was whole, which it takes for a defect of the server.
_LEFT = "client disconnected prematurely"
_INTERNAL = "the server failed on this request by a defect of its own; its log says where"


class Problem(msgspec.Struct, frozen=True):
    """What went wrong."""

    #: A word that never changes.
    code: str
    #: What was found, what was expected, what to do.
    message: str


class ErrorAnswer(msgspec.Struct, frozen=True):
    """The answer to a request that cannot be answered."""

    error: Problem


def _told(description: str) -> ResponseSpec:
    return ResponseSpec(ErrorAnswer, description=description)


#: How each route under /api/v1 may refuse, for the document.
REFUSALS = {
    400: _told("A parameter that is not understood."),
    401: _told("No valid API key, and no session."),
    403: _told("Something that the caller's roles do not allow, or of another project."),
    404: _told("Nothing has this id."),
    429: _told("Too many answers to this caller are on their way; Retry-After says when to try again."),
    503: _told("The store does not answer now; try again."),
}
#: The same for those that change something.
CHANGE_REFUSALS = REFUSALS | {
    400: _told("A parameter, or a field of the body, that is not understood."),
    409: _told("Not in the state that things are in; the message says why."),
    413: _told("A body that is too long."),
    415: _told("A body that is no JSON."),
    429: _told("Too much is being sent, or answered, at once; Retry-After says when to try again."),
}


def answer_error(_: Request[Any, Any, Any], error: Exception) -> Response[ErrorAnswer]:
    """The answer that an error of ours, or a defect, stands for."""
    if isinstance(error, WrongMediaType):
        return _answer(415, "unsupported_media_type", str(error))
    code = status_code(error)
    number = _NUMBERS.get(code, 500)
    message = str(error)
    if code is grpc.StatusCode.INTERNAL:
        # Under the error's name only: its text may quote a key or a secret.
        place = RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
        _log.error("request failed by a defect", error=type(error).__name__, exc_info=place)
        message = _INTERNAL
    headers = {"www-authenticate": "Bearer"} if number == 401 else {}
    if isinstance(error, TooManyRequests):
        headers["retry-after"] = str(error.retry_after_seconds)
    return _answer(number, code.name.lower(), message, headers)


def answer_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[ErrorAnswer]:
    """The answer to what Litestar refuses by itself."""
    match error.status_code:
        case 404:
            message = f"there is nothing at {request.url.path}; /api/v1/openapi.json lists what there is"
            return _answer(404, "not_found", message)
        case 405:
            taken = allowed((error.headers or {}).get("allow", "").split(","))
            named = " or ".join(method for method in taken if method not in ("HEAD", "OPTIONS"))
            message = f"{request.url.path} does not take {request.method}; expected {named}"
            return _answer(405, "method_not_allowed", message, {"allow": ", ".join(taken)})
        case 413:
            message = f"the body is too long; expected at most {MOST_BYTES} bytes"
            return _answer(413, "body_too_long", message)
        case 400 if isinstance(error, ValidationException):
            return answer_error(request, InvalidRequest(_what_is_wrong(request, error)))
        case 400:
            return answer_error(request, InvalidRequest("the request cannot be read; check its path and parameters"))
        case 500 if error.detail == _LEFT:
            return _answer(400, "incomplete", "the request ended before its body did")
    return answer_error(request, error)


def _what_is_wrong(request: Request[Any, Any, Any], error: ValidationException) -> str:
    """Each parameter that was refused: its name, what was found, what was expected."""
    found = [each for each in error.extra or [] if isinstance(each, dict)]
    said = [
        f"{each.get('key', '')} is {request.query_params.get(each.get('key', ''), '')!r}; {each['message'].lower()}"
        for each in found
    ]
    return ", ".join(said) or "the parameters of the request cannot be read; check them"


def _answer(number: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response[ErrorAnswer]:
    return Response(ErrorAnswer(Problem(code, message)), status_code=number, headers=headers)
