"""Where it is shown: drawn in place on a terminal, elsewhere each change as a line."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from fairway.cli.cards import ShownDeployment
from fairway.cli.output import a_console, now, plain
from fairway.cli.up.board import Signs, State, board, ended
from fairway.cli.waiting import changes
from fairway.model.application import UnusableFile
from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import Stage, StageStatus

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Lines:
    """Each change and each line of a log as a line."""

    def __init__(self, signs: Signs) -> None:
        self._signs = signs
        self._before: dict[str, ShownDeployment] = {}
        self._trouble = ""
        self._plugins: Sequence[str] = ()
        self._suggested: set[tuple[str, str, str]] = set()
        self._unusable: Sequence[UnusableFile] = ()
        #: Deployment id → why our approval is not enough, as it was told last.
        self._unapproved: Mapping[str, str] = {}

    def update(self, state: State) -> None:
        """Print what has changed."""
        if state.trouble and not self._trouble:
            _line(f"! {state.trouble}")
        self._trouble = state.trouble
        for line in state.plugins:
            if line not in self._plugins:
                _line(f"! {line}")
        self._plugins = state.plugins
        busy = [each for each in state.deployments.values() if not each.status.is_terminal]
        for deployment in sorted(busy, key=lambda each: each.created_at):
            self._print_changes(deployment)
            why = state.unapproved.get(deployment.id, "")
            if why and why != self._unapproved.get(deployment.id):
                _line(f"! {plain(deployment.application_name)}: {plain(why)}")
        self._unapproved = state.unapproved
        for found in state.suggestions:
            place = (found.repository_id, found.path, found.config_filename)
            if place not in self._suggested:
                self._suggested.add(place)
                _line(f"found {plain(found.name)} in {plain(found.path)}; {' '.join(self._signs.add(found))}")

        self._print_unusable(state.unusable)

    def _print_unusable(self, files: Sequence[UnusableFile]) -> None:
        for each in files:
            if each not in self._unusable:
                _line(f"! {plain(each.reason)}")
        still = {(each.repository_id, each.file) for each in files}
        for each in self._unusable:
            if (each.repository_id, each.file) not in still:
                _line(f"{plain(each.file)} is no longer unusable")
        self._unusable = files

    def logged(self, deployment: ShownDeployment, stage: Stage, lines: Sequence[str]) -> None:
        """Print what was written, behind what led to it."""
        self._print_changes(_when(deployment, stage))
        for line in lines:
            _line(f"{plain(deployment.application_name)}: {plain(stage.name)} │ {line}")

    def ended(self, deployment: ShownDeployment, _tail: Sequence[str], /) -> None:
        """Print how it ended; what its stages wrote has been printed."""
        self._print_changes(deployment)
        self._before.pop(deployment.id, None)

    def _print_changes(self, deployment: ShownDeployment) -> None:
        # What a stage waits for is in its log, which is printed here.
        for line in changes(self._before.get(deployment.id), deployment, with_waits=False):
            waits = f"; {self._signs.approve(deployment)}" if "waits for approval" in line else ""
            _line(f"{plain(deployment.application_name)}: {line}{waits}")
        self._before[deployment.id] = deployment


def _when(deployment: ShownDeployment, stage: Stage) -> ShownDeployment:
    """The deployment as it was when that stage ran: what came then is told after what the stage has written."""
    place = deployment.stages.index(stage)
    running = msgspec.structs.replace(stage, status=StageStatus.RUNNING, status_reason="")
    later = (msgspec.structs.replace(each, status=StageStatus.NOT_STARTED) for each in deployment.stages[place + 1 :])
    rollback = stage.is_rollback or deployment.status is DeploymentStatus.ROLLING_BACK
    return msgspec.structs.replace(
        deployment,
        stages=(*deployment.stages[:place], running, *later),
        status=DeploymentStatus.ROLLING_BACK if rollback else DeploymentStatus.RUNNING,
        status_reason="" if deployment.status.is_terminal else deployment.status_reason,
    )


class Drawing:
    """Everything drawn in place; what has ended stays above."""

    def __init__(self, console: "Console", signs: Signs) -> None:
        self._console = console
        self._signs = signs
        self._state = State()

    def update(self, state: State) -> None:
        """Draw this from now on."""
        self._state = state

    def logged(self, deployment: ShownDeployment, stage: Stage, lines: Sequence[str]) -> None:
        """Its last lines are in the state."""

    def ended(self, deployment: ShownDeployment, tail: Sequence[str], /) -> None:
        """Leave it on the screen, above what is drawn in place."""
        self._console.print(ended(deployment, tail, now()))

    def drawn(self) -> "RenderableType":
        """The picture of now."""
        return board(self._state, self._signs, now(), self._console.height)


@contextmanager
def a_screen(signs: Signs) -> Iterator[Lines | Drawing]:
    """The terminal, or the pipe, that stdout is."""
    console = a_console()
    if not console.is_terminal:
        yield Lines(signs)
        return
    from rich.live import Live

    drawing = Drawing(console, signs)
    # Redrawn by itself, so that the seconds go on while the server is silent.
    with Live(get_renderable=drawing.drawn, console=console, refresh_per_second=4) as live:
        yield drawing
        live.refresh()


def _line(text: str) -> None:
    sys.stdout.write(f"{now():%H:%M:%S} {text}\n")
    sys.stdout.flush()
