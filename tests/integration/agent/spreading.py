"""A plugin made with the SDK that works on several deploy targets, and says in which version."""

from fairway.sdk import Plugin, StageFailed, StageOptions, StageRun, Target, rollback, stage


class SpreadOptions(StageOptions, frozen=True):
    """What SPREAD may have in its `with`."""

    multi_targets: tuple[str, ...] = ()


class Spread(Plugin):
    """Brings an application to each of its deploy targets."""

    name = "spread"

    @stage("SPREAD", options=SpreadOptions, quick_sync=True)
    async def spread(self, run: StageRun[SpreadOptions]) -> None:
        """Bring it there; a target may be out of order."""

        async def bring(target: Target) -> str:
            if target.config.get("broken"):
                raise StageFailed("out of order")
            return f"{run.deployment.application_name} by {self.settings.config['version']}"

        await run.on_each_target(bring)

    @rollback("SPREAD_ROLLBACK")
    async def take_back(self, run: StageRun[StageOptions]) -> None:
        """Take it away again."""
        run.log.info(f"taken from {', '.join(each.name for each in run.targets)}")
