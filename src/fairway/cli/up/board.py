"""How everything stands, drawn: what is under way with its stages and its log, what rests, what to try next. Pure."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from fairway.cli.cards import ShownDeployment, headline, short_commit, stage_list, waits_for
from fairway.cli.output import ago, plain, status
from fairway.cli.up.rest import waits_for_approval
from fairway.config.find import APPLICATION_FILE
from fairway.model.application import Application, DiscoveredApplication, SyncStatus, UnusableFile
from fairway.model.deployment import Deployment
from fairway.model.stage import StageStatus

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

#: As much of an id as is typed.
_SHORT = 8
#: Suggestions that are named one by one, and the rows that each may take with its command.
_FEW = 5
_ROWS_OF_ONE = 4


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What is known at one moment."""

    applications: Sequence[Application] = ()
    #: By id.
    deployments: Mapping[str, ShownDeployment] = {}
    #: Deployment id → the last lines of what runs.
    tails: Mapping[str, Sequence[str]] = {}
    suggestions: Sequence[DiscoveredApplication] = ()
    #: Application files that cannot be deployed.
    unusable: Sequence[UnusableFile] = ()
    #: Deployment id → why it waits for approval although we approve.
    unapproved: Mapping[str, str] = {}
    #: What is wrong with the connection; empty when nothing is.
    trouble: str = ""
    #: A line for each plugin that does not start.
    plugins: Sequence[str] = ()


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """What a person has to know to go on."""

    #: How `fairway` is called here.
    command: str
    #: The option that names our server, with a blank before it; empty where it is the current one.
    profile: str
    #: What to try: what it is for, and the command.
    tries: Sequence[tuple[str, str]] = ()

    def approve(self, deployment: Deployment) -> str:
        """The command that approves."""
        return f"{self.command} deployment approve {deployment.id[:_SHORT]}{self.profile}"

    def add(self, found: DiscoveredApplication) -> list[str]:
        """The command that registers an application, word by word as they are typed."""
        words = ["app", "add", found.name, "--agent", "up", "--repository", found.repository_id, "--path", found.path]
        if found.config_filename != APPLICATION_FILE:
            words += ["--config-filename", found.config_filename]
        return [self.command, *map(shlex.quote, words), *self.profile.split()]


class _Typed:
    """A command on as many lines as it takes, each but the last with a backslash, so that it can be copied."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def __rich_console__(self, _console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from rich.cells import cell_len
        from rich.text import Text

        lines = [f"    {self._words[0]}"]
        for word in self._words[1:]:
            longer = f"{lines[-1]} {word}"
            if cell_len(longer) + len(" \\") <= options.max_width:
                lines[-1] = longer
            else:
                lines.append(f"      {word}")
        for number, line in enumerate(lines, 1):
            yield Text(line if number == len(lines) else f"{line} \\", style="cyan", overflow="fold")


def board(state: State, signs: Signs, now: datetime, rows: int) -> "RenderableType":
    """Everything, to be drawn in place on so many rows."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text()]
    busy = [each for each in state.deployments.values() if not each.status.is_terminal]
    room = _room_for_tails(state, busy, rows)
    for deployment in sorted(busy, key=lambda each: (each.application_name, each.created_at)):
        tail = state.tails.get(deployment.id, ())
        parts.append(under_way(deployment, tail[max(len(tail) - room, 0) :], signs, now))
        if why := state.unapproved.get(deployment.id):
            parts.append(Text(f"  ! {plain(why)}", style="yellow"))
        parts.append(Text())
    deploying = {each.application_id for each in busy}
    resting = [each for each in state.applications if each.id not in deploying]
    parts += [_resting(each, state.deployments, now) for each in resting]
    if state.suggestions:
        # Beside those that rest: blank lines, the headline, how many more there are, and the last line.
        room = rows - len(resting) - 7
        parts += [Text(), *_suggestions(state.suggestions, signs, room)]
    parts += _unusable(state.unusable)
    if state.trouble or state.plugins:
        parts.append(Text())
        parts += [Text(f"! {each}", style="yellow") for each in (state.trouble, *state.plugins) if each]
    if state.applications and all(map(waits_for_approval, busy)):
        parts += [Text(), *tries(signs)]
    return Group(*parts, Text(), Text("Ctrl-C stops everything that was started here", style="dim"))


