"""A platform of one file, which tells how the file would change."""

import difflib

from fairway.sdk import Plugin, Preview, PreviewQuestion, StageFailed, StageOptions, StageRun, stage


class Previewing(Plugin):
    """The file `wanted` in the application's directory is what it deploys."""

    name = "previewing"

    @stage("PREVIEWING_SYNC", quick_sync=True)
    async def sync(self, _run: StageRun[StageOptions]) -> None:
        """There is nothing to do."""

    async def plan_preview(self, question: PreviewQuestion) -> tuple[Preview, ...]:
        target = (question.target.application_directory / "wanted").read_text()
        if target == "broken\n":
            raise StageFailed(f"{question.target.application_directory}/wanted is broken")
        running = (question.running.application_directory / "wanted").read_text() if question.running else ""
        lines = difflib.unified_diff(running.splitlines(), target.splitlines(), "before", "after", lineterm="")
        details, changes = "\n".join(lines), running != target
        summary = "one file changes" if changes else "no change"
        return tuple(
            Preview(deploy_target=each.name, summary=summary, changes=changes, details=details)
            for each in question.targets
        )
