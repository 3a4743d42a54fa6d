"""`onRollback` on a stage of any plugin: found beside `with` or inside it, and kept from plugins that do not know it.

Wherever `onRollback` stands, the `env` in the same place is its own. The plugin of SCRIPT_RUN knows both and gets them
with the rest of its options; any other would pass over them or refuse them, so Fairway takes them out and sees to the
script itself. A plugin that has an option of its own of that name gets it when `onRollback` stands beside `with`.
"""

from typing import Any, Final

import msgspec

from fairway.config.application import UndoScript
from fairway.config.problems import Path, Problem, Severity
from fairway.config.reader.document import Document
from fairway.config.reader.rules import read_settings
from fairway.config.stages import StageEntry

#: The stage whose plugin runs the script itself.
SCRIPT_RUN: Final = "SCRIPT_RUN"
_UNDO, _ENV = "onRollback", "env"


def take_undo(document: Document, path: Path, entry: StageEntry) -> tuple[StageEntry, UndoScript | None, list[Problem]]:
    """The entry as its plugin is to see it, what undoes the stage, and what is wrong with that."""
    if entry.name == SCRIPT_RUN:
        return _with_all_inside(entry), None, list(_twice(document, path, entry))
    beside = UndoScript(on_rollback=entry.on_rollback, env=entry.env)
    problems = _twice(document, path, entry)
    if entry.env and not beside.commands:
        message = "has no effect: it is for an `onRollback` beside it, and there is none"
        problems.append(document.problem((*path, _ENV), message, Severity.WARNING, of_key=True))
    if _UNDO not in entry.options:
        return entry, beside if beside.commands else None, problems
    taken = {key: entry.options[key] for key in (_UNDO, _ENV) if key in entry.options}
    inside, wrong = read_settings(document, taken, UndoScript, (*path, "with"))
    rest = {key: value for key, value in entry.options.items() if key not in taken}
    undo = beside if beside.commands else inside
    return msgspec.structs.replace(entry, options=rest), undo if undo.commands else None, [*problems, *wrong]


def _with_all_inside(entry: StageEntry) -> StageEntry:
    """The entry with what stands beside `with` where its plugin looks for it."""
    beside: dict[str, Any] = {}
    if entry.on_rollback:
        beside[_UNDO] = entry.on_rollback if isinstance(entry.on_rollback, str) else list(entry.on_rollback)
    if entry.env:
        inside = entry.options.get(_ENV)
        beside[_ENV] = {**inside, **entry.env} if isinstance(inside, dict) else inside or dict(entry.env)
    return msgspec.structs.replace(entry, options={**entry.options, **beside}) if beside else entry


def _twice(document: Document, path: Path, entry: StageEntry) -> list[Problem]:
    if not entry.on_rollback or not entry.options.get(_UNDO):
        return []
    message = f"has no effect: the stage has {_UNDO} beside `with`, which wins"
    return [document.problem((*path, "with", _UNDO), message, Severity.WARNING, of_key=True)]
