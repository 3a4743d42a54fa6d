"""A plugin made with the SDK that asks its agent for what few plugins ask for."""

from fairway.sdk import Plugin, StageOptions, StageRun, stage


class AskingOptions(StageOptions, frozen=True, kw_only=True):
    """What to ask for."""

    sealed: str


class Asking(Plugin):
    """Opens a sealed value and installs a tool."""

    name = "asking"

    @stage("ASK", options=AskingOptions)
    async def ask(self, run: StageRun[AskingOptions]) -> None:
        """Ask, and tell of it."""
        secret = await run.open_secret(run.options.sealed)
        tool = await run.install_tool("true", "1", "cp /bin/true {{ .OutPath }}")
        run.log.info(f"{tool.name} opened {secret.reveal()} of {len(secret.reveal())}")
