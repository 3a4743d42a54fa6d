"""`fairway apikey …`: keys with which programs act on a project."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import typer

from fairway.cli.agent import print_key
from fairway.cli.call import Call, decode, noun, with_server
from fairway.cli.find import find_id, whole_list
from fairway.cli.options import Yes, confirm
from fairway.cli.remote import segments

if TYPE_CHECKING:
    from rich.console import RenderableType

commands = noun("API keys: how programs are known.")

Role = Literal["read_only", "read_write", "admin"]


class ShownKey(msgspec.Struct, frozen=True):
    """A key, as the server shows it: never the key itself."""

    id: str
    name: str
    role: str = ""
    creator: str = ""
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    disabled: bool = False


class NewKey(msgspec.Struct, frozen=True):
    """A new key, and its text."""

    api_key: ShownKey
    key: str


@commands.command("add")
@with_server
def add_key(
    call: Call,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    role: Annotated[Role, typer.Option(help="What its holder may do.")] = "read_only",
) -> None:
    """Make a key, printed this once."""
    body = call.remote.send("POST", segments("api-keys"), {"name": name, "role": role})
    if call.as_json:
        call.print_json(body)
        return
    made = decode(body, NewKey)
    print_key(made.key, f"API key {made.api_key.name} has id {made.api_key.id}; shown this once:")


@commands.command("list")
@with_server
def list_keys(call: Call) -> None:
    """List keys, and when they were last used."""
    call.answer_list(whole_list(call, "api-keys", ShownKey), key_table)


@commands.command("disable")
@with_server
def disable_key(
    call: Call, key: Annotated[str, typer.Argument(help="Its id, the beginning of it, or its name.")], yes: Yes = False
) -> None:
    """End a key at once, for ever."""
    key_id = find_id(call, "api-keys", key)
    confirm(f"Disable API key {key} ({key_id})? This cannot be undone.", yes)
    body = call.remote.send("POST", segments("api-keys", key_id, "disable"))
    call.done(body, lambda: f"API key {key_id} is not valid any more")


def key_table(found: list[ShownKey], now: datetime) -> "RenderableType":
    """Keys: what they may do, and whether they are used."""
    from fairway.cli.output import ago, short_ids, status, table

    ids = short_ids([each.id for each in found])
    rows = [
        (
            each.name,
            ids[each.id],
            status("disabled" if each.disabled else "enabled"),
            each.role,
            ago(each.last_used_at, now),
            ago(each.created_at, now),
            each.creator,
        )
        for each in found
    ]
    return table(("NAME", "ID", "STATUS", "ROLE", "USED", "CREATED", "BY"), rows, "no API keys")
