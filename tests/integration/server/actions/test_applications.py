"""Registering and changing applications: one place each, and labels that nobody slips out of."""

import asyncio
from typing import Any

import pytest

from fairway.model.command import SyncApplication
from fairway.model.role import Action, Permission, Resource, Role
from fairway.model.trigger import SyncStrategy
from fairway.server.actions.applications import (
    ApplicationChange,
    NewApplication,
    add_application,
    delete_application,
    disable_application,
    rename_config_files,
    sync_application,
    update_application,
)
from fairway.server.actions.places import PathTaken, UnknownRepository
from fairway.server.hints import HintTopic
from fairway.server.status_codes import Forbidden, InvalidRequest, NotNow
from fairway.server.store import applications
from tests.integration.server.actions.acting import Acting, a_caller, an_admin
from tests.unit.server.user.builders import SHOP, an_application

#: Whoever works on development only.
DEVELOPER = Role(
    name="Developer",
    permissions=(
        Permission(resources=(Resource.APPLICATION,), labels={"env": "dev*"}),
        Permission(resources=(Resource.AGENT,), actions=(Action.READ,)),
    ),
)


def a_new_application(**fields: Any) -> NewApplication:
    known: dict[str, Any] = {"name": "pay", "agent_id": "agent-1", "repository_id": "shop", "path": "apps/pay"}
    return NewApplication(**{**known, **fields})


@pytest.mark.parametrize(("told", "path"), [("apps/pay/", "apps/pay"), (".", "."), ("./", "."), ("p", "p")])
async def test_a_new_application_lives_where_its_agent_says_the_repository_is(
    parts: Acting, told: str, path: str
) -> None:
    added = await add_application(parts.desk, an_admin(), a_new_application(path=told))

    assert (added.git_path.repository, added.git_path.path) == (SHOP, path)
    assert await parts.store.read(lambda connection: applications.load_application(connection, added.id)) == added
    assert parts.hints.published == [("agent-1", HintTopic.APPLICATIONS)]


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        pytest.param({"repository_id": "other"}, UnknownRepository, id="a repository that the agent does not have"),
        pytest.param(
            {"path": "apps/cart", "config_filename": "app.pipecd.yaml"}, PathTaken, id="a place that is taken"
        ),
        pytest.param({"name": "  "}, InvalidRequest, id="no name"),
    ],
)
async def test_what_cannot_be_added_leaves_nothing(
    parts: Acting, fields: dict[str, str], refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        await add_application(parts.desk, an_admin(), a_new_application(**fields))

    assert (await parts.audited(), parts.hints.published) == ((), [])


async def test_of_two_agents_that_want_one_place_at_once_one_gets_it(parts: Acting) -> None:
    wanted = [a_new_application(agent_id=f"agent-{1 + number % 2}") for number in range(8)]

    made = await asyncio.gather(
        *(add_application(parts.desk, an_admin(), new) for new in wanted), return_exceptions=True
    )

    assert sorted(type(each).__name__ for each in made) == ["Application"] + ["PathTaken"] * 7


async def test_two_files_of_one_directory_cannot_get_one_name(parts: Acting) -> None:
    place = {"path": "apps/cart", "config_filename": "other.yaml"}
    other = await add_application(parts.desk, an_admin(), a_new_application(**place))

    with pytest.raises(PathTaken):
        await rename_config_files(parts.desk, an_admin(), (other.id, "cart"), "app.pipecd.yaml")


async def test_a_moved_application_is_told_to_both_agents(parts: Acting) -> None:
    moved = await update_application(parts.desk, an_admin(), "cart", ApplicationChange(agent_id="agent-2"))

    assert moved.agent_id == "agent-2"
    assert parts.hints.published == [("agent-1", HintTopic.APPLICATIONS), ("agent-2", HintTopic.APPLICATIONS)]
    (record,) = await parts.audited()
    assert (record.before, record.after) == ({"agent_id": "agent-1"}, {"agent_id": "agent-2"})


async def test_a_change_that_changes_nothing_is_not_recorded(parts: Acting) -> None:
    same = await update_application(parts.desk, an_admin(), "cart", ApplicationChange(name="cart"))

    assert (same.name, await parts.audited(), parts.hints.published) == ("cart", (), [])


async def test_what_is_deleted_stays_as_it_is(parts: Acting) -> None:
    await delete_application(parts.desk, an_admin(), "cart")

    with pytest.raises(NotNow, match="deleted for good"):
        await disable_application(parts.desk, an_admin(), "cart")
    with pytest.raises(NotNow, match="is deleted"):
        await sync_application(parts.desk, an_admin(), "cart")


async def test_a_sync_carries_the_strategy(parts: Acting) -> None:
    command = await sync_application(parts.desk, an_admin(), "cart", SyncStrategy.QUICK_SYNC)

    assert command.payload == SyncApplication(application_id="cart", sync_strategy=SyncStrategy.QUICK_SYNC)


async def test_who_may_act_on_some_labels_acts_on_nothing_else(parts: Acting) -> None:
    await parts.add(applications.insert_application, an_application("prod", labels={"env": "prod"}))
    developer = a_caller(DEVELOPER)

    await disable_application(parts.desk, developer, "cart")
    with pytest.raises(Forbidden, match="with these labels"):
        await disable_application(parts.desk, developer, "prod")
    with pytest.raises(Forbidden):
        await add_application(parts.desk, developer, a_new_application(labels={"env": "prod"}))


async def test_nobody_labels_something_away_to_where_they_may_not_act(parts: Acting) -> None:
    relabelled = ApplicationChange(labels={"env": "prod"})

    with pytest.raises(Forbidden):
        await update_application(parts.desk, a_caller(DEVELOPER), "cart", relabelled)

    assert await parts.audited() == ()
