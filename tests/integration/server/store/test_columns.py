"""A change leaves a row as if the noun had been stored like that at once, though it writes only what differs."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from fairway.model.application import ApplicationKind
from fairway.model.command import CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.event import EventStatus
from fairway.server.store import applications, commands, deployments, events
from fairway.server.store.store import Store
from fairway.server.store.tables import CHANGES, METADATA
from tests.integration.server.store.nouns import a_command, an_event
from tests.unit.model.builders import LATER, a_deployment, an_application


class Kept(msgspec.Struct, frozen=True):
    """How a noun is kept."""

    insert: Callable[[sa.Connection, Any], None]
    update: Callable[[sa.Connection, str, Callable[[Any], Any]], Any]


APPLICATIONS = Kept(applications.insert_application, applications.update_application)
COMMANDS = Kept(commands.insert_command, commands.update_command)
DEPLOYMENTS = Kept(deployments.insert_deployment, deployments.update_deployment)
EVENTS = Kept(events.insert_event, events.update_event)


def all_rows(connection: sa.Connection) -> dict[str, list[tuple[Any, ...]]]:
    # How often something changed is no part of what it is.
    tables = [table for table in METADATA.sorted_tables if table is not CHANGES]
    return {table.name: [tuple(row) for row in connection.execute(sa.select(table))] for table in tables}


def remove_all_rows(connection: sa.Connection) -> None:
    for table in METADATA.sorted_tables:
        connection.execute(sa.delete(table))


@pytest.mark.parametrize(
    ("kept", "noun", "change"),
    [
        pytest.param(DEPLOYMENTS, a_deployment(id="x"), {"summary": "none"}, id="nothing but the document"),
        pytest.param(DEPLOYMENTS, a_deployment(id="x"), {"updated_at": LATER}, id="one column"),
        pytest.param(
            DEPLOYMENTS,
            a_deployment(id="x"),
            {"status": DeploymentStatus.FAILED, "completed_at": LATER, "updated_at": LATER},
            id="a column that was empty",
        ),
        pytest.param(
            DEPLOYMENTS, a_deployment(id="x"), {"kind": ApplicationKind.ECS, "agent_id": "b"}, id="two columns"
        ),
        pytest.param(APPLICATIONS, an_application("x"), {"disabled": True, "deleted_at": LATER}, id="a truth"),
        pytest.param(COMMANDS, a_command("x"), {"status": CommandStatus.FAILED}, id="a command"),
        pytest.param(EVENTS, an_event("x"), {"status": EventStatus.OUTDATED}, id="an event"),
    ],
)
async def test_a_changed_row_is_that_of_a_new_noun(store: Store, kept: Kept, noun: Any, change: dict[str, Any]) -> None:
    wanted = msgspec.structs.replace(noun, **change)
    await store.write(lambda connection: kept.insert(connection, noun))
    await store.write(lambda connection: kept.update(connection, "x", lambda found: wanted))
    changed = await store.read(all_rows)

    await store.write(remove_all_rows)
    await store.write(lambda connection: kept.insert(connection, wanted))

    assert changed == await store.read(all_rows)


async def test_a_change_begins_with_what_the_row_says_not_with_what_is_remembered(store: Store) -> None:
    def noted(summary: str) -> Callable[[sa.Connection], Deployment]:
        return lambda connection: deployments.update_deployment(
            connection, "x", lambda found: msgspec.structs.replace(found, summary=f"{found.summary}{summary}")
        )

    def undone(connection: sa.Connection) -> None:
        noted("undone")(connection)
        raise LookupError

    await store.write(lambda connection: deployments.insert_deployment(connection, a_deployment(id="x", summary="")))
    await store.write(noted("a"))
    with pytest.raises(LookupError):
        await store.write(undone)
    await store.write(noted("b"))
    behind = sa.text('UPDATE deployments SET document = replace(document, \'"summary":"ab"\', \'"summary":"c"\')')
    await store.write(lambda connection: connection.execute(behind))

    assert (await store.write(noted("d"))).summary == "cd"


async def test_only_so_many_rows_are_remembered(store: Store) -> None:
    most = deployments._ROWS._remembered

    def write(connection: sa.Connection) -> None:
        for number in range(most + 1):
            deployments.insert_deployment(connection, a_deployment(id=f"d-{number}"))
            deployments.update_deployment(
                connection, f"d-{number}", lambda found: msgspec.structs.replace(found, summary="s")
            )

    await store.write(write)

    kept = deployments._ROWS._written
    assert (len(kept), "d-0" in kept, f"d-{most}" in kept) == (most, False, True)


async def test_who_writes_at_the_moment_at_which_the_oldest_is_forgotten_is_in_nobodys_way(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crowded(OrderedDict[str, Any]):
        """What another thread remembers comes in between whenever somebody looks at one after the other."""

        def __iter__(self) -> Iterator[str]:
            looking = super().__iter__()
            self[f"another {len(self)}"] = None
            return looking

    crowded = Crowded({f"{number}": None for number in range(deployments._ROWS._remembered)})
    monkeypatch.setattr(deployments._ROWS, "_written", crowded)
    await store.write(lambda connection: deployments.insert_deployment(connection, a_deployment(id="x", summary="")))

    await store.write(
        lambda connection: deployments.update_deployment(
            connection, "x", lambda found: msgspec.structs.replace(found, summary="s")
        )
    )

    assert ("x" in crowded, "0" in crowded) == (True, False)
