"""No question that grows with the years reads a whole table: both databases tell how they answer each.

They are asked with a small population that is like a large one in its proportions. Planners go by statistics; those are
gathered by PostgreSQL itself, and on SQLite by nobody unless somebody types ANALYZE, so it is asked with and without.
`bench.questions` has the questions, `python -m bench scale` the million.
"""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from bench.filling import fill
from bench.population import PROJECT, START, Population
from bench.questions import BY_INDEX, IN_ORDER, Work
from fairway.server.store import agents, commands, deployments, events, sessions, sign_in_links
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store
from tests.integration.server.postgres import a_database, an_engine

SMALL = Population(
    agents=100, applications=2_000, deployments=20_000, commands=8_000, events=8_000, chains=4_000, audit=8_000, open=50
)
#: Rows that PostgreSQL may sort or read one after another: what belongs to one application or agent, or waits.
FEW = 500
_OLD = START + timedelta(days=30)

#: What the server does by itself, and what agents change all day.
CHORES: dict[str, Work] = {
    "old commands": lambda c: commands.delete_finished_commands(c, _OLD, 10),
    "old events": lambda c: events.delete_handled_events(c, PROJECT, _OLD, 10),
    "old sessions": lambda c: sessions.delete_expired_sessions(c, _OLD, 10),
    "old links": lambda c: sign_in_links.delete_expired_links(c, _OLD, 10),
    "deletion of a deployment": lambda c: deployments.delete_deployment(c, "d-1"),
    "heartbeat": lambda c: agents.touch_agent(c, "agent-000001", START),
}
#: Read whole, because they hold only what waits, or what two days left.
SMALL_INDEXES: dict[str, tuple[Work, list[str]]] = {
    "overdue commands": (
        lambda c: commands.list_overdue_commands(c, _OLD, 10),
        ["SCAN commands USING INDEX commands_waiting"],
    ),
    "old outputs": (
        lambda c: commands.delete_command_outputs(c, _OLD, 10),
        ["SCAN command_outputs USING COVERING INDEX sqlite_autoindex_command_outputs_1"],
    ),
}

Database = tuple[sa.Engine, Callable[[sa.Connection, str, Any], "Plan"]]


class Plan:
    """How a database answers: what it reads from one end to the other, and what it sorts."""

    def __init__(self) -> None:
        self.scans: list[str] = []
        self.sorts: list[str] = []


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    engine = _populated(f"sqlite:///{tmp_path_factory.mktemp('plans')}/fairway.db")
    yield engine, _sqlite_plan
    engine.dispose()


@pytest.fixture(scope="module")
def sqlite_without_statistics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    engine = _populated(f"sqlite:///{tmp_path_factory.mktemp('plans')}/fairway.db")
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM sqlite_stat1"))
    engine.dispose()  # a connection remembers them
    yield engine, _sqlite_plan
    engine.dispose()


@pytest.fixture(scope="module")
def postgres(postgres_server: str) -> Iterator[Database]:
    engine = _populated(a_database(postgres_server))
    yield engine, _postgres_plan
    engine.dispose()


@pytest.fixture(params=["sqlite", "sqlite_without_statistics", "postgres"])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("name", [*IN_ORDER, *BY_INDEX, *CHORES])
def test_a_question_is_answered_through_an_index(database: Database, name: str) -> None:
    plans = how(database, {**IN_ORDER, **BY_INDEX, **CHORES}[name])

    assert plans
    assert [scan for plan in plans for scan in plan.scans] == []


@pytest.mark.parametrize("name", IN_ORDER)
def test_a_page_is_read_in_the_order_of_an_index(database: Database, name: str) -> None:
    plans = how(database, IN_ORDER[name])

    assert [sort for plan in plans for sort in plan.sorts] == []


@pytest.mark.parametrize("name", SMALL_INDEXES)
def test_a_look_at_what_grows_old_reads_a_small_index_and_no_table(sqlite: Database, name: str) -> None:
    work, scanned = SMALL_INDEXES[name]

    plans = how(sqlite, work)

    assert [scan for plan in plans for scan in plan.scans] == scanned


def how(database: Database, work: Work) -> list[Plan]:
    """How the database answers each statement of the work, all of which is undone."""
    engine, explain = database
    with engine.connect() as connection:
        statements: list[tuple[str, Any]] = []
        driver = connection.connection.driver_connection
        if isinstance(driver, sqlite3.Connection):
            # Some statements do not pass through SQLAlchemy.
            driver.set_trace_callback(lambda text: statements.append((text, ())))
        else:
            sa.event.listen(connection, "before_cursor_execute", lambda *call: statements.append((call[2], call[3])))
        with contextlib.suppress(NotFound):  # what was asked before is explained all the same
            work(connection)
        asked = [each for each in statements if each[0].lstrip().startswith(("SELECT", "UPDATE", "DELETE"))]
        plans = [explain(connection, statement, parameters) for statement, parameters in asked]
        connection.rollback()
        if isinstance(driver, sqlite3.Connection):
            driver.set_trace_callback(None)
    return plans


def _populated(url: str) -> sa.Engine:
    async def migrate() -> None:
        await (await Store.open(url)).close()

    asyncio.run(migrate())
    fill(url, SMALL)
    return an_engine(url)


def _sqlite_plan(connection: sa.Connection, statement: str, parameters: Any) -> Plan:
    plan = Plan()
    for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters):
        # The results of a subquery are few, and so are the labels in one document.
        if row.detail.startswith("SCAN") and not row.detail.startswith(("SCAN anon_", "SCAN json_each")):
            plan.scans.append(row.detail)
        # Its last part puts rows of the same moment in order, which are few.
        if "TEMP B-TREE" in row.detail and "LAST TERM" not in row.detail and "RIGHT PART" not in row.detail:
            plan.sorts.append(row.detail)
    return plan


def _postgres_plan(connection: sa.Connection, statement: str, parameters: Any) -> Plan:
    found = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
    plan, nodes = Plan(), [(json.loads(found) if isinstance(found, str) else found)[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes.extend(node.get("Plans", []))
        read = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        if node["Node Type"] == "Seq Scan" and read > FEW:
            plan.scans.append(f"{node['Relation Name']}: {read} rows")
        if node["Node Type"] == "Sort" and node["Plans"][0]["Actual Rows"] > FEW:
            plan.sorts.append(f"{node['Sort Key']}: {node['Plans'][0]['Actual Rows']} rows")
    return plan
