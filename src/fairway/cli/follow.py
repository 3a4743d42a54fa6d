"""Following a deployment on the screen: its logs as they are written, or its stages as they pass.

On a terminal the stages are drawn in place; elsewhere each change is a line. Remarks about the connection go to
stderr, so that stdout has the log and nothing else.
"""

import math
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import typer
from msgspec.structs import replace

from fairway.cli.call import Call, decode
from fairway.cli.cards import ShownDeployment, headline, stage_list, waits_for
from fairway.cli.logs import LogReader, as_json_line, block_lines, prefixes
from fairway.cli.output import coloured, fields, log_text, now
from fairway.cli.remote import Unreachable, segments
from fairway.cli.waiting import Wait, changes, decide_wait, how_it_ended, in_vain
from fairway.cli.watch import TimedOut, Watch
from fairway.errors import UserError
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.model.stage import Stage, StageStatus

if TYPE_CHECKING:
    from rich.console import RenderableType

#: A stream takes so many topics; stages run one after another, so that is plenty.
_MOST_LOGS = 30
#: For how long the last lines are waited for once a deployment has ended; it overtakes them when the server was away.
LATE_SECONDS = 10.0
_COLOURS = {LogSeverity.INFO: "", LogSeverity.SUCCESS: "green", LogSeverity.ERROR: "red"}


class NotReached(UserError):
    """A deployment that did not, or will not, become what was asked for."""


class LogPrinter:
    """Prints what has been written to the logs, each line once."""

    def __init__(self, call: Call, deployment_id: str, stage: str, timestamps: bool) -> None:
        self._call = call
        self._reader = LogReader(call, deployment_id, stage)
        self._timestamps = timestamps

    def topics(self, deployment: Deployment) -> list[str]:
        """What the stream is asked to tell."""
        growing = self._reader.unfinished(deployment)
        if not deployment.status.is_terminal:
            growing = [stage for stage in growing if stage.status is StageStatus.RUNNING]
        return [f"log:{deployment.id}/{stage.id}" for stage in growing[:_MOST_LOGS]]

    def awaits_more(self, deployment: Deployment) -> bool:
        """Whether some log has not been printed to its end."""
        return bool(self._reader.unfinished(deployment))

    def print_unread(self, deployment: Deployment) -> None:
        """Print what is new."""
        before = prefixes(self._reader.wanted(deployment), deployment.stages)
        for stage, block in self._reader.unread(deployment):
            self._print(stage, block, before[stage.id])
        sys.stdout.flush()

    def _print(self, stage: Stage, block: LogBlock, prefix: str) -> None:
        if self._call.as_json:
            sys.stdout.write(as_json_line(stage, block).decode() + "\n")
            return
        time = f"{block.created_at:%H:%M:%S} " if self._timestamps else ""
        console, style = self._call.console, _COLOURS[block.severity]
        if not console.is_terminal:
            for line in block_lines(block, prefix + time):
                console.print(line, soft_wrap=True)
            return
        for line in block.log.rstrip("\n").split("\n"):
            console.print(coloured(f"{prefix}{time}{line}", style), soft_wrap=True)


def follow_logs(call: Call, deployment_id: str, printer: LogPrinter) -> None:
    """Print the logs until the deployment and they have ended; UserError unless it succeeded."""
    path = segments("deployments", deployment_id)
    latest = call.get(Deployment, path)
    # Of one that had ended before, everything has long been written.
    give_up = -math.inf if latest.status.is_terminal else 0.0

    def look() -> bool:
        nonlocal latest, give_up
        latest = call.get(Deployment, path)
        printer.print_unread(latest)
        if not latest.status.is_terminal:
            return False
        give_up = give_up or time.monotonic() + LATE_SECONDS
        return time.monotonic() > give_up or not printer.awaits_more(latest)

    def topics() -> list[str]:
        return [f"deployment:{deployment_id}", *printer.topics(latest)]

    Watch(call.remote, topics, say_lost).run(look)
    if latest.status is not DeploymentStatus.SUCCEEDED:
        raise NotReached(how_it_ended(latest))
    typer.echo(how_it_ended(latest), err=True)


def wait_for(
    call: Call, deployment_id: str, wanted: Collection[DeploymentStatus], timeout: timedelta | None = None
) -> None:
    """Show the deployment's progress until it has a wanted status; UserError as soon as it cannot have one. Where none
    is wanted, until its end; UserError unless it succeeded."""
    path = segments("deployments", deployment_id)
    body = call.remote.get(path)
    with _progress(call) as progress:

        def look() -> bool:
            nonlocal body
            body = call.remote.get(path)
            found = decode(body, ShownDeployment)
            decision = decide_wait(found.status, wanted)
            # Of what is in vain the error says the reason.
            progress.show(found if decision is not Wait.IN_VAIN else replace(found, status_reason=""))
            return decision is not Wait.GOES_ON

        watch = Watch(call.remote, lambda: [f"deployment:{deployment_id}"], say_lost, timeout)
        try:
            watch.run(look)
        except TimedOut as error:
            found = decode(body, Deployment)
            word = found.status.value.replace("_", " ")
            raise TimedOut(f"deployment {deployment_id} is still {word}; waited long enough") from error
    if call.as_json:
        call.print_json(body)
    found = decode(body, Deployment)
    if decide_wait(found.status, wanted) is Wait.IN_VAIN:
        raise NotReached(in_vain(found, wanted))


class _Lines:
    """Each change as a line."""

    def __init__(self) -> None:
        self._before: Deployment | None = None

    def show(self, deployment: ShownDeployment) -> None:
        for line in changes(self._before, deployment):
            typer.echo(f"{now():%H:%M:%S} {log_text(line)}")
        self._before = deployment


class _Screen:
    """The deployment as it stands, drawn in place."""

    def __init__(self) -> None:
        self._latest: ShownDeployment | None = None

    def show(self, deployment: ShownDeployment) -> None:
        self._latest = deployment

    def drawn(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        if self._latest is None:
            return ""
        waits = fields([("waits for", Text(waits_for(self._latest)))])
        return Group(headline(self._latest, now()), stage_list(self._latest, now()), waits)


class _Nothing:
    """For programs: they get one document at the end."""

    def show(self, deployment: ShownDeployment) -> None:
        """Not shown."""


@contextmanager
def _progress(call: Call) -> Iterator[_Lines | _Screen | _Nothing]:
    if call.as_json:
        yield _Nothing()
    elif not call.console.is_terminal:
        yield _Lines()
    else:
        from rich.live import Live

        screen = _Screen()
        # Redrawn by itself, so that the seconds go on while the server is silent.
        with Live(get_renderable=screen.drawn, console=call.console, refresh_per_second=4) as live:
            yield screen
            live.refresh()


def say_lost(error: Unreachable) -> None:
    """That the server is away, and that this is no end."""
    typer.echo(f"fairway: {error}; going on when it is back", err=True)
