"""What tests wait for, they wait for with one patience: a short limit of its own is what fails on a busy machine."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS

TESTS = Path(__file__).parents[1]
#: Without a limit named, httpx gives up after five seconds.
CLIENTS = {f"httpx.{name}" for name in ("AsyncClient", "Client", "get", "post", "put", "patch", "delete", "request")}
WAITING = {"Timer", "communicate", "join", "result", "run", "timeout", "urlopen", "wait", "wait_for"}
#: Whoever waits for less waits for what must not happen, or for the end of a limit that the test is about.
A_MOMENT = 2.0


def impatient(code: str) -> Iterator[str]:
    """Each call that gives up before everybody else would."""
    for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        if name in CLIENTS and "timeout" not in {each.arg for each in call.keywords}:
            yield f"line {call.lineno}: {name} without a timeout"
        given = [each.value for each in call.keywords if each.arg == "timeout"]
        given = given or (call.args[:1] if name == "threading.Timer" else call.args[-1:])
        waits = name in CLIENTS or name.rpartition(".")[2] in WAITING
        if waits and given and A_MOMENT < _number(given[0]) < PATIENCE_SECONDS:
            yield f"line {call.lineno}: {name} with a limit of {ast.unparse(given[0])} s"


def _number(value: ast.expr) -> float:
    is_one = isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
    return float(ast.literal_eval(value)) if is_one else 0.0


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("httpx.get(url)", ["line 1: httpx.get without a timeout"], id="a client without one"),
        pytest.param("process.wait(60)", ["line 1: process.wait with a limit of 60 s"], id="a short one"),
        pytest.param("run(it, timeout=9.5)", ["line 1: run with a limit of 9.5 s"], id="by name"),
        pytest.param("threading.Timer(9, end)", ["line 1: threading.Timer with a limit of 9 s"], id="a watchdog"),
        pytest.param("asyncio.wait_for(it, PATIENCE_SECONDS)", [], id="the common one"),
        pytest.param("asyncio.wait(it, timeout=0.1)", [], id="a moment"),
    ],
)
def test_what_is_impatient(code: str, found: list[str]) -> None:
    assert list(impatient(code)) == found


def test_no_test_gives_up_before_the_others() -> None:
    files = {path.relative_to(TESTS).as_posix(): path.read_text("utf-8") for path in sorted(TESTS.rglob("*.py"))}

    assert [f"{name}, {each}" for name, code in files.items() for each in impatient(code)] == []
