"""What `fairway up --register` makes known to its server."""

import msgspec
import pytest

from fairway.cli.profiles import Profile
from fairway.cli.remote import Refused
from fairway.cli.up.registration import register_applications
from fairway.cli.up.site import OwnCall
from fairway.model.application import DiscoveredApplication, GitPath, Repository
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server
from tests.unit.model.builders import an_application

FIRST = DiscoveredApplication(
    name="first", agent_id="agent-1", repository_id="own", path="web", config_filename="app.pipecd.yaml"
)
SECOND = msgspec.structs.replace(FIRST, name="second", config_filename="second.pipecd.yaml")


def test_a_second_file_in_the_directory_of_a_registered_one_is_registered_too() -> None:
    there = an_application(git_path=GitPath(repository=Repository(id="own"), path="web"))

    def answer(asked: Asked) -> Answer:
        return Answer(200, msgspec.to_builtins({"items": [there], "next_cursor": ""}) if asked.method == "GET" else {})

    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        some, none = register_applications(call, [FIRST, SECOND]), register_applications(call, [FIRST])

    sent = [msgspec.json.decode(asked.body)["name"] for asked in server.asked if asked.method == "POST"]
    assert (sent, some, none) == (["second"], True, False)


@pytest.mark.parametrize("by_hand", [True, False])
def test_one_that_somebody_registers_at_the_same_moment_is_registered(by_hand: bool) -> None:
    there = an_application(git_path=GitPath(repository=Repository(id="own"), path="web"))
    refused = False

    def answer(asked: Asked) -> Answer:
        nonlocal refused
        if asked.method == "GET":
            return Answer(
                200, msgspec.to_builtins({"items": [there] if refused and by_hand else [], "next_cursor": ""})
            )
        refused = True
        return Answer(409, {"error": {"code": "ALREADY_EXISTS", "message": "is there"}})

    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        if by_hand:
            assert register_applications(call, [FIRST])
        else:
            with pytest.raises(Refused, match="is there"):
                register_applications(call, [FIRST])
