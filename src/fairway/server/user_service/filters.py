"""What lists are asked for, from the words on the wire into those of the store.

Kinds and statuses travel as text. Both spellings of a status are understood, with PipeCD's prefix and without, in any
case; a word that is not known is refused, since a list that ignores it would look like an answer.
"""

import enum
from collections.abc import Iterable, Mapping
from typing import TypeVar

from fairway.model.application import ApplicationKind
from fairway.model.deployment import DeploymentStatus
from fairway.rpc.user_api import messages as m
from fairway.server.status_codes import InvalidRequest
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import PageRequest

#: Go's clients take 4 MiB in one message unless they are told otherwise. A larger page is cut; its cursor goes on.
MOST_APPLICATIONS = 500
MOST_DEPLOYMENTS = 100

#: A query has one condition for each id and label; a database takes only so many.
MOST_IDS = 500
MOST_LABELS = 32

E = TypeVar("E", bound=enum.Enum)

_KINDS = {kind.name: kind for kind in ApplicationKind}
_STATUSES = {
    "PENDING": DeploymentStatus.PENDING,
    "PLANNED": DeploymentStatus.PLANNED,
    "RUNNING": DeploymentStatus.RUNNING,
    "ROLLING_BACK": DeploymentStatus.ROLLING_BACK,
    "SUCCESS": DeploymentStatus.SUCCEEDED,
    "FAILURE": DeploymentStatus.FAILED,
    "CANCELLED": DeploymentStatus.CANCELLED,
}


def application_filter(project_id: str, request: m.ListApplicationsRequest) -> ApplicationFilter:
    """Which applications are asked for."""
    return ApplicationFilter(
        project_id=project_id,
        name=request.name,
        kinds=_all_known("kind", filter(None, [request.kind]), _KINDS),
        agent_id=request.piped_id,
        disabled=request.disabled,
        labels=_labels(request.labels),
    )


def deployment_filter(project_id: str, request: m.ListDeploymentsRequest) -> DeploymentFilter:
    """Which deployments are asked for."""
    return DeploymentFilter(
        project_id=project_id,
        statuses=_all_known("status", request.statuses, _STATUSES),
        kinds=_all_known("kind", request.kinds, _KINDS),
        application_ids=_ids(request.application_ids),
        application_name=request.application_name,
        labels=_labels(request.labels),
    )


def application_page(request: m.ListApplicationsRequest) -> PageRequest:
    """Which page of applications is asked for."""
    return _page(request.cursor, request.limit, MOST_APPLICATIONS)


def deployment_page(request: m.ListDeploymentsRequest) -> PageRequest:
    """Which page of deployments is asked for."""
    return _page(request.cursor, request.limit, MOST_DEPLOYMENTS)


def _page(cursor: str, limit: int, most: int) -> PageRequest:
    if limit < 0:
        raise InvalidRequest(f"limit is {limit}; expected 0, which leaves it to the server, or more")
    return PageRequest(cursor=cursor, limit=min(limit, most))


def _labels(labels: Mapping[str, str]) -> dict[str, str]:
    if len(labels) > MOST_LABELS:
        raise InvalidRequest(f"{len(labels)} labels are asked for; expected at most {MOST_LABELS}")
    return dict(labels)


def _ids(ids: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(ids))
    if len(found) > MOST_IDS:
        raise InvalidRequest(f"{len(found)} applications are asked for; expected at most {MOST_IDS}, ask in turns")
    return found


def _all_known(noun: str, words: Iterable[str], known: Mapping[str, E]) -> tuple[E, ...]:
    return tuple(dict.fromkeys(_known(noun, word, known) for word in words))


def _known(noun: str, word: str, known: Mapping[str, E]) -> E:
    found = known.get(word.upper().removeprefix("DEPLOYMENT_"))
    if found is None:
        raise InvalidRequest(f"{noun} {word!r} is not known; expected one of {', '.join(known)}")
    return found
