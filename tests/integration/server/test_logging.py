"""The log of a process of its own, because a process has one."""

import json
import subprocess
import sys
from typing import Any

PROGRAM = """
import logging, sys, warnings
import structlog
from fairway.server.logging import LogFormat, LogLevel, set_up_logging

set_up_logging(sys.stderr, LogFormat(sys.argv[1]), LogLevel(sys.argv[2]))
log = structlog.get_logger()
log.debug("too small")
log.info("ours", application="shop", authorization="API-KEY first.hunter2hunter2")
logging.getLogger("uvicorn.error").warning("from %s", "uvicorn")
logging.getLogger("grpc").error("metadata authorization: Bearer hunter2hunter2")
warnings.warn("from Python")
try:
    password = "hunter2hunter2"
    raise ValueError("broken")
except ValueError:
    log.error("failed", exc_info=True)
    logging.getLogger("sqlalchemy.pool").exception("theirs failed")
"""

HUNG_UP = """
import logging, sys
from grpc._cython import cygrpc
from fairway.server.logging import LogFormat, LogLevel, set_up_logging

set_up_logging(sys.stderr, LogFormat(sys.argv[1]), LogLevel(sys.argv[2]))
for error in (cygrpc.ExecuteBatchError("Failed"), ValueError("broken")):
    try:
        raise error
    except Exception as raised:
        logging.getLogger(cygrpc.__name__).exception("%s raised by servicer method [/a/Method]", type(raised).__name__)
"""


def said(format: str, level: str = "info", program: str = PROGRAM) -> str:
    done = subprocess.run([sys.executable, "-c", program, format, level], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr


def without_varying(line: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(line)
    assert event.pop("time").endswith("Z")
    return event


def test_every_event_is_one_json_object_on_one_line() -> None:
    events = [without_varying(line) for line in said("json").splitlines()]

    assert events[:3] == [
        {"level": "info", "event": "ours", "application": "shop", "authorization": "…", "logger": "__main__"},
        {"level": "warning", "event": "from uvicorn", "logger": "uvicorn.error"},
        {"level": "error", "event": "metadata authorization: Bearer …", "logger": "grpc"},
    ]
    assert [event["logger"] for event in events[3:]] == ["py.warnings", "__main__", "sqlalchemy.pool"]
    assert all("ValueError: broken" in event["exception"] for event in events[4:])


def test_a_pipe_gets_json_without_being_told() -> None:
    assert all(line.startswith('{"time":') for line in said("auto").splitlines())


def test_people_get_lines_they_can_read() -> None:
    text = said("text")

    assert "ours" in text
    assert "application=shop" in text
    assert "ValueError: broken" in text
    assert "\x1b[" not in text


def test_no_secret_is_in_either() -> None:
    # The value of a local variable is no part of a traceback either; its line of code is.
    assert [text.replace('password = "hunter2', "").count("hunter2") for text in (said("json"), said("text"))] == [0, 0]


def test_the_level_says_what_is_written() -> None:
    assert "too small" in said("json", "debug")
    assert "too small" not in said("json")
    assert "ours" not in said("json", "warning")


def test_a_caller_who_hangs_up_on_a_call_is_one_line_without_a_traceback() -> None:
    events = [without_varying(line) for line in said("json", program=HUNG_UP).splitlines()]

    gone = "a caller hung up before it was answered: /a/Method"
    assert events[0] == {"level": "info", "event": gone, "logger": "grpc._cython.cygrpc"}
    assert [("Traceback" in event.get("exception", ""), event["level"]) for event in events[1:]] == [(True, "error")]
    assert "hung up" not in said("json", "warning", HUNG_UP)


OUT_OF_FILES = """
import asyncio, contextlib, resource, socket, sys
from fairway.server.logging import set_up_logging

set_up_logging(sys.stderr)
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

async def main():
    loop, failures, enough = asyncio.get_running_loop(), 0, asyncio.Event()

    def count(loop, context):
        nonlocal failures
        failures += 1
        loop.default_exception_handler(context)
        if failures >= 2000:
            enough.set()

    loop.set_exception_handler(count)
    server = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0, backlog=2048)
    held = []
    with contextlib.suppress(OSError):
        while True:
            # The server accepts none of them before there are no descriptors left.
            held.append(socket.create_connection(server.sockets[0].getsockname()))
    await enough.wait()

asyncio.run(main())
"""


def test_held_connections_at_a_low_limit_of_descriptors_do_not_flood_the_log() -> None:
    text = said("json", program=OUT_OF_FILES)

    assert "out of system resource" in text
    assert len(text) < 50_000
