"""A plugin made with the SDK that asks its agent which applications there are."""

from fairway.sdk import Plugin, StageOptions, StageRun, stage


class LookingOptions(StageOptions, frozen=True, kw_only=True):
    """Whom to ask about."""

    ids: tuple[str, ...]


class Looking(Plugin):
    """Tells in its log what it was told."""

    name = "looking"

    @stage("LOOK", options=LookingOptions)
    async def look(self, run: StageRun[LookingOptions]) -> None:
        """Ask, and tell of it."""
        for each in run.options.ids:
            found = await run.find_application(each)
            run.log.info(f"{each} is {found.standing.value}, {found.name or 'without a name'}")
