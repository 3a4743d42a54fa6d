"""Giving up a deployment that is being undone already."""

import msgspec
import pytest
from typer.testing import CliRunner

from fairway.cli.main import app
from fairway.model.deployment import DeploymentStatus
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server, refusal
from tests.unit.model.builders import a_deployment

UNDONE = msgspec.to_builtins(a_deployment(status=DeploymentStatus.ROLLING_BACK))


def answer(asked: Asked) -> Answer:
    return refusal(409, "asked") if asked.method == "POST" else Answer(body=UNDONE)


@pytest.mark.parametrize("rollback", ["default", "always"])
def test_a_rollback_that_has_begun_goes_on_and_what_ends_it_is_named(rollback: str) -> None:
    with a_scripted_server(answer) as server:
        environment = {"FAIRWAY_SERVER": server.url, "FAIRWAY_API_KEY": "k"}
        done = CliRunner(env=environment).invoke(app, ["deployment", "cancel", "d-1", "--rollback", rollback])

    assert (done.exit_code, [each.method for each in server.asked if each.method == "POST"]) == (1, [])
    assert "deployment d-1 is rolling back already" in done.output
    assert "fairway deployment cancel d-1 --rollback never" in done.output


def test_a_rollback_is_given_up_where_nothing_is_to_be_undone() -> None:
    with a_scripted_server(answer) as server:
        environment = {"FAIRWAY_SERVER": server.url, "FAIRWAY_API_KEY": "k"}
        CliRunner(env=environment).invoke(app, ["deployment", "cancel", "d-1", "--rollback", "never"])

    assert [each.body for each in server.asked if each.method == "POST"] == [b'{"rollback":"never"}']
