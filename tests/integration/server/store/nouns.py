"""One of each noun that the store keeps, with only what a test is about left to say."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from fairway.model.agent import Agent
from fairway.model.api_key import APIKey
from fairway.model.chain import ChainBlock, ChainNode, DeploymentChain
from fairway.model.command import CancelDeployment, Command
from fairway.model.event import Event
from fairway.model.live_state import LiveState, LiveStateVersion, Resource
from fairway.server.store.projects import Project
from fairway.server.store.store import Store
from tests.unit.model.builders import NOW

_TIMES = {"created_at": NOW, "updated_at": NOW}


def minutes(number: int) -> datetime:
    """A moment that many minutes after the beginning of every test."""
    return NOW + timedelta(minutes=number)


async def keep(store: Store, insert: Callable[[sa.Connection, Any], None], *nouns: object) -> None:
    """Store the nouns in one write."""

    def insert_all(connection: sa.Connection) -> None:
        for noun in nouns:
            insert(connection, noun)

    await store.write(insert_all)


def a_project(id: str = "shop", **fields: Any) -> Project:
    return Project(**{"id": id, **_TIMES, **fields})


def an_agent(id: str = "agent-1", **fields: Any) -> Agent:
    return Agent(**{"id": id, "name": "near", "project_id": "shop", **_TIMES, **fields})


def an_api_key(id: str = "key-1", **fields: Any) -> APIKey:
    known = {"id": id, "name": "ci", "key_hash": "#", "project_id": "shop", "creator": "ada"}
    return APIKey(**{**known, **_TIMES, **fields})


def a_command(id: str = "c-1", **fields: Any) -> Command:
    payload = CancelDeployment(deployment_id="d-1", force_rollback=True)
    known: dict[str, Any] = {"id": id, "agent_id": "agent-1", "project_id": "shop", "payload": payload}
    return Command(**{**known, **_TIMES, **fields})


def an_event(id: str = "e-1", **fields: Any) -> Event:
    known = {"id": id, "name": "image", "data": "v2", "project_id": "shop", "key": "k"}
    return Event(**{**known, **_TIMES, **fields})


def a_chain(id: str = "chain-1", **fields: Any) -> DeploymentChain:
    blocks = (ChainBlock(nodes=(ChainNode(application_id="a-1"),)),)
    return DeploymentChain(**{"id": id, "project_id": "shop", "blocks": blocks, **_TIMES, **fields})


def a_live_state(application_id: str = "a-1", **fields: Any) -> LiveState:
    known: dict[str, Any] = {"application_id": application_id, "agent_id": "agent-1", "project_id": "shop"}
    resources = (Resource(id="r-1", name="cart"),)
    return LiveState(**{**known, "version": LiveStateVersion(at=NOW), "resources": resources, **fields})
