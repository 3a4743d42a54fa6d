"""A stage of the platform that is given up leaves nothing at work that could spoil the next one's."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairway.config.platforms import ProcessSpec
from fairway.plugins.process import plugin as module
from fairway.plugins.process.plugin import Process
from fairway.plugins.process.records import Wanted
from fairway.sdk import Files, PluginSettings

Work = Callable[[Process, Any, Files], Coroutine[Any, Any, Any]]
SPEC = ProcessSpec(command=("serve",), port=8080)


@pytest.mark.parametrize(
    ("step", "work"),
    [
        pytest.param("save", lambda plugin, run, _files: plugin._make(run, Wanted(), SPEC), id="while it wishes"),
        pytest.param("keep_release", lambda plugin, run, files: plugin._kept(run, files, SPEC), id="while it copies"),
    ],
)
async def test_a_stage_has_ended_when_its_thread_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, work: Work
) -> None:
    at_it, go, real = threading.Event(), threading.Event(), getattr(module, step)

    def slowly(*arguments: Any) -> None:
        at_it.set()
        go.wait()
        real(*arguments)

    monkeypatch.setattr(module, step, slowly)
    run = SimpleNamespace(
        deployment=SimpleNamespace(application_id="a-1"), log=SimpleNamespace(info=lambda _text: None)
    )
    files = Files(
        application_directory=tmp_path, commit="c1", config_text=b"", config_filename="", shared_directory=tmp_path
    )
    working = asyncio.create_task(work(Process(PluginSettings(name="process", state=tmp_path / "state")), run, files))
    await asyncio.to_thread(at_it.wait)
    working.cancel()
    for _ in range(10):
        await asyncio.sleep(0)  # whoever hears of it has done so now
    ended_before = working.done()
    go.set()
    await asyncio.gather(working, return_exceptions=True)

    assert (ended_before, working.cancelled()) == (False, True)
