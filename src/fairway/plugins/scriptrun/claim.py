"""Which machine runs a script: noted with the deployment before it starts, so that no other machine runs it again.

A journal says what became of a script on its own machine. An agent that takes over elsewhere, or whose data directory
was lost, has no journal; the note says that the script may have run. The note holds the name of the ledger: where the
names agree, ledger and journal decide. Fairway's agent writes the note itself, with the start of the stage, from the
plan.
"""

from pathlib import Path
from typing import Any

from fairway.in_thread import in_thread
from fairway.plugins.scriptrun.disk import cannot_write
from fairway.plugins.scriptrun.journal import Journal
from fairway.plugins.scriptrun.ledger import Ledger
from fairway.sdk import StageRun


async def claim(state: Path, run: StageRun[Any], key: str, journal: Journal) -> None:
    """Note that the script runs here. Where another place has that note, its first run counts as interrupted."""
    here = await in_thread(name_of, state)
    if run.notes_at_start.get(key) == here:
        return
    noted = await run.noted_by_plugin(key)
    if noted == here:
        return
    if noted is not None:
        # Before the note changes, and synced: after a crash there is the old note or this record.
        await in_thread(journal.give_up)
    await run.note_for_plugin({key: here})


def name_of(state: Path) -> str:
    """The name of a directory of journals."""
    try:
        return Ledger(state).name()
    except OSError as error:
        raise cannot_write(f"nothing can be written to {state}", error) from error
