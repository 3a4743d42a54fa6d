"""What runs of an application, as a tree: what was deployed, below it what the platform made of it, each with its
health and the reason.

Pure: nouns and the time in, something to print out. A reason that does not fit into its line stands whole below it:
it is what people came for.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from fairway.cli.cards import application_word
from fairway.cli.output import GAP, ago, fitting, plain, roughly, status
from fairway.model.application import Application, SyncStatus
from fairway.model.live_state import Health, LiveState, Resource

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

#: What a word of an older agent means to people.
_WORDS = {Health.OTHER: "not healthy"}
_HEADERS = ("RESOURCE", "HEALTH", "AGE", "REASON")
#: Columns that a reason below its line is indented by.
_INDENT = 1


class Branch(NamedTuple):
    """A resource, and the lines that lead to it in the tree."""

    resource: Resource
    #: Before its name.
    lead: str
    #: Before whatever else is said of it, so that the lines of the tree go on.
    below: str


def live_card(application: Application, live: LiveState, now: datetime) -> "RenderableType":
    """How the application stands, and a tree for each deploy target."""
    from rich.console import Group
    from rich.text import Text

    line = Text.assemble((plain(application.name), "bold"), "  ", status(application_word(application)))
    line.append("  ").append_text(_health(live.health)).append(f"  told {ago(live.version.at, now)}", style="dim")
    places: defaultdict[tuple[str, str], list[Resource]] = defaultdict(list)
    for each in _with_namespaces(live.resources):
        places[each.plugin_name, each.deploy_target].append(each)
    parts: list[RenderableType] = [line]
    for place, resources in places.items():
        parts.append(Text())
        if len(places) > 1:
            parts.append(Text(plain(": ".join(filter(None, place))) or "elsewhere", style="bold"))
        parts.append(_Tree(branches(resources), now))
    return Group(*parts) if places else Group(line, Text(), Text(_nothing(application), style="dim"))


def _nothing(application: Application) -> str:
    state = application.sync_state
    if state is not None and state.status is SyncStatus.UNKNOWN and state.short_reason:
        return f"what runs is not known: {plain(state.short_reason)}"
    return "nothing runs"


def branches(resources: Sequence[Resource]) -> list[Branch]:
    """Each resource once, below the first of its owners that is there; the order is that of the report."""
    ids = {each.id for each in resources}
    children: defaultdict[str, list[Resource]] = defaultdict(list)
    for each in resources:
        children[next((id for id in each.parent_ids if id in ids), "")].append(each)
    drawn: list[Branch] = []
    seen: set[str] = set()
    # Whoever is left after the roots belongs to a circle, which is entered somewhere.
    for root in (*children[""], *resources):
        waiting = [Branch(root, "", "")]
        while waiting:
            branch = waiting.pop()
            if branch.resource.id in seen:
                continue
            seen.add(branch.resource.id)
            own = [each for each in children[branch.resource.id] if each.id not in seen]
            bar = "│" if own else " "
            drawn.append(branch._replace(below=f"{branch.below}{bar}"))
            waiting += reversed([_child(each, branch.below, is_last=each is own[-1]) for each in own])
    return drawn


def _child(resource: Resource, below: str, *, is_last: bool) -> Branch:
    return Branch(resource, f"{below}{'└─' if is_last else '├─'} ", f"{below}{'  ' if is_last else '│ '} ")


class _Tree:
    """The branches as a table whose reasons are never cut."""

    def __init__(self, branches: Sequence[Branch], now: datetime) -> None:
        from rich.text import Text

        self._below = ["", *(each.below for each in branches)]
        self._reasons = [_HEADERS[-1], *(plain(each.resource.health_description) for each in branches)]
        self._rows = [[Text(header, style="bold") for header in _HEADERS[:-1]]]
        self._rows += [
            [
                Text.assemble((lead, "dim"), plain(f"{each.type} {each.name}")),
                _health(each.health),
                Text(roughly(now - each.created_at) if each.created_at else "", style="dim"),
            ]
            for each, lead, _ in branches
        ]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from rich.text import Text

        widths = fitting([max(cell.cell_len for cell in column) for column in zip(*self._rows, strict=True)], options)
        room = options.max_width - sum(widths) - len(GAP) * len(widths)
        explained = any(self._reasons[1:])
        for row, reason, below in zip(self._rows, self._reasons, self._below, strict=True):
            line = Text(no_wrap=True)
            for cell, width in zip(row, widths, strict=True):
                shown = cell.copy()
                shown.truncate(width, overflow="ellipsis", pad=True)
                line.append_text(shown).append(GAP)
            said = Text(reason if explained else "", style=row[0].style)
            fits = said.cell_len <= room
            if fits:
                line.append_text(said)
            line.rstrip()
            yield line
            if not fits and row is not self._rows[0]:
                before = Text(f"{below}{' ' * _INDENT}", style="dim")
                for part in said.wrap(console, max(options.max_width - before.cell_len, 1), overflow="fold"):
                    part.rstrip()
                    yield Text.assemble(before, part, no_wrap=True)


def _health(health: Health) -> "Text":
    return status(health.value, _WORDS.get(health, ""))


def _with_namespaces(resources: Sequence[Resource]) -> Sequence[Resource]:
    """The resources as they are told apart: with their namespace where there are several."""
    spaces = [each.namespace or each.metadata.get("Namespace", "") for each in resources]
    if len(set(filter(None, spaces))) < 2:
        return resources
    return [
        msgspec.structs.replace(each, name=f"{space}/{each.name}") if space else each
        for each, space in zip(resources, spaces, strict=True)
    ]
