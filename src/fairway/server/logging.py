"""What the server says about itself while it runs: one event a line, for programs as JSON, for people as text.

Our own events and those of the libraries (uvicorn, gRPC, SQLAlchemy, asyncio, Python's warnings) take the same way, so
that one reader understands all of them. On that way everything passes `without_secrets`: no part of the server logs a
key on purpose, and what slips into a message of a library is hidden all the same. Tracebacks show code, never values.
"""

import enum
import logging
import re
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import msgspec
import structlog
from structlog.typing import Processor

from fairway.server.repeated_logs import RepeatedLines

#: What is shown where a secret was.
HIDDEN = "…"

_SECRET_NAMES = re.compile(
    r"(?i)(?:^|[_-])(?:authorization|cookie|password|passwd|secret|token|api[_-]?key|private[_-]?key|key)$"
)
#: Secrets as they stand in a text: after the name of a scheme, in a URL, in a header, and as we make them ourselves.
_HEADERS = r"(?:set-)?cookie|x-csrf-token|x-gitlab-token"
_SECRET_TEXTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)\b(bearer|basic|api-key|piped-token)(\s+)[^\s'\"]{8,}"), rf"\1\2{HIDDEN}"),
    (re.compile(rf"(?i)\b({_HEADERS})(['\"]?\s*[:=]\s*['\"]?)[^'\"\r\n]+"), rf"\1\2{HIDDEN}"),
    (re.compile(r"(\b[\w+.-]+://[^\s/@:]*):[^\s/@]+@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"(?i)\b(password|secret|token|api_key)=[^\s&'\"]+"), rf"\1={HIDDEN}"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]+"), HIDDEN),
    (re.compile(r"(/sign-in/link/)[^\s/?'\"]+"), rf"\1{HIDDEN}"),
)
#: How deep a value is looked into; nothing that is logged on purpose is deeper.
_DEEPEST = 6


class LogFormat(enum.Enum):
    """How an event is written."""

    #: JSON unless somebody looks at a terminal.
    AUTO = "auto"
    #: One JSON object a line.
    JSON = "json"
    #: For people.
    TEXT = "text"


class LogLevel(enum.Enum):
    """From which weight on events are written."""

    #: Also a line for each request and call.
    DEBUG = "debug"
    #: What happened that somebody may want to know.
    INFO = "info"
    #: What somebody should look at some day.
    WARNING = "warning"
    #: What somebody should look at now.
    ERROR = "error"


class _HungUp(logging.Filter):
    """Makes one quiet line of the traceback that gRPC writes when a caller has gone before the answer was sent."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written at all."""
        kind = record.exc_info[0] if record.exc_info else None
        if kind is None or kind.__name__ != "ExecuteBatchError":
            return True
        method = re.search(r"\[(.+)\]", record.getMessage())
        record.msg = f"a caller hung up before it was answered: {method[1] if method else 'unknown'}"
        record.args, record.exc_info, record.exc_text = None, None, None
        record.levelno, record.levelname = logging.INFO, "INFO"
        return logging.getLogger().isEnabledFor(logging.INFO)


_hung_up = _HungUp()


def set_up_logging(stream: TextIO, format: LogFormat = LogFormat.AUTO, level: LogLevel = LogLevel.INFO) -> None:
    """Send all events of this process to the stream."""
    on_terminal = stream.isatty()
    as_json = format is LogFormat.JSON or (format is LogFormat.AUTO and not on_terminal)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        without_secrets,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = logging.StreamHandler(stream)
    handler.addFilter(RepeatedLines())
    last = _one_json_object if as_json else _readable(colours=on_terminal)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove_meta, last]))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.value.upper())
    # Its own word at debug is a line for each part of a request, with its headers.
    for chatty in ("alembic", "httpx", "httpcore", "hpack", "asyncio", "urllib3"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    logging.getLogger("grpc._cython.cygrpc").addFilter(_hung_up)
    logging.captureWarnings(True)


def without_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The event with its secrets hidden: whole values by their name, and parts of texts by their form."""
    for name, value in event.items():
        if not name.startswith("_"):
            event[name] = _hidden(name, value, _DEEPEST)
    return event


def _hidden(name: str, value: Any, depth: int) -> Any:
    if _SECRET_NAMES.search(name) and value:
        return HIDDEN
    match value:
        case str():
            return _hidden_text(value)
        case bytes():
            return _hidden_text(value.decode(errors="replace"))
        case Mapping() if depth:
            return {str(key): _hidden(str(key), item, depth - 1) for key, item in value.items()}
        case (str() | bytes() as key, str() | bytes() as item) if depth:
            # A header, as ASGI and gRPC hand them round.
            pair = [part.decode(errors="replace") if isinstance(part, bytes) else part for part in (key, item)]
            return [pair[0], _hidden(pair[0], pair[1], depth - 1)]
        case list() | tuple() | set() | frozenset() if depth:
            return [_hidden("", item, depth - 1) for item in value]
        case bool() | int() | float() | None:
            return value
    return _hidden_text(str(value))


def _hidden_text(text: str) -> str:
    for pattern, shown in _SECRET_TEXTS:
        text = pattern.sub(shown, text)
    return text


def _one_json_object(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    first = {name: event.pop(name) for name in ("time", "level", "event") if name in event}
    return msgspec.json.encode({**first, **event}).decode()


def _readable(colours: bool) -> Processor:
    return structlog.dev.ConsoleRenderer(
        colors=colours, timestamp_key="time", exception_formatter=structlog.dev.plain_traceback, pad_event_to=0
    )
