"""What holds for each action that changes something: it is refused without a role, and it leaves one record."""

import importlib
import inspect
import pkgutil

import msgspec
import pytest
import sqlalchemy as sa

from fairway.model.role import VIEWER
from fairway.server import actions
from fairway.server.status_codes import Forbidden
from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from tests.integration.server.actions.acting import ADDRESS, Acting, a_caller, an_admin
from tests.integration.server.actions.changes import CHANGES, Change, every_change


@every_change
async def test_who_may_not_changes_and_records_nothing(parts: Acting, change: Change) -> None:
    without_role, who_may_only_look, of_another_project = a_caller(), a_caller(VIEWER), an_admin(project_id="other")
    refused = [without_role, who_may_only_look, *([] if change.makes else [of_another_project])]
    before = await _everything(parts.store)

    for caller in refused:
        with pytest.raises(Forbidden):
            await change.ask(parts.desk, caller)

    assert (await _everything(parts.store), parts.hints.published, parts.forgotten) == (before, [], [])


@every_change
async def test_a_change_leaves_one_record_of_who_did_what_from_where(parts: Acting, change: Change) -> None:
    answer = await change.ask(parts.desk, an_admin())

    (record,) = await parts.audited(change.project_id)
    said = (record.actor, record.actor_kind, record.action, record.subject_id, record.address, record.created_at)
    assert said == ("ada", "user", change.action, change.subject_id, ADDRESS, parts.clock.now())
    assert record.before != record.after
    shown = getattr(answer, "key", None)
    secrets = ["sha256", "hash-", "s3cret", *([shown] if isinstance(shown, str) else [])]
    assert not any(secret in msgspec.json.encode(record).decode() for secret in secrets)
    assert b"sha256" not in msgspec.json.encode(answer)


def test_every_change_is_tried_here() -> None:
    names = [found.name for found in pkgutil.iter_modules(actions.__path__, f"{actions.__name__}.")]
    found = {
        function
        for module in map(importlib.import_module, names)
        for name, function in inspect.getmembers(module, inspect.iscoroutinefunction)
        if function.__module__ == module.__name__ and not name.startswith(("_", "get_", "list_", "page_"))
    }

    assert found == set(CHANGES)


async def _everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Each row of each table."""

    def read(connection: sa.Connection) -> dict[str, list[tuple[object, ...]]]:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
            for table in METADATA.sorted_tables
        }

    return await store.read(read)
