"""`fairway user …`: people who sign in."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from fairway.cli.agent import print_key
from fairway.cli.call import Call, decode, noun, with_server
from fairway.cli.find import list_of
from fairway.cli.options import Limit, Yes, confirm
from fairway.cli.remote import segments

if TYPE_CHECKING:
    from rich.console import RenderableType

commands = noun("Users: people who sign in.")

Id = Annotated[str, typer.Argument(help="The name they are known by.")]


class ShownUser(msgspec.Struct, frozen=True):
    """A person, as the server shows them."""

    id: str
    display_name: str = ""
    provider: str = ""
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    disabled: bool = False
    has_password: bool = True
    last_sign_in_at: datetime | None = None


class Link(msgspec.Struct, frozen=True):
    """A page that works once, to set a password."""

    link: str


@commands.command("list")
@with_server
def list_users(call: Call, limit: Limit = 100) -> None:
    """List people, and what they may do."""
    call.answer_list(list_of(call, "users", ShownUser, {}, limit), user_table)


@commands.command("get")
@with_server
def get_user(call: Call, id: Id) -> None:
    """Show a person: who vouches for them, and what they may do."""
    from fairway.cli.output import now

    call.answer(call.remote.get(segments("users", id)), ShownUser, lambda user: user_card(user, now()))


@commands.command("add")
@with_server
def add_user(
    call: Call,
    id: Id,
    role: Annotated[list[str], typer.Option(help="What they may do: Viewer, Editor, Admin …; may be repeated.")],
    display_name: Annotated[str, typer.Option(help="How they are shown.")] = "",
) -> None:
    """Add a person. The link with which they set a password is printed this once."""
    said = {"id": id, "roles": role} | ({"display_name": display_name} if display_name else {})
    _print_link(call, call.remote.send("POST", segments("users"), said), id)


@commands.command("link")
@with_server
def new_link(call: Call, id: Id) -> None:
    """Make a new link with which a person sets a password; it works once."""
    _print_link(call, call.remote.send("POST", segments("users", id, "link")), id)


@commands.command("disable")
@with_server
def disable_user(call: Call, id: Id, yes: Yes = False) -> None:
    """Refuse a person from now on; whatever they are signed in to ends."""
    confirm(f"Disable {id}? They are signed out at once.", yes)
    body = call.remote.send("PATCH", segments("users", id), {"disabled": True})
    call.done(body, lambda: f"{id} is disabled")


@commands.command("enable")
@with_server
def enable_user(call: Call, id: Id) -> None:
    """Let a person sign in again."""
    body = call.remote.send("PATCH", segments("users", id), {"disabled": False})
    call.done(body, lambda: f"{id} may sign in again")


def user_table(found: list[ShownUser], now: datetime) -> "RenderableType":
    """People: who vouches for them, and what they may do."""
    from fairway.cli.output import ago, status, table

    rows = [
        (
            each.id,
            each.display_name,
            status("disabled" if each.disabled else "enabled"),
            each.provider,
            ", ".join(each.roles),
            ago(each.last_sign_in_at, now),
        )
        for each in found
    ]
    return table(("ID", "NAME", "STATUS", "PROVIDER", "ROLES", "SIGNED IN"), rows, "no users")


def user_card(user: ShownUser, now: datetime) -> "RenderableType":
    """Everything about a person that an administrator asks first."""
    from rich.console import Group
    from rich.text import Text

    from fairway.cli.output import ago, fields, plain, status

    word = status("disabled" if user.disabled else "enabled")
    return Group(
        Text.assemble((plain(user.display_name or user.id), "bold"), "  ", word),
        fields(
            [
                ("id", user.id),
                ("provider", user.provider),
                ("password", _password(user)),
                ("roles", ", ".join(user.roles)),
                ("groups", ", ".join(user.groups)),
                ("signed in", ago(user.last_sign_in_at, now)),
            ]
        ),
    )


def _password(user: ShownUser) -> str:
    missing = user.provider == "local" and not user.has_password
    return "not set yet; `fairway user link` makes a link for it" if missing else ""


def _print_link(call: Call, body: bytes, id: str) -> None:
    if call.as_json:
        call.print_json(body)
    else:
        print_key(decode(body, Link).link, f"give {id} this link; it works once:")
