"""Places that tell of pushes."""

import sqlalchemy as sa

from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Rows
from fairway.server.store.tables import WEBHOOKS
from fairway.server.webhooks.webhook import Webhook

_ROWS = Rows(WEBHOOKS, Webhook, "webhook", lambda webhook: {"id": webhook.id, "project_id": webhook.project_id})


def insert_webhook(connection: sa.Connection, webhook: Webhook) -> None:
    """Store a new webhook."""
    _ROWS.insert(connection, webhook)


def load_webhook(connection: sa.Connection, id: str) -> Webhook:
    """The webhook with this id."""
    return _ROWS.load(connection, id)


def list_webhooks(connection: sa.Connection, project_id: str) -> tuple[Webhook, ...]:
    """All webhooks of a project, by id."""
    statement = sa.select(WEBHOOKS.c.document).where(WEBHOOKS.c.project_id == project_id).order_by(WEBHOOKS.c.id)
    return _ROWS.query(connection, statement)


def delete_webhook(connection: sa.Connection, id: str) -> None:
    """Forget a webhook; NotFound without one."""
    if not connection.execute(sa.delete(WEBHOOKS).where(WEBHOOKS.c.id == id)).rowcount:
        raise NotFound("webhook", id)
