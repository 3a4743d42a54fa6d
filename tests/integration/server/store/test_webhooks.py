import pytest

from fairway.server.store import webhooks
from fairway.server.store.errors import AlreadyExists, NotFound
from fairway.server.store.store import Store
from fairway.server.webhooks.providers import ProviderName
from fairway.server.webhooks.webhook import Webhook
from tests.integration.server.store.nouns import keep
from tests.unit.model.builders import NOW


def a_webhook(id: str = "hook-1", project_id: str = "shop") -> Webhook:
    return Webhook(
        id=id,
        project_id=project_id,
        name="pushes",
        provider=ProviderName.GITHUB,
        secret="hunter2",
        creator="ada",
        created_at=NOW,
    )


async def test_webhooks_are_kept_for_their_project(store: Store) -> None:
    one, two, foreign = a_webhook("hook-1"), a_webhook("hook-2"), a_webhook("hook-3", "other")
    await keep(store, webhooks.insert_webhook, two, one, foreign)

    assert await store.read(lambda connection: webhooks.list_webhooks(connection, "shop")) == (one, two)
    assert await store.read(lambda connection: webhooks.load_webhook(connection, "hook-3")) == foreign


async def test_a_deleted_webhook_is_gone(store: Store) -> None:
    await store.write(lambda connection: webhooks.insert_webhook(connection, a_webhook()))

    await store.write(lambda connection: webhooks.delete_webhook(connection, "hook-1"))

    with pytest.raises(NotFound):
        await store.read(lambda connection: webhooks.load_webhook(connection, "hook-1"))
    with pytest.raises(NotFound):
        await store.write(lambda connection: webhooks.delete_webhook(connection, "hook-1"))


async def test_an_id_is_taken_once(store: Store) -> None:
    await store.write(lambda connection: webhooks.insert_webhook(connection, a_webhook()))

    with pytest.raises(AlreadyExists):
        await store.write(lambda connection: webhooks.insert_webhook(connection, a_webhook()))


def test_a_webhook_does_not_show_its_secret_by_accident() -> None:
    assert "hunter2" not in repr(a_webhook())
