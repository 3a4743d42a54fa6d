"""Databases as an older Fairway left them."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from fairway.server.store import migrate
from tests.integration.server.postgres import an_engine


@contextlib.contextmanager
def an_old_database(url: str, revision: str) -> Iterator[sa.Connection]:
    """A transaction on an empty database that has the tables of a revision."""
    engine = an_engine(url)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(migrate.__file__).with_name("migrations")))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        yield connection
    engine.dispose()
