"""`fairway role …`: what people may do, as files."""

import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
import yaml

from fairway.cli.call import Call, UsageError, noun, with_server
from fairway.cli.find import whole_list
from fairway.cli.options import Yes, confirm
from fairway.cli.remote import segments
from fairway.model.role import Role

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

commands = noun("Roles: what people may do.")

Name = Annotated[str, typer.Argument(help="Its name.")]


@commands.command("list")
@with_server
def list_roles(call: Call) -> None:
    """List roles, the built-in ones first."""
    call.answer_list(whole_list(call, "roles", Role), role_table)


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
    body = call.remote.send("PUT", segments("roles", name), {"permissions": read_permissions(text, name, str(file))})
    call.done(body, lambda: f"role {name} is set")


@commands.command("delete")
@with_server
def delete_role(call: Call, name: Name, yes: Yes = False) -> None:
    """Take a role away; refused while somebody has it."""
    confirm(f"Delete role {name}?", yes)
    call.print_json(call.remote.send("DELETE", segments("roles", name)))
    call.say(f"role {name} is gone")


def read_permissions(text: str, name: str, file: str) -> Any:
    """The permissions in a file, as they are written there: the server says what is wrong with one.

    A field that is not known must not be passed over here, since a permission allows more the less it says.
    """
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{file} is neither YAML nor JSON: {error}") from error
    if not isinstance(found, dict) or "permissions" not in found:
        raise UsageError(f"{file} is no role; expected a list of `permissions`, as `fairway role get` prints it")
    if unknown := sorted(str(key) for key in found.keys() - {"name", "permissions"}):
        raise UsageError(f"{file} has {', '.join(unknown)}; expected only name and permissions")
    if found.get("name", name) != name:
        raise UsageError(f"{file} is about the role {found['name']!r}, not {name!r}; say which one you mean")
    return found["permissions"]


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
