"""Which agents are asked for a preview, and what each answer is taken for."""

from datetime import timedelta
from typing import Any

import pytest

from fairway.model.agent import AgentProfile, ConnectionStatus
from fairway.model.application import Repository
from fairway.model.command import CommandStatus
from fairway.model.plan_preview import PlanPreview
from fairway.rpc.convert.plan_preview import to_command_output
from fairway.server.actions.plan_previews import followed_repository
from fairway.server.actions.preview_results import Asked, decide_preview
from fairway.server.status_codes import NotNow
from tests.unit.server.user.builders import NOW, a_preview_command, an_agent

LIMIT = timedelta(minutes=5)


#: The fields of a command that its agent has just answered.
HANDLED: dict[str, Any] = {"status": CommandStatus.SUCCEEDED, "handled_at": NOW}


def asked(output: bytes | None = None, connection: ConnectionStatus = ConnectionStatus.ONLINE, **fields: Any) -> Asked:
    return Asked(command=a_preview_command(**fields), agent=an_agent(), connection=connection, output=output)


def reason(preview: PlanPreview | None) -> str:
    assert preview is not None
    assert (preview.command_id, preview.agent_id, preview.agent_name) == ("command-1", "agent-1", "dev")
    return preview.error


def test_an_agent_follows_a_branch_under_any_spelling_of_the_remote() -> None:
    assert followed_repository(an_agent(), "https://github.com/acme/shop", "main") == "shop"


@pytest.mark.parametrize(
    ("fields", "remote", "branch"),
    [
        pytest.param({"disabled": True}, "git@github.com:acme/shop.git", "main", id="disabled"),
        pytest.param({}, "git@github.com:acme/shop.git", "release", id="another branch"),
        pytest.param({}, "git@github.com:acme/other.git", "main", id="another repository"),
        pytest.param({"profile": AgentProfile()}, "git@github.com:acme/shop.git", "main", id="not reported yet"),
        pytest.param(
            {"profile": AgentProfile(repositories=(Repository(id="shop", branch="main"),))},
            "git@github.com:acme/shop.git",
            "main",
            id="no remote reported",
        ),
    ],
)
def test_other_agents_are_not_asked(fields: dict[str, Any], remote: str, branch: str) -> None:
    assert followed_repository(an_agent(**fields), remote, branch) is None


def test_a_connected_agent_is_waited_for() -> None:
    assert decide_preview(asked(), NOW + LIMIT, LIMIT) is None


def test_an_agent_that_takes_too_long_is_answered_for() -> None:
    late = decide_preview(asked(), NOW + LIMIT + timedelta(seconds=1), LIMIT)

    assert "within 300 seconds" in reason(late)


@pytest.mark.parametrize("connection", [ConnectionStatus.OFFLINE, ConnectionStatus.UNKNOWN])
def test_an_agent_that_is_not_connected_is_answered_for_at_once(connection: ConnectionStatus) -> None:
    assert "not connected" in reason(decide_preview(asked(connection=connection), NOW, LIMIT))


def test_an_answer_is_the_agents_own_under_the_name_that_the_server_knows() -> None:
    output = to_command_output(PlanPreview(command_id="forged", agent_id="forged", error="merge conflict"))

    found = decide_preview(asked(output, ConnectionStatus.OFFLINE, **HANDLED), NOW, LIMIT)

    assert reason(found) == "merge conflict"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        pytest.param(None, "sent no preview", id="nothing"),
        pytest.param(b"\xff", "cannot be read", id="garbage"),
        pytest.param(b"[]", "cannot be read", id="another document"),
    ],
)
def test_an_answer_without_a_preview_becomes_a_reason(output: bytes | None, words: str) -> None:
    assert words in reason(decide_preview(asked(output, **HANDLED), NOW, LIMIT))


def test_an_answer_cannot_be_fetched_for_ever() -> None:
    with pytest.raises(NotNow, match="more than 24 hours"):
        decide_preview(asked(b"{}", **HANDLED), NOW + timedelta(hours=24, seconds=1), LIMIT)
