"""`fairway role …`: what people may do, as files."""

import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
import yaml

from fairway.cli.call import Call, UsageError, noun, with_server
from fairway.cli.find import list_of
from fairway.cli.options import Limit, Yes, confirm
from fairway.cli.remote import segments
from fairway.model.role import Permission, Role

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

commands = noun("Roles: what people may do.")

Name = Annotated[str, typer.Argument(help="Its name.")]


class RoleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says."""

    permissions: tuple[Permission, ...]
    #: May be there, as `role get` prints it; the argument counts.
    name: str = ""


@commands.command("list")
@with_server
def list_roles(call: Call, limit: Limit = 100) -> None:
    """List roles."""
    call.answer_list(list_of(call, "roles", Role, {}, limit), role_table)


@commands.command("get")
@with_server
def get_role(call: Call, name: Name) -> None:
    """Print a role as YAML, ready to be changed and set."""
    body = call.remote.get(segments("roles", name))
    if call.as_json:
        call.print_json(body)
    else:
        typer.echo(yaml.safe_dump(msgspec.json.decode(body), sort_keys=False, allow_unicode=True), nl=False)


@commands.command("set")
@with_server
def set_role(
    call: Call,
    name: Name,
    file: Annotated[Path, typer.Option("--file", "-f", help="YAML or JSON with `permissions`; - is stdin.")],
) -> None:
    """Make a role, or change one, from a file."""
    text = sys.stdin.read() if str(file) == "-" else _text(file)
    wanted = read_role(text, str(file))
    body = call.remote.send("PUT", segments("roles", name), {"permissions": wanted.permissions})
    if call.as_json:
        call.print_json(body)
    else:
        call.say(f"role {name} is set")


@commands.command("delete")
@with_server
def delete_role(call: Call, name: Name, yes: Yes = False) -> None:
    """Take a role away from everybody who has it."""
    confirm(f"Delete role {name}?", yes)
    call.print_json(call.remote.send("DELETE", segments("roles", name)))
    call.say(f"role {name} is gone")


def read_role(text: str, file: str) -> RoleFile:
    """What the text of a file says; UsageError says what is wrong with it."""
    try:
        return msgspec.convert(yaml.safe_load(text), RoleFile)
    except yaml.YAMLError as error:
        raise UsageError(f"{file} is neither YAML nor JSON: {error}") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{file} is no role: {error}") from error


def role_table(found: list[Role], _: "datetime") -> "RenderableType":
    """Roles, each permission a line."""
    from fairway.cli.output import labels_text, table

    rows = [
        (
            role.name if number == 0 else "",
            ", ".join(each.value for each in permission.actions) if permission.actions is not None else "everything",
            ", ".join(each.value for each in permission.resources)
            if permission.resources is not None
            else "everything",
            ", ".join(permission.projects),
            labels_text(permission.labels),
        )
        for role in found
        for number, permission in enumerate(role.permissions)
    ]
    return table(("NAME", "MAY", "ON", "PROJECTS", "LABELS"), rows, "no roles")


def _words(members: Sequence[Enum] | None) -> str:
    return "everything" if members is None else ", ".join(str(each.value) for each in members)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
