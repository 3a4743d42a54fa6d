"""Drift and what is known of the last deployment: asked for once it has ended, and only where the file wants it."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from fairway.agent.applications import KnownApplication, Registered
from fairway.agent.control_plane import ServerAway
from fairway.agent.healing import Before, Healing, HealingDesk
from fairway.config.read import read_application
from fairway.delivery.trigger import DRIFT_NOTE, Drift, LastDeployment
from fairway.model.application import SyncState, SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from tests.unit.model.builders import a_deployment, an_application

ENDED = datetime(2026, 1, 1, tzinfo=UTC)
LATER = ENDED + timedelta(hours=1)
DRIFT = Drift(words="1 is missing", digest="so")
NOT_MENDED = "It differs from Git in a way that deploying again does not mend: 1 is missing"


class Server:
    """Knows one deployment, and is asked for it."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.asked = 0
        self.away = False
        self.deployed: list[LastDeployment | None] = []
        self.after: list[str] = []
        self.anew: list[bool] = []

    async def find(self, _deployment_id: str) -> Deployment:
        self.asked += 1
        if self.away:
            raise ServerAway("gone")
        return self.deployment

    async def deploy(self, _application_id: str, drift: Drift, before: Before) -> None:
        self.deployed.append(before.last)
        self.after.append(before.deployment_id)
        self.anew.append(drift.anew)


def a_known(disabled: bool = False) -> KnownApplication:
    text = f"""
apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  trigger: {{onOutOfSync: {{disabled: {str(disabled).lower()}}}}}
"""
    config = read_application(text.encode(), "app.pipecd.yaml")
    return KnownApplication(application=an_application("a-web"), commit="c", file="app.pipecd.yaml", config=config)


def healing(server: Server, triggered: bool = True, sync_state: SyncState | None = None) -> Healing:
    registered = Registered()
    registered.replace([an_application("a-web", sync_state=sync_state)])
    if triggered:
        registered.note_triggered(msgspec.structs.replace(server.deployment, application_id="a-web"))
    return Healing(HealingDesk(registered=registered, find=server.find, deploy=server.deploy))


async def test_a_deployment_that_has_ended_is_asked_for_once() -> None:
    server = Server(a_deployment(status=DeploymentStatus.SUCCEEDED, completed_at=ENDED))
    healer = healing(server)

    for _ in range(3):
        await healer.heal(a_known(), DRIFT, LATER)

    assert (server.asked, len(server.deployed), server.after) == (1, 3, [server.deployment.id] * 3)
    assert server.deployed[0] is not None
    assert server.deployed[0].status is DeploymentStatus.SUCCEEDED


async def test_a_deployment_that_has_not_ended_is_asked_for_again() -> None:
    server = Server(a_deployment(status=DeploymentStatus.RUNNING))
    healer = healing(server)

    for _ in range(2):
        await healer.heal(a_known(), DRIFT, LATER)

    assert server.asked == 2


async def test_an_application_that_was_never_deployed_has_no_last_deployment() -> None:
    server = Server(a_deployment(status=DeploymentStatus.SUCCEEDED, completed_at=ENDED))

    await healing(server, triggered=False).heal(a_known(), DRIFT, LATER)

    assert (server.asked, server.deployed, server.after) == (0, [None], [""])


async def test_nothing_is_done_where_the_file_does_not_want_it() -> None:
    server = Server(a_deployment(status=DeploymentStatus.SUCCEEDED, completed_at=ENDED))

    await healing(server).heal(a_known(disabled=True), DRIFT, LATER)

    assert (server.asked, server.deployed) == (0, [])


async def test_a_server_that_is_away_is_asked_at_the_next_look() -> None:
    server = Server(a_deployment(status=DeploymentStatus.SUCCEEDED, completed_at=ENDED))
    healer = healing(server)
    server.away = True
    await healer.heal(a_known(), DRIFT, LATER)
    server.away = False

    await healer.heal(a_known(), DRIFT, LATER)

    assert len(server.deployed) == 1


async def test_what_was_seen_before_the_last_deployment_ended_leads_to_nothing() -> None:
    server = Server(a_deployment(status=DeploymentStatus.SUCCEEDED, completed_at=ENDED))

    await healing(server).heal(a_known(), DRIFT, ENDED + timedelta(milliseconds=900))

    assert (server.asked, server.deployed) == (1, [])


def a_deployment_against_drift() -> Deployment:
    return a_deployment(
        status=DeploymentStatus.SUCCEEDED, completed_at=ENDED, shared_metadata={DRIFT_NOTE: DRIFT.digest}
    )


async def test_what_a_deployment_has_not_mended_is_said() -> None:
    healer = healing(Server(a_deployment_against_drift()))

    assert await healer.remark(a_known(), DRIFT) == NOT_MENDED
    assert await healer.remark(a_known(disabled=True), DRIFT) == ""


async def test_what_was_seen_to_be_as_git_says_meanwhile_has_drifted_anew() -> None:
    server = Server(a_deployment_against_drift())
    healer = healing(server)
    healer.note_synced(a_known())

    await healer.heal(a_known(), DRIFT, LATER)

    assert (await healer.remark(a_known(), DRIFT), server.anew) == ("", [True])


@pytest.mark.parametrize(
    ("status", "at", "said"),
    [
        pytest.param(SyncStatus.SYNCED, LATER, "", id="as Git says, after it"),
        pytest.param(SyncStatus.SYNCED, ENDED - timedelta(hours=1), NOT_MENDED, id="before it"),
        pytest.param(SyncStatus.OUT_OF_SYNC, LATER, NOT_MENDED, id="not as Git says"),
    ],
)
async def test_what_an_agent_before_has_told_the_server_counts_too(status: SyncStatus, at: datetime, said: str) -> None:
    healer = healing(Server(a_deployment_against_drift()), sync_state=SyncState(status=status, at=at))

    assert await healer.remark(a_known(), DRIFT) == said
