"""Chains of deployments. Whether a block may start is `delivery.chain`; here a chain is kept."""

from collections.abc import Callable

import sqlalchemy as sa

from fairway.model.chain import DeploymentChain
from fairway.server.store.documents import to_microseconds
from fairway.server.store.page import Page, PageRequest, by_creation, cut_page
from fairway.server.store.rows import Columns, Rows
from fairway.server.store.tables import CHAINS


def _columns(chain: DeploymentChain) -> Columns:
    return {"id": chain.id, "project_id": chain.project_id, "created_at": to_microseconds(chain.created_at)}


_ROWS = Rows(CHAINS, DeploymentChain, "deployment chain", _columns)


def insert_chain(connection: sa.Connection, chain: DeploymentChain) -> None:
    """Store a new chain."""
    _ROWS.insert(connection, chain)


def load_chain(connection: sa.Connection, id: str) -> DeploymentChain:
    """The chain with this id."""
    return _ROWS.load(connection, id)


def update_chain(
    connection: sa.Connection, id: str, change: Callable[[DeploymentChain], DeploymentChain]
) -> DeploymentChain:
    """The chain as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def list_chains(connection: sa.Connection, project_id: str, page: PageRequest) -> Page[DeploymentChain]:
    """One page of the chains of a project, newest first."""
    statement = sa.select(CHAINS.c.document).where(CHAINS.c.project_id == project_id)
    return cut_page(connection, _ROWS, (statement,), by_creation(CHAINS), page)


def delete_chain(connection: sa.Connection, id: str) -> None:
    """Forget a chain; one that is not there is no error."""
    connection.execute(sa.delete(CHAINS).where(CHAINS.c.id == id))
