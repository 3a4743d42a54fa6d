"""Waiting for what was applied, at a cluster that does not serve everything as it should."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from fairway.clock import SystemClock
from fairway.kube import turns
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Key, key_of
from fairway.model.live_state import Health
from fairway.plugins.kubernetes.health.health import Healthiness, Standing
from fairway.plugins.kubernetes.removing.removing import until_gone
from fairway.plugins.kubernetes.rollout.reasons import Reasons
from fairway.plugins.kubernetes.rollout.rollout import Rollout, in_words
from fairway.plugins.kubernetes.rollout.waiting import Waiting
from fairway.sdk import StageFailed
from fairway.sdk.stage_log import StageLog
from tests.integration.kube.double import (
    Answer,
    ApiDouble,
    a_cluster,
    a_list,
    for_ever,
    hangs_up,
    no_waits,
    refuses,
    says,
    serving,
    tells,
)
from tests.patience import PATIENCE_SECONDS

DEPLOYMENTS = Kind(group="apps", version="v1", kind="Deployment", plural="deployments", namespaced=True)
KINDS = says(
    {
        "resources": [
            {"name": "deployments", "kind": "Deployment", "namespaced": True, "verbs": ["get"]},
            {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
        ]
    }
)


EXPIRED = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}


@pytest.fixture(autouse=True)
def every_turn_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is."""
    monkeypatch.setattr(turns, "SHORT_SECONDS", math.inf)


def a_log() -> StageLog:
    async def send(*_: object) -> None:
        """Nobody reads it."""

    return StageLog(send, SystemClock())


def a_deployment(available: int, **spec: Any) -> dict[str, Any]:
    status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available}
    metadata = {"name": "web", "namespace": "shop", "uid": "web-uid", "generation": 1, "resourceVersion": "5"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"replicas": 1, **spec},
        "status": status,
    }


def a_pod(name: str, app: str, reason: str = "") -> dict[str, Any]:
    """A pod that is well, or waits for that reason."""
    state = {"name": "main", **({"state": {"waiting": {"reason": reason}}} if reason else {})}
    ready = {"type": "Ready", "status": "False" if reason else "True"}
    status = {"phase": "Running", "conditions": [ready], "containerStatuses": [state]}
    metadata = {"name": name, "namespace": "shop", "uid": name, "labels": {"app": app}}
    return {"metadata": {**metadata, "resourceVersion": reason or "later"}, "status": status}


@pytest.mark.parametrize(
    "watch",
    [
        pytest.param(tells(), id="ended by the server"),
        pytest.param(tells(EXPIRED), id="not remembered"),
        pytest.param(tells(then=hangs_up), id="broken"),
        pytest.param(refuses(503), id="not served"),
    ],
)
async def test_a_watch_that_ends_at_once_is_not_begun_again_without_a_pause(watch: Answer) -> None:
    waits: list[float] = []
    listed = [says(a_list("5", a_deployment(available))) for available in (0, 0, 0, 0, 1)]
    answers = [each for one in listed for each in (one, watch)]
    async with serving(KINDS, *answers) as double, a_cluster(double) as cluster, asyncio.timeout(PATIENCE_SECONDS):
        await Rollout(cluster, a_log(), no_waits(waits)).wait([a_deployment(0)])

    # Ever more slowly, up to a bound.
    assert waits[:4] == [1.0, 2.0, 3.0, 3.0]


async def test_what_keeps_the_stage_is_said_until_nothing_does() -> None:
    said: list[str] = []
    answers = [each for ready in (0, 1) for each in (says(a_list("5", a_deployment(ready))), tells())]
    async with serving(KINDS, *answers) as double, a_cluster(double) as cluster, asyncio.timeout(PATIENCE_SECONDS):
        await Rollout(cluster, a_log(), no_waits(), said.append).wait([a_deployment(0)])

    assert set(said[:-1]) == {"Deployment shop/web: 0 of 1 replicas are available"}
    assert said[-1] == ""


def test_of_many_objects_that_keep_a_stage_some_are_named() -> None:
    waits = Healthiness(Health.OTHER, "0 of 1 replicas are available", Standing.WAITING)
    keys = [Key(group="apps", kind="Deployment", namespace="shop", name=name) for name in "abcde"]

    words = in_words(dict.fromkeys(keys, waits))

    named = "; ".join(f"Deployment shop/{name}: 0 of 1 replicas are available" for name in "abc")
    assert words == f"{named}; 2 more"


async def test_what_goes_is_not_looked_for_without_a_pause() -> None:
    waits: list[float] = []
    body = a_deployment(1)
    answers = [*[says(body), tells()] * 3, says({"kind": "Status", "code": 404}, 404)]
    async with serving(*answers) as double, a_cluster(double) as cluster, asyncio.timeout(PATIENCE_SECONDS):
        await until_gone(cluster, DEPLOYMENTS, body, no_waits(waits))

    assert waits == [1.0, 2.0, 3.0]


