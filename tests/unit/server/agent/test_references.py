from datetime import timedelta

import msgspec

from fairway.model.application import DeploymentReference
from fairway.server.agent_service.references import reference_to, with_succeeded, with_triggered
from tests.unit.model.builders import LATER, NOW, a_deployment, an_application

EARLIER = NOW - timedelta(hours=1)


def a_reference(id: str = "d-1", **fields: object) -> DeploymentReference:
    return msgspec.structs.replace(reference_to(a_deployment(id=id)), **fields)


def test_the_first_deployment_of_an_application_is_its_latest() -> None:
    application = an_application()

    found = with_succeeded(with_triggered(application, a_reference("d-2"), LATER), a_reference(), LATER)

    assert found == an_application(last_triggered=a_reference("d-2"), last_succeeded=a_reference(), updated_at=LATER)


def test_an_older_deployment_does_not_take_the_place_of_a_newer() -> None:
    application = an_application(last_triggered=a_reference(), last_succeeded=a_reference(completed_at=LATER))
    older = a_reference("d-0", started_at=EARLIER, completed_at=NOW)

    assert with_triggered(application, older, LATER) is application
    assert with_succeeded(application, older, LATER) is application


def test_a_deployment_that_was_created_earlier_may_still_be_the_last_to_succeed() -> None:
    application = an_application(last_succeeded=a_reference(completed_at=NOW))
    later = a_reference("d-0", started_at=EARLIER, completed_at=LATER)

    assert with_succeeded(application, later, LATER).last_succeeded == later


def test_the_same_deployment_may_be_told_again_with_more_in_it() -> None:
    application = an_application(last_succeeded=a_reference(completed_at=LATER))
    fuller = a_reference(completed_at=NOW, version="v1")

    found = with_succeeded(application, fuller, LATER)

    assert (found.last_succeeded, with_succeeded(found, fuller, LATER) is found) == (fuller, True)
