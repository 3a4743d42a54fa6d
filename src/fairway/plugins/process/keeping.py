"""The plugin's side of a keeper: starts one where there is none, and tells it when its wishes have changed."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

from fairway.interpreter import python_module
from fairway.plugins.process.identity import is_alive
from fairway.plugins.process.records import SEEN, Identity, Seen, Wanted, load

#: How long a keeper may take from its start to its first sign of life.
_SIGN_OF_LIFE_SECONDS = 10.0
_LOOK_SECONDS = 0.02


async def told_keeper(directory: Path, wanted: Wanted) -> Seen:
    """What there is, from a keeper that runs and has been told what is wanted."""
    seen = _seen(directory)
    if seen.keeper is not None and is_alive(seen.keeper):
        if seen.wanted != wanted.key:
            _signal(seen.keeper, signal.SIGHUP)
        return seen
    if not wanted.groups and not seen.instances and seen.wanted == wanted.key:
        # There is nothing to keep.
        return seen
    await _start(directory, before=seen)
    return _seen(directory)


def ask_all_to_end(state: Path) -> Callable[[], bool]:
    """Have every application of a plugin end that keeps its files there; the answer tells whether one still runs.

    What is wanted stays: the next look brings it back. For whoever stops a whole installation; a plugin that ends
    leaves its applications alone.
    """
    keepers = [seen.keeper for seen in map(_seen, state.glob("apps/*")) if is_alive(seen.keeper)]
    for keeper in keepers:
        _signal(keeper, signal.SIGTERM)
    return lambda: any(map(is_alive, keepers))


async def _start(directory: Path, before: Seen) -> None:
    log = os.open(directory / "keeper.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = await asyncio.create_subprocess_exec(
            *python_module("fairway.plugins.process.keeper"),
            str(directory),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # It outlives its plugin, and nothing that ends the plugin's group ends it.
            start_new_session=True,
        )
    finally:
        os.close(log)
    await process.wait()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SIGN_OF_LIFE_SECONDS):
            # The first thing that a keeper does is to write down that it is there, or that there is nothing to keep.
            while _seen(directory) == before:  # noqa: ASYNC110  # another process's file has no event
                await asyncio.sleep(_LOOK_SECONDS)


def _seen(directory: Path) -> Seen:
    return load(directory, SEEN, Seen) or Seen()


def _signal(keeper: Identity | None, number: signal.Signals) -> None:
    if keeper is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(keeper.pid, number)
