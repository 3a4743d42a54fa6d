"""Which other applications are there, as the agent says."""

import asyncio

import pytest

from fairway.model.registration import Registration, Standing
from fairway.plugins.kubernetes.whose.registered import Registrations, in_words

WEB = Registration(Standing.REGISTERED, "web")


async def test_an_application_is_asked_about_once_however_many_of_its_objects_are_met() -> None:
    asked: list[str] = []

    async def ask(application_id: str) -> Registration:
        asked.append(application_id)
        await asyncio.sleep(0)
        return WEB

    applications = Registrations(ask)

    found = await asyncio.gather(*(applications.find(each) for each in ("one", "one", "other")))

    assert (found, asked) == ([WEB] * 3, ["one", "other"])


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(WEB, "application web (id)", id="of this agent"),
        pytest.param(Registration(Standing.REGISTERED, "web", "a"), "application web (id) of agent a", id="of another"),
        pytest.param(Registration(Standing.REGISTERED), "application id of another project", id="of another project"),
        pytest.param(Registration(Standing.GONE), "application id", id="gone"),
        pytest.param(
            Registration(Standing.UNKNOWN),
            "application id, of which nobody can tell here whether it is still registered",
            id="nobody can tell",
        ),
    ],
)
def test_an_application_is_named_as_far_as_it_is_known(found: Registration, words: str) -> None:
    assert in_words("id", found) == words
