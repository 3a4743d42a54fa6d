"""How everything stands, in one answer for the first page: what is out of order, what runs, what waits for whom.

Applications and agents are counted from indexes; of deployments only the open ones are read. A part that the caller's
roles do not let them see is null.
"""

from collections import Counter
from datetime import datetime

import msgspec
from litestar import get
from sqlalchemy import Connection

from fairway.model.agent import ConnectionStatus
from fairway.model.application import SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.live_state import Health
from fairway.model.role import Action, Resource
from fairway.server.actions.agents import connection_status
from fairway.server.callers import Caller
from fairway.server.http_api.desk import ApiRequest, HttpDesk, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.onlookers import onlooker_of
from fairway.server.permissions import may, scope
from fairway.server.status_codes import Forbidden
from fairway.server.store import agents, applications, deployments
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.labels import Patterns
from fairway.server.store.page import PageRequest
from fairway.server.waiting import Onlooker, awaits_approval, deployment_waits_for

#: Open deployments that are looked at, and how many of them are shown in each list.
MOST_OPEN = 1000
MOST_SHOWN = 100

_OPEN = tuple(status for status in DeploymentStatus if not status.is_terminal)


class ApplicationCounts(msgspec.Struct, frozen=True):
    """How applications stand."""

    total: int
    disabled: int
    #: Each status, also those that no application has.
    by_sync_status: dict[str, int]
    by_health: dict[str, int]


class OpenDeployment(msgspec.Struct, frozen=True, kw_only=True):
    """A deployment that has not ended, in short."""

    id: str
    application_id: str
    application_name: str
    status: DeploymentStatus
    #: In words.
    waiting_for: str
    created_at: datetime
    updated_at: datetime


class OpenDeployments(msgspec.Struct, frozen=True, kw_only=True):
    """The deployments that have not ended, newest change first."""

    #: Of those that wait for a person too; at most 1,000 are counted.
    count: int
    #: At most 100.
    running: tuple[OpenDeployment, ...]
    #: At most 100, also in `running`.
    awaiting_approval: tuple[OpenDeployment, ...]


class AgentCounts(msgspec.Struct, frozen=True):
    """Which agents have been heard lately."""

    online: int
    offline: int
    never_seen: int


class Home(msgspec.Struct, frozen=True):
    """How everything stands."""

    applications: ApplicationCounts | None
    deployments: OpenDeployments | None
    agents: AgentCounts | None


@get("/home", summary="How everything stands.", tags=["home"], responses=REFUSALS)
async def get_home(request: ApiRequest) -> Home:
    """Applications by status and health, open deployments and what each waits for, agents online and offline."""
    desk, caller = desk_of(request), request.auth
    return Home(await _applications(desk, caller), await _deployments(desk, caller), await _agents(desk, caller))


async def _applications(desk: HttpDesk, caller: Caller) -> ApplicationCounts | None:
    seen = _scope(caller, Resource.APPLICATION)
    if seen is None:
        return None
    alike = await desk.store.read(
        lambda connection: applications.count_applications(connection, caller.project_id, seen)
    )
    by_status, by_health = Counter[SyncStatus](), Counter[Health]()
    for each in alike:
        by_status[each.sync_status] += each.count
        by_health[each.health] += each.count
    return ApplicationCounts(
        total=by_status.total(),
        disabled=sum(each.count for each in alike if each.disabled),
        by_sync_status={status.value: by_status[status] for status in SyncStatus},
        by_health={health.value: by_health[health] for health in Health},
    )


async def _deployments(desk: HttpDesk, caller: Caller) -> OpenDeployments | None:
    seen = _scope(caller, Resource.DEPLOYMENT)
    if seen is None:
        return None
    wanted, now = DeploymentFilter(project_id=caller.project_id, statuses=_OPEN, scope=seen), desk.clock.now()

    def load(connection: Connection) -> OpenDeployments:
        found = deployments.list_deployments(connection, wanted, PageRequest(limit=MOST_OPEN)).items
        waiting = [each for each in found if awaits_approval(each)][:MOST_SHOWN]
        running = found[:MOST_SHOWN]
        looking = onlooker_of(connection, (*running, *waiting), now)
        return OpenDeployments(
            count=len(found),
            running=tuple(_in_short(each, looking) for each in running),
            awaiting_approval=tuple(_in_short(each, looking) for each in waiting),
        )

    return await desk.store.read(load)


async def _agents(desk: HttpDesk, caller: Caller) -> AgentCounts | None:
    if not may(caller, Resource.AGENT, Action.READ, caller.project_id):
        return None
    found = await desk.store.read(lambda connection: agents.list_last_seen(connection, caller.project_id))
    counted = Counter(connection_status(seen, desk.clock.now()) for seen in found)
    return AgentCounts(
        online=counted[ConnectionStatus.ONLINE],
        offline=counted[ConnectionStatus.OFFLINE],
        never_seen=counted[ConnectionStatus.UNKNOWN],
    )


def _in_short(deployment: Deployment, looking: Onlooker) -> OpenDeployment:
    return OpenDeployment(
        id=deployment.id,
        application_id=deployment.application_id,
        application_name=deployment.application_name,
        status=deployment.status,
        waiting_for=deployment_waits_for(deployment, looking),
        created_at=deployment.created_at,
        updated_at=deployment.updated_at,
    )


def _scope(caller: Caller, resource: Resource) -> Patterns | None:
    try:
        return scope(caller, resource).any_of
    except Forbidden:
        return None


ROUTES = (get_home,)