@asynccontextmanager
async def explained(waiting: Waiting, *answers: Answer) -> AsyncIterator[tuple[ApiDouble, asyncio.Queue[str]]]:
    """What a workload says of itself whenever it knows more."""
    said: asyncio.Queue[str] = asyncio.Queue()
    async with serving(KINDS, *answers) as double, a_cluster(double) as cluster:
        reasons = Reasons(cluster, a_log(), {key_of(waiting.body): waiting}, no_waits())
        (watch,) = reasons.watches(lambda: said.put_nowait(waiting.verdict(1).reason))
        task = asyncio.ensure_future(watch)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                yield double, said
        finally:
            task.cancel()
            await asyncio.wait({task})


@pytest.mark.parametrize(
    "then",
    [
        pytest.param({"type": "MODIFIED", "object": a_pod("web-1", "web")}, id="well"),
        pytest.param({"type": "DELETED", "object": a_pod("web-1", "web", "ErrImagePull")}, id="gone"),
    ],
)
async def test_what_a_pod_waits_for_is_said_as_long_as_it_waits(then: Mapping[str, Any]) -> None:
    waiting = Waiting(a_deployment(0, selector={"matchLabels": {"app": "web"}}), now=0)
    gate = asyncio.Event()

    async def told(request: web.Request) -> web.StreamResponse:
        await gate.wait()
        return await tells(then, then=for_ever)(request)

    listed = says(a_list("5", a_pod("web-1", "web", "ErrImagePull"), a_pod("web-2", "web"), a_pod("api-1", "api", "x")))
    async with explained(waiting, listed, told) as (double, said):
        before = await said.get()
        gate.set()
        after = await said.get()
        assert said.empty(), "of pods that are well, or another's, nobody is told"

    lacks = "0 of 1 replicas are available"
    assert (before, after) == (f"{lacks}; pod web-1: main: ErrImagePull", lacks)
    assert double.asked[1].query["labelSelector"] == "app=web"


async def test_a_pod_that_went_while_nobody_could_look_is_not_waited_for() -> None:
    waiting = Waiting(a_deployment(0, selector={"matchLabels": {"app": "web"}}), now=0)
    answers = (says(a_list("5", a_pod("web-1", "web", "ErrImagePull"))), tells(EXPIRED), says(a_list("9")))

    async with explained(waiting, *answers, tells(then=for_ever)) as (_, said):
        found = [await said.get() for _ in range(2)]

    lacks = "0 of 1 replicas are available"
    assert found == [f"{lacks}; pod web-1: main: ErrImagePull", lacks]


def a_job(version: str, ended: str = "") -> dict[str, Any]:
    metadata = {"name": "migrate", "namespace": "shop", "uid": "job-uid", "resourceVersion": version}
    conditions = [{"type": ended, "status": "True", "message": f"It is {ended}"}] if ended else []
    status = {"conditions": conditions}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {}, "status": status}


def removed_before_anybody_looked(*history: Mapping[str, Any]) -> Answer:
    """A cluster where a Job is gone, and what it remembers of it."""
    jobs = {"name": "jobs", "kind": "Job", "namespaced": True, "verbs": ["get"]}
    events = {"name": "events", "kind": "Event", "namespaced": True, "verbs": ["get"]}

    async def answer(request: web.Request) -> web.StreamResponse:
        match request.path.split("/"):
            case ["", "apis", "batch", "v1"] | ["", "api", "v1"]:
                return await says({"resources": [jobs, events]})(request)
            case [*_, "migrate"]:
                return await refuses(404)(request)
            case [*_, "jobs"] if request.query.get("fieldSelector") == "metadata.name=migrate":
                assert request.query["resourceVersion"] == "5"
                return await tells(*history, then=for_ever)(request)
            case _ if "watch" in request.query:
                return await tells(then=for_ever)(request)
        return await says(a_list("9"))(request)

    return answer


async def until_ended(*history: Mapping[str, Any]) -> None:
    gone = removed_before_anybody_looked(*history)
    async with serving(gone) as double, a_cluster(double) as cluster, asyncio.timeout(PATIENCE_SECONDS):
        await Rollout(cluster, a_log(), no_waits()).wait([a_job("5")])


async def test_a_job_that_the_cluster_removed_before_anybody_looked_has_ended_as_the_cluster_remembers() -> None:
    history = [
        {"type": "MODIFIED", "object": a_job("6", "Complete")},
        {"type": "DELETED", "object": a_job("7", "Complete")},
    ]

    await until_ended(*history)


@pytest.mark.parametrize(
    ("history", "words"),
    [
        pytest.param({"type": "DELETED", "object": a_job("7", "Failed")}, "It is Failed", id="it failed"),
        pytest.param({"type": "DELETED", "object": a_job("7")}, "was deleted by somebody", id="by somebody"),
        pytest.param(EXPIRED, "does not remember how it ended", id="forgotten"),
    ],
)
async def test_a_job_that_is_gone_and_did_not_complete_fails_the_stage(history: Mapping[str, Any], words: str) -> None:
    with pytest.raises(StageFailed, match=words):
        await until_ended(history)
