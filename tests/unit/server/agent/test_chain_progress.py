import msgspec
import pytest

from fairway.model.chain import ApplicationMatcher, ChainStatus, DeploymentChain
from fairway.model.command import ChainSyncApplication
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.agent_service.chain_progress import new_chain, newly_plannable, progress, sync_commands
from fairway.server.status_codes import Forbidden
from tests.unit.model.builders import LATER, a_deployment, an_application

APPLICATIONS = [
    an_application("a-1"),
    an_application("a-2", name="web", labels={"env": "prod"}, agent_id="agent-2"),
    an_application("a-3", name="web", labels={"env": "test"}),
]
FIRST = a_deployment(chain_id="c-1")


def a_chain(*matchers: ApplicationMatcher) -> DeploymentChain:
    return new_chain("c-1", FIRST, matchers or (ApplicationMatcher(labels={"env": "prod"}),), APPLICATIONS)


def in_block(index: int, status: DeploymentStatus, application_id: str = "a-2", id: str = "d-2") -> Deployment:
    return a_deployment(id=id, application_id=application_id, chain_id="c-1", chain_block_index=index, status=status)


def statuses(chain: DeploymentChain) -> tuple[str, list[str]]:
    return chain.status.value, [block.status.value for block in chain.blocks]


def test_each_matcher_makes_a_block_of_the_applications_that_fit_it() -> None:
    chain = a_chain(ApplicationMatcher(labels={"env": "prod"}), ApplicationMatcher(name="web"))

    found = [[node.application_id for node in block.nodes] for block in chain.blocks]

    assert (found, statuses(chain)) == ([["a-1"], ["a-2"], ["a-2", "a-3"]], ("pending", ["pending"] * 3))


def test_the_agents_of_later_blocks_are_asked_to_deploy() -> None:
    found = sync_commands(a_chain(), APPLICATIONS, lambda: "new")

    payload = ChainSyncApplication(application_id="a-2", chain_id="c-1", block_index=1)
    assert [(command.id, command.agent_id, command.commander, command.payload) for command in found] == [
        ("new", "agent-2", "c-1", payload)
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("running", "pending", ("running", ["running", "pending"]), id="the first runs"),
        pytest.param("rolling_back", "pending", ("running", ["running", "pending"]), id="the first rolls back"),
        pytest.param("succeeded", "pending", ("running", ["succeeded", "pending"]), id="the first is done"),
        pytest.param("succeeded", "succeeded", ("succeeded", ["succeeded"] * 2), id="all are done"),
        pytest.param("failed", "pending", ("failed", ["failed", "pending"]), id="the first failed"),
        pytest.param("cancelled", "pending", ("cancelled", ["cancelled", "pending"]), id="the first was given up"),
    ],
)
def test_a_chain_follows_its_deployments(first: str, second: str, expected: tuple[str, list[str]]) -> None:
    chain = progress(a_chain(), msgspec.structs.replace(FIRST, status=DeploymentStatus(first)), LATER)

    found = progress(chain, in_block(1, DeploymentStatus(second)), LATER)

    assert statuses(found) == expected


def test_a_chain_that_was_cancelled_stays_so_when_a_later_block_fails() -> None:
    cancelled = progress(a_chain(), msgspec.structs.replace(FIRST, status=DeploymentStatus.CANCELLED), LATER)

    found = progress(cancelled, in_block(1, DeploymentStatus.FAILED), LATER)

    assert statuses(found) == ("cancelled", ["cancelled", "failed"])


def test_a_block_that_was_cancelled_stays_so_when_another_of_its_deployments_fails() -> None:
    chain = a_chain(ApplicationMatcher(name="web"))
    cancelled = progress(chain, in_block(1, DeploymentStatus.CANCELLED, "a-2"), LATER)

    found = progress(cancelled, in_block(1, DeploymentStatus.FAILED, "a-3", "d-3"), LATER)

    assert statuses(found) == ("cancelled", ["pending", "cancelled"])


def test_a_report_that_says_nothing_new_changes_nothing() -> None:
    chain = a_chain()

    assert progress(chain, FIRST, LATER) is chain


def test_a_block_that_no_application_fits_is_passed_over_when_its_turn_comes() -> None:
    chain = a_chain(ApplicationMatcher(name="nobody"), ApplicationMatcher(labels={"env": "prod"}))

    found = progress(chain, msgspec.structs.replace(FIRST, status=DeploymentStatus.SUCCEEDED), LATER)

    assert statuses(chain) == ("pending", ["pending", "pending", "pending"])
    assert statuses(found) == ("running", ["succeeded", "succeeded", "pending"])


def test_a_block_is_done_when_the_last_of_it_is() -> None:
    chain = a_chain(ApplicationMatcher(name="web"))

    one = progress(chain, in_block(1, DeploymentStatus.SUCCEEDED, "a-2"), LATER)
    both = progress(one, in_block(1, DeploymentStatus.SUCCEEDED, "a-3", "d-3"), LATER)

    assert [found.blocks[1].status for found in (one, both)] == [ChainStatus.RUNNING, ChainStatus.SUCCEEDED]


@pytest.mark.parametrize("end", [DeploymentStatus.SUCCEEDED, DeploymentStatus.FAILED])
def test_deployments_of_the_next_block_can_go_on_when_the_block_before_ends(end: DeploymentStatus) -> None:
    before = progress(a_chain(), in_block(1, DeploymentStatus.PENDING), LATER)

    after = progress(before, msgspec.structs.replace(FIRST, status=end), LATER)

    assert (newly_plannable(before, after), newly_plannable(after, after)) == (frozenset({"d-2"}), frozenset())


@pytest.mark.parametrize(
    ("index", "application_id"),
    [pytest.param(1, "a-3", id="another application"), pytest.param(7, "a-2", id="no such block")],
)
def test_a_deployment_that_is_not_in_the_chain_is_refused(index: int, application_id: str) -> None:
    with pytest.raises(Forbidden):
        progress(a_chain(), in_block(index, DeploymentStatus.PENDING, application_id), LATER)
