"""Who is at work as an agent, for people."""

import pytest

from fairway.server.actions.leases import get_lease, release_lease
from fairway.server.hints import HintTopic
from fairway.server.status_codes import Forbidden, NotNow
from tests.integration.server.actions.acting import Acting, a_caller, a_lease, an_admin


async def test_who_is_at_work_is_told_to_who_may_see_the_agent(parts: Acting) -> None:
    assert await get_lease(parts.desk, an_admin(), "agent-1") == a_lease()
    assert await get_lease(parts.desk, an_admin(), "agent-2") is None
    with pytest.raises(Forbidden):
        await get_lease(parts.desk, a_caller(), "agent-1")


async def test_a_lease_that_was_released_is_taken_from_nobody_a_second_time(parts: Acting) -> None:
    released = await release_lease(parts.desk, an_admin(), "agent-1")

    assert await get_lease(parts.desk, an_admin(), "agent-1") == released
    assert (released.released, parts.hints.published) == (True, [("agent-1", HintTopic.LEASE)])
    for agent_id in ("agent-1", "agent-2"):
        with pytest.raises(NotNow):
            await release_lease(parts.desk, an_admin(), agent_id)
