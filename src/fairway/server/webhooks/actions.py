"""Webhooks are made, listed and deleted. The secret is shown by what made it and by nothing else."""

import msgspec
from sqlalchemy import Connection

from fairway.model.role import Action, Resource
from fairway.server.actions.audit import record
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.names import checked_name
from fairway.server.callers import Caller
from fairway.server.permissions import permit
from fairway.server.store import webhooks
from fairway.server.webhooks.providers import ProviderName, new_secret
from fairway.server.webhooks.webhook import Webhook


async def list_webhooks(desk: ActionDesk, caller: Caller) -> tuple[Webhook, ...]:
    """All webhooks of the project, by id, without their secrets."""
    permit(caller, Resource.WEBHOOK, Action.READ, caller.project_id)
    found = await desk.store.read(lambda connection: webhooks.list_webhooks(connection, caller.project_id))
    return tuple(msgspec.structs.replace(webhook, secret="") for webhook in found)


async def create_webhook(desk: ActionDesk, caller: Caller, provider: ProviderName, name: str) -> Webhook:
    """A new webhook of the project, with its secret."""
    now = desk.clock.now()
    webhook = Webhook(
        id=desk.new_id(),
        project_id=caller.project_id,
        name=checked_name(name),
        provider=provider,
        secret=new_secret(provider),
        creator=caller.name,
        created_at=now,
    )

    def create(connection: Connection) -> None:
        permit(caller, Resource.WEBHOOK, Action.CREATE, caller.project_id)
        webhooks.insert_webhook(connection, webhook)
        record(
            connection,
            caller,
            now,
            action="webhook.create",
            subject_id=webhook.id,
            subject_name=name,
            after=_recorded(webhook),
        )

    await desk.store.write(create)
    return webhook


async def delete_webhook(desk: ActionDesk, caller: Caller, webhook_id: str) -> None:
    """Refuse whatever is sent to this webhook from now on."""
    now = desk.clock.now()

    def delete(connection: Connection) -> None:
        webhook = webhooks.load_webhook(connection, webhook_id)
        permit(caller, Resource.WEBHOOK, Action.DELETE, webhook.project_id)
        webhooks.delete_webhook(connection, webhook_id)
        record(
            connection,
            caller,
            now,
            action="webhook.delete",
            subject_id=webhook.id,
            subject_name=webhook.name,
            before=_recorded(webhook),
        )

    await desk.store.write(delete)


def _recorded(webhook: Webhook) -> dict[str, str]:
    return {"name": webhook.name, "provider": webhook.provider.value}
