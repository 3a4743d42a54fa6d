"""Which machine runs a script: noted with the deployment before it starts, so that no other one runs it a second time.

A journal tells what became of a script, but only to who has it. An agent that takes over on another machine, or whose
data directory was lost, has none, though the script may have run; the note tells it so. Each directory of journals has
a name of its own, made when it is first used: a note with that name says that this journal is the whole truth. An
agent of ours makes the note itself, with the start of the stage, from what the plan says.
"""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any

from fairway.plugins.scriptrun.journal import Journal, cannot_write
from fairway.sdk import StageRun

_FILE = "place"


async def claim(state: Path, run: StageRun[Any], key: str, journal: Journal) -> None:
    """Note that the script runs here. Where another place has that note, its first run counts as interrupted."""
    here = name_of(state)
    if run.notes_at_start.get(key) == here:
        return
    noted = await run.noted_by_plugin(key)
    if noted == here:
        return
    if noted is not None:
        # Before the note changes: whoever comes after a crash finds one or the other.
        journal.give_up()
    await run.note_for_plugin({key: here})


def name_of(state: Path) -> str:
    """The name of a directory of journals."""
    path = state / _FILE
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened, new = tempfile.mkstemp(prefix=f"{_FILE}-", dir=state)
        with open(opened, "w") as file:
            file.write(secrets.token_hex(8))
        # Whoever is first gives the name; a file that is there already is left as it is.
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
        os.unlink(new)
        return path.read_text()
    except OSError as error:
        raise cannot_write(f"nothing can be written to {state}", error) from error
