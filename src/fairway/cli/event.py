"""`fairway event …`: facts from outside, such as a new image, that agents write into Git."""

from typing import Annotated, Any

import typer

from fairway.cli.call import Call, decode, noun, with_server
from fairway.cli.find import list_of
from fairway.cli.options import Labels, Limit, key_values
from fairway.cli.remote import segments
from fairway.model.event import Event, EventStatus

commands = noun("Events: tell of a new image, and see what became of it.")


@commands.command("register")
@with_server
def register_event(
    call: Call,
    name: Annotated[str, typer.Argument(help="What sort of event, as the agents' configuration names it.")],
    data: Annotated[str, typer.Option(help="The new value, such as an image's tag.")],
    label: Labels = None,
    context: Annotated[list[str] | None, typer.Option(help="key:value, for the commit; may be repeated.")] = None,
    commit: Annotated[str, typer.Option(help="The hash of the commit that caused it.")] = "",
) -> None:
    """Tell of something new."""
    said: dict[str, Any] = {
        "labels": key_values("label", label),
        "contexts": key_values("context", context),
        "commit_hash": commit,
    }
    body = {"name": name, "data": data, **{field: value for field, value in said.items() if value}}
    answer = call.remote.send("POST", segments("events"), body)
    call.done(answer, lambda: f"event {decode(answer, Event).id} is registered")


@commands.command("list")
@with_server
def list_events(
    call: Call,
    name: Annotated[str, typer.Option(help="Only with this name.")] = "",
    status: Annotated[EventStatus | None, typer.Option(help="Only with this status.")] = None,
    limit: Limit = 20,
) -> None:
    """List events, newest first."""
    from fairway.cli.lists import event_table

    query = {"name": name, "status": status.value if status else ""}
    call.answer_list(list_of(call, "events", Event, query, limit), event_table)
