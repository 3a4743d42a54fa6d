"""`fairway webhook …`: places at which Git hosts tell of pushes."""

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

commands = noun("Webhooks: let Git hosts tell of pushes.")

Provider = Literal["github", "gitlab", "gitea", "bitbucket", "generic"]


class ShownWebhook(msgspec.Struct, frozen=True):
    """A webhook, as the server shows it: never its secret."""

    id: str
    name: str = ""
    provider: str = ""
    created_at: datetime | None = None
    #: Where pushes are sent.
    url: str = ""


class NewWebhook(msgspec.Struct, frozen=True):
    """A new webhook, where to send to and what to sign with."""

    webhook: ShownWebhook
    url: str
    secret: str


@commands.command("add")
@with_server
def add_webhook(
    call: Call,
    name: Annotated[str, typer.Argument(help="What people call it.")],
    provider: Annotated[Provider, typer.Option(help="Who sends.")],
) -> None:
    """Make a webhook. Its secret is printed this once."""
    body = call.remote.send("POST", segments("webhooks"), {"provider": provider, "name": name})
    if call.as_json:
        call.print_json(body)
        return
    made = decode(body, NewWebhook)
    print_key(made.secret, f"let {provider} send pushes to {made.url}, signed with this secret, shown this once:")


@commands.command("list")
@with_server
def list_webhooks(call: Call) -> None:
    """List webhooks."""
    call.answer_list(whole_list(call, "webhooks", ShownWebhook), webhook_table)


@commands.command("delete")
@with_server
def delete_webhook(
    call: Call,
    webhook: Annotated[str, typer.Argument(help="Its id, the beginning of it, or its name.")],
    yes: Yes = False,
) -> None:
    """Take pushes from there no longer."""
    webhook_id = find_id(call, "webhooks", webhook)
    confirm(f"Delete webhook {webhook} ({webhook_id})?", yes)
    call.print_json(call.remote.send("DELETE", segments("webhooks", webhook_id)))
    call.say(f"webhook {webhook_id} is gone")


def webhook_table(found: list[ShownWebhook], now: datetime) -> "RenderableType":
    """Webhooks by name."""
    from fairway.cli.output import ago, table

    rows = [(each.id, each.name, each.provider, ago(each.created_at, now), each.url) for each in found]
    return table(("ID", "NAME", "PROVIDER", "CREATED", "URL"), rows, "no webhooks")
