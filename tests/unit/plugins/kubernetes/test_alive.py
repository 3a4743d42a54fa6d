"""Which other applications are there, by when the agent has spoken of them."""

from fairway.plugins.kubernetes.alive import Applications


def test_an_application_that_the_agent_speaks_of_is_there_for_a_while() -> None:
    known = Applications()
    known.see("app-1", "web", 0.0)

    assert [known.name_of("app-1", "app-2", now) for now in (1.0, 600.0, 2000.0)] == ["web", "web", ""]
    assert known.name_of("app-3", "app-2", 1.0) == ""


def test_an_application_that_was_registered_anew_is_not_beside_itself() -> None:
    known = Applications()
    known.see("before", "web", 0.0)
    known.see("anew", "web", 100.0)

    assert known.name_of("before", "anew", 101.0) == ""


def test_two_applications_of_one_name_are_both_there_when_the_agent_speaks_of_both() -> None:
    known = Applications()
    for at, application_id in enumerate(("one", "other", "one")):
        known.see(application_id, "web", float(at))

    assert known.name_of("one", "other", 3.0) == "web"
