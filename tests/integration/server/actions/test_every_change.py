"""What holds for each action that changes something: it is refused without a role, and it leaves one record."""

import pytest
import sqlalchemy as sa

from fairway.model.role import VIEWER
from fairway.server.callers import Caller
from fairway.server.status_codes import Forbidden
from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from tests.integration.server.actions.acting import ADDRESS, Acting, a_caller, an_admin
from tests.integration.server.actions.changes import Change, every_change


@every_change
@pytest.mark.parametrize(
    "caller",
    [
        pytest.param(a_caller(), id="without a role"),
        pytest.param(a_caller(VIEWER), id="who may only look"),
        pytest.param(an_admin(project_id="other"), id="of another project"),
    ],
)
async def test_who_may_not_changes_and_records_nothing(parts: Acting, change: Change, caller: Caller) -> None:
    before = await _everything(parts.store)

    with pytest.raises(Forbidden):
        await change.ask(parts.desk, caller)

    assert (await _everything(parts.store), parts.hints.published, parts.forgotten) == (before, [], [])


@every_change
async def test_a_change_leaves_one_record_of_who_did_what_from_where(parts: Acting, change: Change) -> None:
    await change.ask(parts.desk, an_admin())

    (record,) = await parts.audited()
    said = (record.actor, record.actor_kind, record.action, record.subject_id, record.address, record.created_at)
    assert said == ("ada", "user", change.action, change.subject_id, ADDRESS, parts.clock.now())
    assert record.before != record.after


async def _everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Each row of each table."""

    def read(connection: sa.Connection) -> dict[str, list[tuple[object, ...]]]:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
            for table in METADATA.sorted_tables
        }

    return await store.read(read)
