"""What a command led to."""

from typing import Any

import pytest

from fairway.cli.follow import NotReached
from fairway.cli.sync import started_deployment
from fairway.model.command import Command, CommandStatus, SyncApplication
from tests.unit.model.builders import NOW


def a_command(status: CommandStatus, **metadata: str) -> Command:
    known: dict[str, Any] = {"id": "c-1", "agent_id": "near", "project_id": "shop", "created_at": NOW}
    payload = SyncApplication(application_id="a-1")
    return Command(**known, updated_at=NOW, payload=payload, status=status, metadata=metadata)


def test_a_command_that_succeeded_names_its_deployment() -> None:
    assert started_deployment(a_command(CommandStatus.SUCCEEDED, TriggeredDeploymentID="d-1")) == "d-1"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param(
            a_command(CommandStatus.FAILED, reason="no such branch"),
            r"command c-1 failed \(reason: no such branch\)",
            id="the agent could not",
        ),
        pytest.param(a_command(CommandStatus.TIMED_OUT), "command c-1 timed out", id="no agent answered"),
        pytest.param(a_command(CommandStatus.SUCCEEDED), "started no deployment", id="there was nothing to deploy"),
    ],
)
def test_a_command_that_led_to_nothing_says_so(command: Command, message: str) -> None:
    with pytest.raises(NotReached, match=message):
        started_deployment(command)
