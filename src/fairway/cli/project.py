"""`fairway project …`: owners of applications, agents and keys."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from fairway.cli.call import Call, noun, with_server
from fairway.cli.find import whole_list
from fairway.cli.remote import segments

if TYPE_CHECKING:
    from rich.console import RenderableType

commands = noun("Projects: owners of applications, agents and keys.")


class Project(msgspec.Struct, frozen=True):
    """One project."""

    id: str
    desc: str = ""
    created_at: datetime | None = None


@commands.command("list")
@with_server
def list_projects(call: Call) -> None:
    """List the projects that you may see."""
    call.answer_list(whole_list(call, "projects", Project), project_table)


@commands.command("add")
@with_server
def add_project(
    call: Call,
    id: Annotated[str, typer.Argument(help="Its id; it never changes.")],
    desc: Annotated[str, typer.Option(help="A sentence about it.")] = "",
) -> None:
    """Make a project."""
    body = call.remote.send("POST", segments("projects"), {"id": id, "desc": desc} if desc else {"id": id})
    call.done(body, lambda: f"project {id} is there")


def project_table(found: list[Project], now: datetime) -> "RenderableType":
    """Projects by id."""
    from fairway.cli.output import ago, table

    rows = [(each.id, ago(each.created_at, now), each.desc) for each in found]
    return table(("ID", "CREATED", "ABOUT"), rows, "no projects")
