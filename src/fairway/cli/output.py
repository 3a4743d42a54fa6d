"""What people see: tables, times and statuses, the same in every command.

Whatever a server says may have been written by strangers, so control characters never reach the terminal. On a
terminal, tables are cut to its width; in a pipe nothing is cut and nothing is coloured. Times are relative, because
"3m ago" is what people ask; programs take --json.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

#: A width that nothing reaches: in a pipe nothing is cut.
UNCUT = 100_000
#: Between columns.
GAP = "  "
#: No column is cut to less.
_NARROWEST = 4
#: As much of an id as git would show of a commit.
SHORT_ID = 8

#: What tells a line from the next by itself.
_ENDS = (":", ";", ",", ".", "…")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
#: A colour or a weight, and nothing else.
_COLOUR = r"\x1b\[[0-9;:]*m"
#: Whole sequences first, so that a coloured log leaves no "[31m" behind.
_NOT_IN_LOGS = re.compile(
    r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_NOT_IN_COLOURED_LOGS = re.compile(rf"(?!{_COLOUR})(?:{_NOT_IN_LOGS.pattern})")


class Look:
    """How one status is shown."""

    __slots__ = ("colour", "mark")

    def __init__(self, mark: str, colour: str) -> None:
        self.mark = mark
        self.colour = colour


_DONE, _BAD, _BUSY = Look("✓", "green"), Look("✗", "red"), Look("●", "cyan")
_NOT_YET, _OVER, _ODD = Look("○", "dim"), Look("⊘", "yellow"), Look("!", "yellow")
#: One look for each word, whichever noun it stands for.
LOOKS = {
    "succeeded": _DONE,
    "synced": _DONE,
    "deployed": _DONE,
    "healthy": _DONE,
    "online": _DONE,
    "enabled": _DONE,
    "exited": _DONE,
    "failed": _BAD,
    "unhealthy": _BAD,
    "offline": _BAD,
    "invalid_config": _BAD,
    "timed_out": _BAD,
    "running": _BUSY,
    "deploying": _BUSY,
    "planned": _BUSY,
    "rolling_back": Look("↺", "yellow"),
    "waits for approval": Look("◆", "magenta"),
    "waiting": _NOT_YET,
    "pending": _NOT_YET,
    "not_started": _NOT_YET,
    "unknown": _NOT_YET,
    "cancelled": _OVER,
    "disabled": _OVER,
    "deleted": _OVER,
    "skipped": Look("»", "dim"),
    "outdated": _OVER,
    "out_of_sync": _ODD,
    "not_deployed": _ODD,
    "other": _ODD,
}


def a_console() -> "Console":
    """The terminal, or the pipe, that stdout is."""
    from rich.console import Console

    # Of a terminal the width is asked whenever something is drawn: people change it.
    width = None if sys.stdout.isatty() else UNCUT
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False, width=width)


def show(console: "Console", renderable: "RenderableType") -> None:
    """Print; in a pipe without the blanks that fill up the last column."""
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as capture:
        console.print(renderable)
    console.out("\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n")))


def status(word: str, shown: str = "") -> "Text":
    """A status with its mark and colour."""
    from rich.text import Text

    look = LOOKS.get(word, _NOT_YET)
    return Text(f"{look.mark} {shown or word.replace('_', ' ')}", style=look.colour)


def plain(text: str) -> str:
    """The text in one line, without anything that would move the cursor; where a line ended, that is still seen."""
    joined = ""
    for line in _lines(text):
        joined += (" " if joined.endswith(_ENDS) else "; ") + line if joined else line
    return joined


def reason_text(text: str) -> str:
    """The same in as many lines as it has, those after the first a little further right."""
    return "\n  ".join(_lines(text))


def _lines(text: str) -> list[str]:
    lines = (_CONTROL.sub(" ", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def log_text(text: str) -> str:
    """The text of a log: its lines and tabs, nothing else that a terminal would obey."""
    return _NOT_IN_LOGS.sub("", text)


def coloured(line: str, style: str = "") -> "Text":
    """A line of a log with the colours that its writer gave it; whatever else a terminal would obey is taken out."""
    from rich.text import Text

    return Text.from_ansi(_NOT_IN_COLOURED_LOGS.sub("", line), style=style)


def now() -> datetime:
    """The time that everything shown is relative to."""
    return datetime.now(UTC)


def ago(at: datetime | None, now: datetime) -> str:
    """How long ago, in one unit."""
    if at is None:
        return "never"
    return "now" if now - at < timedelta(seconds=1) else f"{roughly(now - at)} ago"


def roughly(length: timedelta) -> str:
    """A length of time in its largest unit."""
    seconds = int(length.total_seconds())
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{max(seconds, 0)}s"


def took(length: timedelta) -> str:
    """A length of time in its two largest units."""
    seconds = max(int(length.total_seconds()), 0)
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02}s"
    if seconds < 86_400:
        return f"{seconds // 3600}h{seconds % 3600 // 60:02}m"
    return f"{seconds // 86_400}d{seconds % 86_400 // 3600:02}h"


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """Each id as short as it can be and still be told from the others; names that people chose stay whole."""
    length = SHORT_ID
    while len({id[:length] for id in ids}) < len(set(ids)):
        length += 1
    return {id: id[:length] if _is_random(id) else id for id in ids}


def _is_random(id: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}-[0-9a-f-]{27}", id) is not None


class Table:
    """Rows under headers, aligned; what does not fit is cut with an ellipsis, in the widest columns first."""

    def __init__(self, headers: Sequence[str], rows: Sequence[Sequence["str | Text"]]) -> None:
        from rich.text import Text

        self._rows = [[Text(header, style="bold") for header in headers]]
        self._rows += [[cell if isinstance(cell, Text) else Text(plain(cell)) for cell in row] for row in rows]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Text]":
        from rich.text import Text

        widths = fitting([max(cell.cell_len for cell in column) for column in zip(*self._rows, strict=True)], options)
        for row in self._rows:
            line = Text(no_wrap=True)
            for cell, width in zip(row, widths, strict=True):
                shown = cell.copy()
                shown.truncate(width, overflow="ellipsis", pad=True)
                line.append_text(shown).append(GAP)
            line.rstrip()
            yield line


def fitting(widths: list[int], options: "ConsoleOptions") -> list[int]:
    """The widths of columns that fit into a line together."""
    room = options.max_width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def table(headers: Sequence[str], rows: Sequence[Sequence["str | Text"]], empty: str = "none") -> "RenderableType":
    """Rows under headers, or a sentence when there are none; a column in which nothing stands is left out."""
    from rich.text import Text

    if not rows:
        return Text(empty, style="dim")
    used = [any(row[column] for row in rows) for column in range(len(headers))]
    return Table(list(compress(headers, used)), [list(compress(row, used)) for row in rows])


def fields(pairs: Sequence[tuple[str, "str | Text"]]) -> "RenderableType":
    """Names and values, one a line; what is empty is left out."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            made.add_row(f"  {name}", value if isinstance(value, Text) else plain(value))
    return made


def labels_text(labels: dict[str, str]) -> str:
    """Labels as they are written on the command line."""
    return ", ".join(f"{name}:{value}" for name, value in sorted(labels.items()))
