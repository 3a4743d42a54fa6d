"""A noun survives the way into its document and back, whatever is in it."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.agent import Agent
from fairway.model.api_key import APIKey
from fairway.model.application import Application, DiscoveredApplication
from fairway.model.chain import DeploymentChain
from fairway.model.command import Command
from fairway.model.deployment import Deployment
from fairway.model.event import Event
from fairway.model.live_state import LiveState
from fairway.server.store.documents import decode, encode, from_microseconds, to_microseconds
from fairway.server.store.errors import UnusableDatabase
from fairway.server.store.projects import Project
from tests.unit.rpc.arbitrary import structs

NOUNS = (
    Agent,
    APIKey,
    Application,
    Command,
    Deployment,
    DeploymentChain,
    DiscoveredApplication,
    Event,
    LiveState,
    Project,
)
TIMES = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize("noun", NOUNS)
@given(data=st.data())
def test_any_noun_comes_back_from_its_document(noun: type[msgspec.Struct], data: st.DataObject) -> None:
    value = data.draw(structs(noun))

    document = encode(value)

    assert decode(document, noun) == value
    # PostgreSQL's text cannot hold it; msgspec escapes it.
    assert "\x00" not in document


@given(TIMES)
def test_a_time_comes_back_from_its_column(at: datetime) -> None:
    assert from_microseconds(to_microseconds(at)) == at


@given(TIMES, TIMES)
def test_columns_are_ordered_as_their_times(one: datetime, other: datetime) -> None:
    assert (to_microseconds(one) < to_microseconds(other)) == (one < other)


def test_times_of_other_zones_are_the_same_moment() -> None:
    elsewhere = datetime(2026, 1, 1, 13, tzinfo=UTC).astimezone(tz=None)

    assert to_microseconds(elsewhere) == to_microseconds(elsewhere.astimezone(UTC))
    assert to_microseconds(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=1)) == 1_000_000


@pytest.mark.parametrize(
    "document",
    [
        pytest.param("", id="nothing"),
        pytest.param('{"id": "x"', id="cut off"),
        pytest.param('{"id": "x"}', id="fields missing"),
    ],
)
def test_a_document_that_cannot_be_read_is_the_databases_fault(document: str) -> None:
    with pytest.raises(UnusableDatabase, match="restore a backup") as raised:
        decode(document, Project)

    assert isinstance(raised.value.__cause__, msgspec.DecodeError)
