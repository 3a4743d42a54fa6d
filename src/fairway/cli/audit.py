"""`fairway audit …`: who changed what."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from fairway.cli.call import Call, UsageError, noun, with_server
from fairway.cli.find import list_of
from fairway.cli.options import Limit
from fairway.cli.remote import segments
from fairway.model.audit import AuditRecord

if TYPE_CHECKING:
    from rich.console import RenderableType

commands = noun("Audit: who changed what.")

Actor = Annotated[str, typer.Option(help="Only by this person or API key.")]
Action = Annotated[str, typer.Option(help="Only this, such as application.sync.")]
Subject = Annotated[str, typer.Option(help="Only about the thing with this id.")]
Since = Annotated[str, typer.Option(help="Only from this time on: 2026-01-31, or with a time.")]
Until = Annotated[str, typer.Option(help="Only until this time.")]


@commands.command("list")
@with_server
def list_records(
    call: Call,
    actor: Actor = "",
    action: Action = "",
    subject: Subject = "",
    since: Since = "",
    until: Until = "",
    limit: Limit = 20,
) -> None:
    """List changes, newest first."""
    query = {"actor": actor, "action": action, "subject_id": subject}
    query |= {"since": a_time("since", since), "until": a_time("until", until)}
    call.answer_list(list_of(call, "audit", AuditRecord, query, limit), audit_table)


@commands.command("export")
@with_server
def export_records(
    call: Call,
    form: Annotated[Literal["jsonl", "csv"], typer.Option("--format", help="How.")] = "jsonl",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file; without it, stdout.")] = None,
    actor: Actor = "",
    action: Action = "",
    subject: Subject = "",
    since: Since = "",
    until: Until = "",
) -> None:
    """Write all changes that fit, to keep them or to search them elsewhere."""
    query = {"format": form, "actor": actor, "action": action, "subject_id": subject}
    query |= {"since": a_time("since", since), "until": a_time("until", until)}
    with call.remote.stream(segments("audit", "export"), query) as chunks:
        if output is None:
            for chunk in chunks:
                sys.stdout.buffer.write(chunk)
            return
        with output.open("wb") as file:
            file.writelines(chunks)


def a_time(option: str, text: str) -> str:
    """The time as the API takes it; without a zone it is the local one's."""
    if not text:
        return ""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError as error:
        raise UsageError(f"--{option} is {text!r}; expected a date or a time such as 2026-01-31T15:00") from error


def audit_table(found: list[AuditRecord], now: datetime) -> "RenderableType":
    """Changes: who, what, how it was and is."""
    from fairway.cli.output import ago, table

    rows = [
        (
            ago(each.created_at, now),
            each.actor,
            each.address,
            each.action,
            each.subject_name or each.subject_id,
            what_changed(each),
        )
        for each in found
    ]
    return table(("WHEN", "WHO", "FROM", "WHAT", "ON", "CHANGE"), rows, "no changes")


def what_changed(record: AuditRecord) -> str:
    """Each field that changed, before and after; a thing that is new or gone is not told field by field."""
    whole = _WHOLE.get(record.action.rpartition(".")[2])
    if whole is not None:
        return whole
    names = sorted({*record.before, *record.after})
    if not record.before:
        return ", ".join(f"{name}: {_word(record.after, name)}" for name in names)
    return ", ".join(f"{name}: {_word(record.before, name)} → {_word(record.after, name)}" for name in names)


#: What befalls a thing as a whole.
_WHOLE = {"create": "new", "delete": "gone"}


def _word(values: dict[str, Any], name: str) -> str:
    value = values.get(name, "")
    if isinstance(value, str):
        return value or "nothing"
    return msgspec.json.encode(value).decode()