def _room_for_tails(state: State, busy: Sequence[Deployment], rows: int) -> int:
    """How many lines of its log each deployment may show, so that the rest stays on the screen."""
    stages = sum(stage.was_started or not stage.is_rollback for each in busy for stage in each.stages)
    # Name, reason, what it waits for and a blank line for each; a line for each that rests; blank lines and the last.
    rest = 4 * len(busy) + len(state.applications) + 4
    return max(0, rows - stages - rest) // max(1, len(busy))


def under_way(deployment: ShownDeployment, tail: Sequence[str], signs: Signs, now: datetime) -> "RenderableType":
    """A deployment that has not ended."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [headline(deployment, now), stage_list(deployment, now)]
    parts += [Text(f"  │ {line}", style="dim", no_wrap=True, overflow="ellipsis") for line in tail]
    if waits_for_approval(deployment):
        parts.append(Text(f"  → {signs.approve(deployment)}", style="bold magenta"))
    elif not any(stage.status is StageStatus.RUNNING for stage in deployment.stages) and (
        waits := waits_for(deployment)
    ):
        parts.append(Text(f"  waits for {waits}", style="dim"))
    return Group(*parts)


def ended(deployment: ShownDeployment, tail: Sequence[str], now: datetime) -> "RenderableType":
    """A deployment that has ended, to stay on the screen; what its failed stage said belongs to it."""
    from rich.console import Group
    from rich.text import Text

    said = [Text(f"  │ {line}", style="dim", no_wrap=True, overflow="ellipsis") for line in tail]
    return Group(Text(), headline(deployment, now), stage_list(deployment, now), *said)


def tries(signs: Signs) -> "list[RenderableType]":
    """What to try next."""
    from rich.text import Text

    if not signs.tries:
        return []
    width = max(len(what) for what, _ in signs.tries)
    lines = [Text.assemble(f"  {what:<{width}}  ", (command, "cyan")) for what, command in signs.tries]
    return [Text("Try next", style="bold"), *lines]


def _resting(application: Application, deployments: Mapping[str, ShownDeployment], now: datetime) -> "Text":
    """One line for an application that nobody is deploying; more only where its file cannot be used."""
    from rich.text import Text

    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(plain(application.name), style="bold").append("  ")
    state, newest = application.sync_state, application.last_triggered
    if state and state.status is SyncStatus.INVALID_CONFIG:
        # Whole, on as many lines as it takes: somebody has to mend it.
        line.no_wrap, line.overflow = False, "fold"
        return line.append_text(status("failed", plain(state.short_reason))).append(f"  {plain(state.reason)}")
    deployment = deployments.get(newest.deployment_id) if newest else None
    if newest is None or deployment is None:
        return line.append_text(status("waiting", "not deployed yet"))
    line.append_text(status(deployment.status.value))
    line.append(f"  {short_commit(deployment.trigger.commit)}, {ago(deployment.completed_at, now)}", style="dim")
    return line.append(f"  {plain(deployment.status_reason)}")


def _unusable(files: Sequence[UnusableFile]) -> "list[RenderableType]":
    """The files of no registered application that cannot be deployed; applications show their own."""
    from rich.text import Text

    others = [each for each in files if not each.application_id]
    lines: list[RenderableType] = [Text(f"! {plain(each.reason)}", style="red") for each in others[:_FEW]]
    if len(others) > _FEW:
        lines.append(Text(f"! and {len(others) - _FEW} more files that cannot be deployed", style="red"))
    return [Text(), *lines] if lines else []


def _suggestions(found: Sequence[DiscoveredApplication], signs: Signs, room: int) -> "list[RenderableType]":
    from rich.text import Text

    parts: list[RenderableType] = [Text(f"Found in Git, not registered: {len(found)}", style="bold")]
    few = max(1, min(_FEW, room // _ROWS_OF_ONE))
    for each in found[:few]:
        parts.append(Text(f"  {plain(each.name)} in {plain(each.path)}"))
        parts.append(_Typed(signs.add(each)))
    if more := found[few:]:
        parts.append(Text(f"  and {len(more)} more; `up` with --register registers all of them"))
    return parts
