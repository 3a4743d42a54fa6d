"""A platform whose stage waits for ever, and says for what: for what the file `bus` names."""

import asyncio

from fairway.sdk import Plugin, StageOptions, StageRun, stage


class Patient(Plugin):
    """Waits."""

    name = "patient"

    @stage("PATIENT_SYNC", quick_sync=True)
    async def sync(self, run: StageRun[StageOptions]) -> None:
        """Wait for the bus."""
        bus = (run.target.application_directory / "bus").read_text()
        run.waits_for(f"bus {bus}")
        await asyncio.Event().wait()
