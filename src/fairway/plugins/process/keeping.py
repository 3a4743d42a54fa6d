"""The plugin's side of a keeper: starts one where there is none, and tells it when its wishes have changed."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

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
            _hint(seen.keeper)
        return seen
    if not wanted.groups and not seen.instances and seen.wanted == wanted.key:
        # There is nothing to keep.
        return seen
    await _start(directory)
    return _seen(directory)


async def _start(directory: Path) -> None:
    log = os.open(directory / "keeper.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "fairway.plugins.process.keeper",
            str(directory),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # It outlives its plugin, and nothing that ends the plugin's group ends it.
            start_new_session=True,
        )
    finally:
        os.close(log)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SIGN_OF_LIFE_SECONDS):
            # One that ends at once has found another at work, or nothing to do.
            while process.returncode is None and not is_alive(_seen(directory).keeper):  # noqa: ASYNC110  # no event
                await asyncio.sleep(_LOOK_SECONDS)


def _seen(directory: Path) -> Seen:
    return load(directory, SEEN, Seen) or Seen()


def _hint(keeper: Identity) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(keeper.pid, signal.SIGHUP)
