"""A platform that repeats everything it reads, wherever it may say something; the file `fails` makes its stage fail."""

import sys

from fairway.model.trigger import SyncStrategy
from fairway.sdk import (
    Files,
    Live,
    LiveQuestion,
    Outcome,
    Plugin,
    Resource,
    StageFailed,
    StageOptions,
    StageRun,
    Strategy,
    Target,
    stage,
)


class Gossiping(Plugin):
    """Has heard what the file `secret` says."""

    name = "gossiping"

    @stage("GOSSIPING_SYNC", quick_sync=True)
    async def sync(self, run: StageRun[StageOptions]) -> Outcome:
        """Tell everybody, by every way there is."""
        heard = _heard(run.target)

        async def tell(_target: Target) -> str:
            return f"of a target: {heard}"

        await run.on_each_target(tell)
        sys.stderr.write(f"written: {heard}\n")
        sys.stderr.flush()
        await run.show(f"shown: {heard}")
        if (run.target.application_directory / "fails").exists():
            raise StageFailed(f"failed: {heard}")
        return Outcome(message=f"done: {heard}", notes={"note": heard})

    async def strategy(self, target: Files, running: Files | None) -> Strategy | None:
        return Strategy(SyncStrategy.QUICK_SYNC, f"planned: {_heard(target)}")

    async def live_state(self, question: LiveQuestion) -> Live:
        heard = _heard(question.files)
        resource = Resource(id="one", name="one", health_description=f"health: {heard}", metadata={"of": heard})
        return Live(resources=(resource,), drift=(f"differs: {heard}",))


def _heard(files: Files) -> str:
    return (files.application_directory / "secret").read_text()
