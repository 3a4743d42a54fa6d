"""Lists as they are asked for on the wire, in the words of the store."""

import pytest

from fairway.model.application import ApplicationKind
from fairway.model.deployment import DeploymentStatus
from fairway.rpc.user_api import messages as m
from fairway.server.status_codes import InvalidRequest
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import PageRequest
from fairway.server.user_service.filters import (
    MOST_APPLICATIONS,
    MOST_DEPLOYMENTS,
    MOST_IDS,
    MOST_LABELS,
    application_filter,
    application_page,
    deployment_filter,
    deployment_page,
)


def test_everything_that_applications_are_asked_for_is_used() -> None:
    request = m.ListApplicationsRequest(
        name="cart", kind="TERRAFORM", disabled=True, labels={"env": "dev"}, piped_id="agent-1"
    )

    assert application_filter("acme", request) == ApplicationFilter(
        project_id="acme",
        name="cart",
        kinds=(ApplicationKind.TERRAFORM,),
        agent_id="agent-1",
        disabled=True,
        labels={"env": "dev"},
    )


def test_without_a_word_enabled_applications_are_asked_for() -> None:
    assert application_filter("acme", m.ListApplicationsRequest()) == ApplicationFilter(
        project_id="acme", disabled=False
    )


def test_all_statuses_kinds_and_ids_of_deployments_are_used_once() -> None:
    request = m.ListDeploymentsRequest(
        statuses=["DEPLOYMENT_SUCCESS", "failure", "SUCCESS"],
        kinds=["KUBERNETES", "ecs"],
        application_ids=["cart", "web", "cart"],
        application_name="cart",
        labels={"env": "dev"},
    )

    assert deployment_filter("acme", request) == DeploymentFilter(
        project_id="acme",
        statuses=(DeploymentStatus.SUCCEEDED, DeploymentStatus.FAILED),
        kinds=(ApplicationKind.KUBERNETES, ApplicationKind.ECS),
        application_ids=("cart", "web"),
        application_name="cart",
        labels={"env": "dev"},
    )


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(m.ListDeploymentsRequest(statuses=["DONE"]), id="status"),
        pytest.param(m.ListDeploymentsRequest(kinds=["SUCCESS"]), id="kind"),
        pytest.param(m.ListDeploymentsRequest(statuses=[""]), id="empty status"),
    ],
)
def test_a_word_that_nobody_knows_is_refused(request_: m.ListDeploymentsRequest) -> None:
    with pytest.raises(InvalidRequest, match="expected one of"):
        deployment_filter("acme", request_)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(m.ListDeploymentsRequest(application_ids=map(str, range(MOST_IDS + 1))), id="ids"),
        pytest.param(m.ListDeploymentsRequest(labels={str(n): "x" for n in range(MOST_LABELS + 1)}), id="labels"),
    ],
)
def test_more_conditions_than_a_database_takes_are_refused(request_: m.ListDeploymentsRequest) -> None:
    with pytest.raises(InvalidRequest, match="expected at most"):
        deployment_filter("acme", request_)


def test_every_status_on_the_wire_is_known() -> None:
    names = [f"DEPLOYMENT_{name}" for name in ("PENDING", "PLANNED", "RUNNING", "ROLLING_BACK")]
    names += ["DEPLOYMENT_SUCCESS", "DEPLOYMENT_FAILURE", "DEPLOYMENT_CANCELLED"]

    found = deployment_filter("acme", m.ListDeploymentsRequest(statuses=names)).statuses

    assert found == tuple(DeploymentStatus)


def test_a_page_has_the_size_that_is_asked_for_up_to_a_limit() -> None:
    assert application_page(m.ListApplicationsRequest(limit=7, cursor="x")) == PageRequest("x", 7)
    assert application_page(m.ListApplicationsRequest(limit=10**6)) == PageRequest("", MOST_APPLICATIONS)
    assert deployment_page(m.ListDeploymentsRequest(limit=10**6)) == PageRequest("", MOST_DEPLOYMENTS)


def test_a_negative_page_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        deployment_page(m.ListDeploymentsRequest(limit=-1))
