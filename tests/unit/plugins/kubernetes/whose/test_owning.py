"""Whether an object that another application has may be taken."""

import asyncio

import pytest

from fairway.kube.manifest import Key, key_of
from fairway.model.registration import Registration, Standing
from fairway.plugins.kubernetes.marks import Owner, marked
from fairway.plugins.kubernetes.whose.alive import Applications, Wants
from fairway.plugins.kubernetes.whose.owning import NotOurs, Owning
from fairway.plugins.kubernetes.whose.registered import Registrations
from tests.unit.plugins.kubernetes.builders import a_config_map

CONFIG = a_config_map()
LIVE = marked(CONFIG, Owner(agent_id="agent", application_id="first", commit="old")).body
AT = ("kubernetes", "production")


def known(*wants: Wants) -> Applications:
    """Two applications, and what Git says of the one that has the object."""
    applications = Applications()
    for name in ("first", "second"):
        applications.see(name, asyncio.get_running_loop().time())
    applications.go_to("first", AT[0], [AT[1]])
    for each in wants:
        applications.want("first", AT, each)
    return applications


def owning(applications: Applications, news_seconds: float = 0.0) -> Owning:
    async def registered(application_id: str) -> Registration:
        return Registration(Standing.REGISTERED, application_id)

    owner = Owner(agent_id="agent", application_id="second", commit="new")
    return Owning(owner, applications, Registrations(registered), news_seconds)


def wants(commit: str, *keys: Key) -> Wants:
    return Wants(commit, lambda: keys)


async def test_what_has_left_the_manifests_of_the_other_is_taken() -> None:
    assert await owning(known(wants("new"))).taken_from(CONFIG.body, LIVE) == "first"


async def test_what_the_other_wants_is_refused_with_the_commit_by_which_it_does() -> None:
    with pytest.raises(NotOurs) as refused:
        await owning(known(wants("1234567890", key_of(LIVE)))).taken_from(CONFIG.body, LIVE)

    assert str(refused.value) == (
        "it belongs to application first (first), whose manifests have it at commit 1234567, and only one application "
        "can have an object: take it out of the manifests of one of them, or annotate it with "
        "fairway.dev/on-conflict: override to have it from now on"
    )


async def test_where_nobody_knows_what_the_other_wants_it_is_said_what_helps_if_it_does_not() -> None:
    with pytest.raises(NotOurs) as refused:
        await owning(known()).taken_from(CONFIG.body, LIVE)

    assert str(refused.value) == (
        "it belongs to application first (first), and only one application can have an object: take it out of the "
        "manifests of one of them, or annotate it with fairway.dev/on-conflict: override to have it from now on; where "
        "first does not have it in Git any more, which is not known here, deploy first with `prune`, or have the "
        "object removed"
    )


async def test_a_commit_that_is_told_of_the_other_a_moment_later_is_waited_for() -> None:
    applications = known(wants("old", key_of(LIVE)))
    taking = asyncio.create_task(owning(applications, news_seconds=60.0).taken_from(CONFIG.body, LIVE))
    applications.want("first", AT, wants("older", key_of(LIVE)))
    await asyncio.wait({taking}, timeout=0)

    applications.want("first", AT, wants("new"))

    assert await taking == "first"


async def test_an_application_is_known_when_all_its_deploy_targets_are() -> None:
    applications = known(wants("new"))

    applications.go_to("first", AT[0], [AT[1], "staging"])

    assert applications.wants("first") is None
