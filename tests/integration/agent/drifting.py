"""A platform of one file: what the file says is what runs, and it tells when that changes.

Beside the file it writes down the process that was asked, a line for each time. While there is a file with the ending
`.hold`, nobody gets an answer.
"""

import asyncio
import os
from pathlib import Path

from fairway.sdk import Live, LiveQuestion, Plugin, PluginSettings, Resource, StageOptions, StageRun, stage

AS_GIT_SAYS = "as Git says"
#: What no sync changes; of the second the plugin knows it.
INCURABLE, HOPELESS = "incurable", "hopeless"


def put(file: Path, text: str) -> None:
    """Change what runs, at once: nobody sees it half changed."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.rename(file)


class Drifting(Plugin):
    """Brings its file to what Git says, and watches it."""

    name = "drifting"

    def __init__(self, settings: PluginSettings) -> None:
        super().__init__(settings)
        self._file = Path(settings.config["file"])
        self._promises = settings.config.get("promises", False)
        self._watching: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    @stage("DRIFTING_SYNC", quick_sync=True)
    async def sync(self, _run: StageRun[StageOptions]) -> None:
        """Make it so."""
        if self._read() not in (INCURABLE, HOPELESS):
            put(self._file, AS_GIT_SAYS)

    async def live_state(self, question: LiveQuestion) -> Live:
        with self._file.with_suffix(".asked").open("a") as asked:
            asked.write(f"{os.getpid()}\n")
        while self._file.with_suffix(".hold").exists():  # noqa: ASYNC110  # nobody tells of it
            await asyncio.sleep(0.02)
        found = self._read()
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(question.application_id, found))
        resources = (Resource(id="one", name=found),)
        drift = () if found == AS_GIT_SAYS else (f"it is {found}",)
        return Live(resources=resources, drift=drift, mendable=found != HOPELESS, watched=self._promises)

    def _read(self) -> str:
        return self._file.read_text() if self._file.exists() else "nothing"

    async def _watch(self, application_id: str, before: str) -> None:
        while True:
            if (now := self._read()) != before:
                before = now
                await self.live_state_changed([application_id])
            await asyncio.sleep(0.02)
