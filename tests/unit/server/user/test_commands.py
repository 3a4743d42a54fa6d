"""Commands as they are made, and as they grow old."""

from datetime import timedelta

import msgspec
import pytest

from fairway.model.command import BuildPlanPreview, Command, CommandStatus, SyncApplication
from fairway.server.commands import LIFETIME, Request, build_plan_preview, expire, sync_application
from fairway.server.status_codes import NotNow
from tests.unit.server.user.builders import NOW, a_preview_command, an_agent, an_application

ASKED = Request(command_id="command-1", commander="key-1", at=NOW)


def test_a_sync_goes_to_the_agent_of_the_application() -> None:
    assert sync_application(an_application("cart", agent_id="agent-7"), ASKED) == Command(
        id="command-1",
        agent_id="agent-7",
        project_id="acme",
        application_id="cart",
        payload=SyncApplication(application_id="cart"),
        commander="key-1",
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        pytest.param({"disabled": True}, "disabled", id="disabled"),
        pytest.param({"disabled": True, "deleted_at": NOW}, "deleted", id="deleted"),
    ],
)
def test_nobody_would_answer_a_sync_of_an_application_out_of_service(fields: dict[str, object], word: str) -> None:
    with pytest.raises(NotNow, match=f"cart is {word}"):
        sync_application(an_application("cart", **fields), ASKED)


def test_a_preview_is_asked_of_one_agent() -> None:
    preview = BuildPlanPreview(repository_id="shop", head_branch="topic", head_commit="c0ffee", base_branch="main")

    assert build_plan_preview(an_agent(), preview, ASKED) == a_preview_command(commander="key-1")


def test_a_command_waits_for_a_day() -> None:
    command = a_preview_command()

    assert expire(command, NOW + LIFETIME - timedelta(seconds=1)) is command


def test_a_command_that_nobody_answered_times_out() -> None:
    late = NOW + LIFETIME

    assert expire(a_preview_command(), late) == a_preview_command(
        status=CommandStatus.TIMED_OUT, updated_at=late, handled_at=late
    )


@pytest.mark.parametrize("status", [status for status in CommandStatus if status is not CommandStatus.WAITING])
def test_an_answer_stays_however_old_it_is(status: CommandStatus) -> None:
    answered = msgspec.structs.replace(a_preview_command(), status=status, handled_at=NOW)

    assert expire(answered, NOW + 10 * LIFETIME) is answered
