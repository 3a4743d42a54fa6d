"""An outage is said once, and its end."""

from fairway.agent.control_plane import KeyRefused, ServerAway
from fairway.agent.outage import Outage

AWAY = ServerAway("nobody is there")


def test_an_outage_is_said_once_for_all_questions_and_once_that_it_is_over() -> None:
    outage = Outage()

    said = [outage.failed(question, AWAY) for question in ("commands", "deployments", "commands")]
    back = [outage.answered(question) for question in ("applications", "commands", "deployments", "commands")]

    assert (said, back) == ([True, False, False], [False, False, True, False])


def test_the_next_outage_is_said_again() -> None:
    outage = Outage()
    outage.failed("commands", AWAY)
    outage.answered("commands")

    assert outage.failed("commands", AWAY)


def test_another_reason_is_news() -> None:
    outage = Outage()
    outage.failed("commands", AWAY)

    assert [outage.failed("commands", KeyRefused("not you")), outage.failed("commands", AWAY)] == [True, False]
