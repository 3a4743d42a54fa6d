"""Writes docs/states.md from the transition tables, so that the page cannot say anything the code does not do.

What a status means is the comment above it; the reasons for rows that surprise are in the module docstring of
its table. `tests/contracts/test_states_doc.py` fails when the file on disk differs.
"""

import ast
import enum
import importlib
import inspect
from pathlib import Path
from typing import TypeVar

from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, DeploymentStatus
from fairway.model.stage import STAGE_TRANSITIONS, StageStatus
from fairway.model.transitions import TransitionTable

S = TypeVar("S", bound=enum.Enum)

PAGE = Path(__file__).parent.parent / "docs" / "states.md"

_INTRODUCTION = """\
<!-- Written by `make states` from src/fairway/model; change the tables there, not this file. -->
# States

A status changes only along the arrows below. Agents and server use the same tables: the server checks each
report inside the transaction that stores it and refuses the rest. Reporting a status again changes nothing, and
nothing follows a final status, so a late report never reopens what has ended.
"""


def meanings(status: type[enum.Enum]) -> dict[str, str]:
    """Member name → the `#:` comment above it."""
    source = inspect.getsource(status)
    lines = source.splitlines()
    found: dict[str, str] = {}
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.ClassDef)
    for statement in definition.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            first = statement.lineno - 1
            while lines[first - 1].strip().startswith("#:"):
                first -= 1
            comment = [line.strip().removeprefix("#:").strip() for line in lines[first : statement.lineno - 1]]
            found[statement.targets[0].id] = " ".join(comment)
    return found


def section(status: type[S], table: TransitionTable[S]) -> str:
    """Heading, meanings, diagram and remarks of one table."""
    meaning = meanings(status)
    rows = [f"| `{member.value}` | {meaning[member.name]} | {_following(table, member)} |" for member in status]
    arrows = [
        f"    {member.value} --> {following.value}"
        for member in status
        for following in status
        if following in table.rows[member]
    ]
    ends = [f"    {member.value} --> [*]" for member in status if member in table.terminal]
    first = next(iter(status)).value
    return "\n".join(
        [
            f"\n## {table.noun.capitalize()}\n",
            "| status | means | may become |",
            "|---|---|---|",
            *rows,
            "\n```mermaid\nstateDiagram-v2",
            f"    [*] --> {first}",
            *arrows,
            *ends,
            "```\n",
            _remarks(status),
        ]
    )


def _following(table: TransitionTable[S], member: S) -> str:
    following = [f"`{each.value}`" for each in type(member) if each in table.rows[member]]
    return ", ".join(following) or "final"


def _remarks(status: type[enum.Enum]) -> str:
    """The part of the module docstring that explains rows."""
    text = inspect.getdoc(importlib.import_module(status.__module__)) or ""
    return text[text.index("Rows that need a word:") :].replace("word:\n", "word:\n\n") + "\n"


def page() -> str:
    """The whole page."""
    return "".join(
        [
            _INTRODUCTION,
            section(DeploymentStatus, DEPLOYMENT_TRANSITIONS),
            section(StageStatus, STAGE_TRANSITIONS),
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
