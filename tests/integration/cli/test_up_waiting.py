"""What `fairway up --until-idle` says when it has waited too long."""

from datetime import timedelta

import msgspec
import pytest

from fairway.cli.profiles import Profile
from fairway.cli.up.board import Signs
from fairway.cli.up.follow import Aim, Follower
from fairway.cli.up.screens import Lines
from fairway.cli.up.site import OwnCall
from fairway.cli.watch import TimedOut
from fairway.model.deployment import DeploymentStatus
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server
from tests.unit.model.builders import a_deployment, an_application

RUNNING = msgspec.to_builtins(a_deployment(status=DeploymentStatus.RUNNING))
AIM = Aim(until_idle=True, timeout=timedelta(0))


def followed(applications: list[object], deployments: list[object]) -> None:
    def answer(asked: Asked) -> Answer:
        path = asked.path.removeprefix("/api/v1/")
        if path.startswith("stream"):
            return Answer(body=b"event: deployment\ndata: {}\n\n")
        items = {"applications?": applications, "deployments?": deployments}
        found = next((each for name, each in items.items() if path.startswith(name)), [])
        return Answer(body=msgspec.json.encode({"items": found}))

    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        Follower(call, Lines(Signs(command="fairway", profile="")), AIM).run()


def test_a_deployment_is_named_with_what_it_waits_for() -> None:
    with pytest.raises(TimedOut, match=r"^it took too long: cart is running, waiting for agent near to end stage 1$"):
        followed([an_application()], [{**RUNNING, "waiting_for": "agent near to end stage 1"}])


def test_an_application_that_was_never_deployed_is_named() -> None:
    with pytest.raises(TimedOut, match=r"^it took too long: cart has not been deployed yet$"):
        followed([an_application()], [])
