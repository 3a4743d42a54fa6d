"""Plugins that misbehave: each is told of in words, and tried again."""

import asyncio
import errno
import itertools
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partialmethod
from pathlib import Path

import pytest

from fairway.agent.plugins.client import PluginRefused
from fairway.agent.plugins.door import Door
from fairway.agent.plugins.identity import Identity, memory_of
from fairway.agent.plugins.keeper import Keeper, Patience
from fairway.agent.plugins.output import NO_MASK, Output
from fairway.agent.plugins.program import Executable
from fairway.agent.plugins.stage_memory import StageMemory
from fairway.config.agent import PluginConfig
from fairway.git.retry import Retry
from tests.integration.agent.running import until
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

#: The beginning of every program here: where it was told to listen.
LISTENING = """
import json, socket, sys, threading, time
port = json.loads(sys.argv[sys.argv.index("--config") + 1])["port"]
def listen(answer):
    line = socket.create_server(("127.0.0.1", port))
    def serve():
        while True:
            answer(line.accept()[0])
    threading.Thread(target=serve).start()
"""
#: A gRPC server whose answers are not what they should be; once `asked` times they are right.
WRONG = """
import asyncio, grpc
from grpc import aio
from fairway.rpc.plugin_api import deployment_messages as m
right = {right}
class Any(grpc.GenericRpcHandler):
    def service(self, details):
        async def answer(request, context):
            global right
            if details.method.endswith("FetchDefinedStages") and right > 0:
                right -= 1
                return m.FetchDefinedStagesResponse(stages=["WRONG"]).SerializeToString()
            if details.method.endswith("Stop"):
                await context.abort(grpc.StatusCode.UNIMPLEMENTED, "")
            return b"\\xff\\xff garbage"
        return grpc.unary_unary_rpc_method_handler(answer)
async def serve():
    server = aio.server(); server.add_generic_rpc_handlers([Any()])
    server.add_insecure_port(f"127.0.0.1:{{port}}"); await server.start(); await server.wait_for_termination()
asyncio.run(serve())
"""


def a_program(folder: Path, code: str) -> Callable[[], Awaitable[Path]]:
    """A program of some lines of Python, or of a shell when they begin with #!."""
    (folder / "code.py").write_text(LISTENING + code)
    path = folder / "made"
    path.write_text(code if code.startswith("#!") else f'#!/bin/sh\nexec {sys.executable} {folder}/code.py "$@"\n')
    path.chmod(0o755)
    return lambda: asyncio.sleep(0, path)


@asynccontextmanager
async def kept(
    folder: Path,
    code: str,
    ready: float = PATIENCE_SECONDS,
    started: list[Identity] | None = None,
    port: int = 0,
    answer: float = PATIENCE_SECONDS,
    restart: Retry = Retry(first_delay=0.05, longest_delay=0.1),
) -> AsyncIterator[Keeper]:
    """A keeper of that program, after its first start."""
    patience = Patience(ping=0.05, answer=answer, misses=2, ready=ready, restart=restart)

    def note(_name: str, process: Identity | None) -> None:
        if process is not None and started is not None:
            started.append(process)

    async with Door.open("bad", folder / "door") as door:
        program = Executable(PluginConfig(name="bad", url="/bad", port=port), NO_MASK, a_program(folder, code), door)
        keeper = Keeper(program, patience, note, StageMemory(folder / "stages.json"))
        running = asyncio.create_task(keeper.run())
        try:
            await keeper.tried.wait()
            yield keeper
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await keeper.close()


@pytest.mark.parametrize(
    ("code", "ready", "trouble", "last_words"),
    [
        pytest.param(
            "#!/bin/sh\necho 'no cluster' >&2; exit 7", PATIENCE_SECONDS, "ended with status 7", "no cluster", id="ends"
        ),
        pytest.param("#!/bin/sh\necho hm; sleep 99", 2.0, "did not answer on 127.0.0.1:", "hm", id="never ready"),
        pytest.param("listen(lambda line: time.sleep(99))", 2.0, "within 2s after its start", "", id="never answers"),
        pytest.param("listen(lambda line: line.sendall(b'HTTP/1.0 200'))", 2.0, "within 2s", "", id="no gRPC"),
        pytest.param(
            WRONG.format(right=0), PATIENCE_SECONDS, "answered FetchDefinedStages with something", "", id="garbage"
        ),
    ],
)
async def test_what_does_not_come_up_is_told_of_and_tried_again(
    tmp_path: Path, code: str, ready: float, trouble: str, last_words: str
) -> None:
    started: list[Identity] = []
    async with kept(tmp_path, code, ready, started, a_free_port()) as bad:
        first = bad.trouble

        async def said() -> bool:
            return bad.last_words == last_words

        # On a busy machine one that has little time is ended before it says a word; the next one says it.
        await until(said)
        (tmp_path / "made").write_text("#!/bin/sh\nexit 5\n")

        async def tried_again() -> bool:
            return "ended with status 5" in bad.trouble

        await until(tried_again)

    assert trouble in first
    assert not [each for each in started if each.is_alive]


