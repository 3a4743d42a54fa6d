"""What has ended by itself is forgotten by the rounds of housekeeping."""

from datetime import timedelta

from obstore.store import MemoryStore
from sqlalchemy import Connection

from fairway.server.housekeeping import HousekeepingSettings, tidy
from fairway.server.logs import LogStore
from fairway.server.logs.bucket import Bucket
from fairway.server.sign_in.links import LIFETIME, new_link
from fairway.server.sign_in.sessions import IDLE
from fairway.server.store.sessions import insert_session
from fairway.server.store.sign_in_links import insert_link
from tests.integration.server.sign_in.browser import Place
from tests.unit.model.builders import NOW


async def test_sessions_and_links_that_have_ended_are_forgotten(place: Place) -> None:
    def insert(connection: Connection) -> None:
        for lasts in (timedelta(hours=1), timedelta(hours=2), timedelta(days=7)):
            insert_session(connection, place.desk.sessions.new("jo", lasts, "").session)
        insert_link(connection, new_link("jo", NOW).link)

    await place.store.write(insert)
    logs = LogStore(Bucket(MemoryStore()))

    rounds = [
        await tidy(place.store, logs, NOW + after, HousekeepingSettings(batch=1))
        for after in (timedelta(hours=2), LIFETIME, IDLE)
    ]

    assert rounds == [{"sessions": 2}, {"sessions": 1, "sign_in_links": 1}, {}]
    await logs.close()
