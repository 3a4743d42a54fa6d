"""Which application a name means, however many there are."""

from fairway.cli.find import find_id
from fairway.cli.profiles import Profile
from fairway.cli.up.site import OwnCall
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server, refusal


def answer(asked: Asked) -> Answer:
    """Of very many applications, those that the list begins with are others."""
    if asked.path.startswith("/api/v1/applications/"):
        return refusal(404, "there is no application 'cart'")
    found = [("a-9", "cart")] if "name=cart" in asked.path else [(f"a-{number}", f"b-{number}") for number in range(5)]
    return Answer(200, {"items": [{"id": id, "name": name} for id, name in found], "next_cursor": "more"})


def test_an_application_is_found_by_its_name_wherever_it_is_in_the_list() -> None:
    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        found = find_id(call, "applications", "cart")

    assert (found, len(server.asked)) == ("a-9", 2)