async def test_a_plugin_that_takes_calls_and_never_answers_is_started_again(tmp_path: Path) -> None:
    # It answers while it is started: the question for its stages, and then no more.
    code = WRONG.format(right=1).replace('return b"', 'await asyncio.sleep(99); return b"')
    async with kept(tmp_path, code, answer=0.5, port=a_free_port()) as bad:
        first = bad.identity

        async def again() -> bool:
            return bad.restarts >= 1 and bad.identity != first and not bad.trouble

        await until(again)
        assert first is not None

    assert not first.is_alive


@pytest.mark.parametrize(
    ("lives", "pauses"),
    [
        pytest.param(1.0, [1.0, 2.0, 4.0, 5.0], id="soon after each start"),
        pytest.param(3600.0, [1.0, 1.0, 1.0, 1.0], id="after it was well for long"),
    ],
)
async def test_a_plugin_that_keeps_ending_is_started_again_later_each_time(
    tmp_path: Path, lives: float, pauses: list[float]
) -> None:
    paused: list[float] = []
    time = itertools.count(0.0, lives)

    async def pause(seconds: float) -> None:
        paused.append(seconds)

    restart = Retry(first_delay=1.0, longest_delay=5.0, sleep=pause, chance=lambda: 1.0, steady=lambda: next(time))
    # It answers while it is started, and ends when it is pinged.
    code = WRONG.format(right=1).replace('return b"', 'import os; os._exit(4); return b"')
    async with kept(tmp_path, code, port=a_free_port(), restart=restart):

        async def often() -> bool:
            return len(paused) >= len(pauses)

        await until(often)

    assert paused[: len(pauses)] == pauses


async def test_a_plugin_whose_answers_are_garbage_is_refused_not_retried(tmp_path: Path) -> None:
    async with kept(tmp_path, WRONG.format(right=10**6), port=a_free_port()) as bad:
        with pytest.raises(PluginRefused, match="answered BuildQuickSyncStages with something that is no"):
            await bad.client("bad").quick_sync_stages()

    assert (bad.restarts, bad.trouble) == (0, "")


async def test_somebody_else_who_answers_on_the_port_of_a_plugin_is_not_taken_for_it(tmp_path: Path) -> None:
    other, port = tmp_path / "other", a_free_port()
    other.mkdir()
    async with (
        kept(tmp_path, WRONG.format(right=10**6), port=port),
        kept(other, "#!/bin/sh\nsleep 99", port=port) as bad,
    ):
        trouble = bad.trouble

    assert "somebody else listens on port" in trouble
    assert "where plugin bad should (a process of user" in trouble


async def test_a_plugin_of_which_it_cannot_be_found_out_who_answers_is_ended_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_files(_program: Executable, _process: Identity) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    started: list[Identity] = []
    with monkeypatch.context() as patched:
        patched.setattr(Executable, "verify", out_of_files)
        async with kept(tmp_path, WRONG.format(right=10**6), started=started) as bad:
            trouble = bad.trouble

            async def tried_again() -> bool:
                return len(started) > 1

            await until(tried_again)

    assert "Too many open files" in trouble
    assert not [each for each in started if each.is_alive]


async def test_one_that_writes_megabytes_does_not_make_the_agent_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed_on = [0]

    def count(data: bytes) -> None:
        passed_on[0] += len(data)

    monkeypatch.setattr("fairway.agent.plugins.program.to_stderr", count)
    # Nobody keeps its output open, so all of it is there to be read, on a busy machine too.
    monkeypatch.setattr(Output, "close", partialmethod(Output.close, PATIENCE_SECONDS))
    before = memory_of(os.getpid())
    async with kept(tmp_path, "sys.stderr.write('x' * 50_000_000 + '\\nthe end'); sys.exit(3)") as bad:
        assert bad.last_words == "the end"

    assert passed_on[0] >= 50_000_000
    assert memory_of(os.getpid()) - before < 20_000_000
