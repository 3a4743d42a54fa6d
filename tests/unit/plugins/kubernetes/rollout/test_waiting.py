"""How long an object is waited for, and what is said meanwhile."""

from typing import Any

import pytest

from fairway.plugins.kubernetes.health.health import Standing
from fairway.plugins.kubernetes.rollout.waiting import Waiting, is_waited_for
from tests.unit.plugins.kubernetes.builders import an_object


def a_live_deployment(available: int, *, observed: int = 1, gave_up: str = "", **spec: Any) -> dict[str, Any]:
    status: dict[str, Any] = {"observedGeneration": observed, "replicas": 2, "updatedReplicas": 2}
    status |= {"availableReplicas": available, "readyReplicas": available}
    if gave_up:
        reason = "ProgressDeadlineExceeded"
        condition = {"type": "Progressing", "status": "False", "reason": reason, "lastUpdateTime": gave_up}
        status["conditions"] = [condition]
    metadata = {"generation": 1}
    made = an_object("apps/v1", "Deployment", "web", metadata=metadata, spec={"replicas": 2, **spec}, status=status)
    return dict(made.body)


def test_it_is_done_when_all_is_available() -> None:
    waiting = Waiting(a_live_deployment(0), now=0)
    before = waiting.verdict(1).standing

    waiting.see(a_live_deployment(2), 2)

    assert (before, waiting.verdict(2).standing) == (Standing.WAITING, Standing.DONE)


def test_what_gets_nowhere_is_given_up_although_its_controller_says_nothing() -> None:
    waiting = Waiting(a_live_deployment(0, progressDeadlineSeconds=10), now=0)

    late = waiting.verdict(71)

    assert waiting.verdict(70).standing is Standing.WAITING
    assert late.standing is Standing.STUCK
    assert late.reason.startswith("nothing has changed for 70 seconds: ")


def test_getting_somewhere_gives_it_more_time() -> None:
    waiting = Waiting(a_live_deployment(0, progressDeadlineSeconds=10), now=0)

    waiting.see(a_live_deployment(1, progressDeadlineSeconds=10), 60)

    assert waiting.verdict(125).standing is Standing.WAITING
    assert waiting.left(60) == pytest.approx(70.1)


def test_a_job_may_take_as_long_as_it_takes() -> None:
    job = an_object("batch/v1", "Job", "migrate", spec={}, status={"active": 1}).body

    assert Waiting(job, now=0).verdict(1_000_000).standing is Standing.WAITING


@pytest.mark.parametrize(
    ("condition", "standing"),
    [
        pytest.param("Complete", Standing.DONE, id="well"),
        pytest.param("Failed", Standing.STUCK, id="badly"),
    ],
)
def test_how_a_job_has_ended_holds_although_it_is_being_removed(condition: str, standing: Standing) -> None:
    status = {"conditions": [{"type": condition, "status": "True"}]}
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    job = an_object("batch/v1", "Job", "migrate", metadata=metadata, spec={}, status=status).body

    waiting = Waiting(job, now=0)

    assert (waiting.verdict(1).standing, waiting.has_ended) == (standing, True)


def test_what_a_controller_said_before_we_applied_does_not_count() -> None:
    """A Deployment that was stuck, and is brought something else."""
    waiting = Waiting(a_live_deployment(0, observed=0, gave_up="yesterday"), now=0)
    waiting.see(a_live_deployment(0, gave_up="yesterday"), 1)
    stale = waiting.verdict(1)

    waiting.see(a_live_deployment(0, gave_up="today"), 2)

    assert (stale.standing, waiting.verdict(2).standing) == (Standing.WAITING, Standing.STUCK)


def test_nor_does_it_when_applying_has_changed_nothing() -> None:
    """Whoever tries again has mended something else, such as a quota; it is waited for like anything else."""
    before = a_live_deployment(0, gave_up="yesterday", progressDeadlineSeconds=10)
    waiting = Waiting(before, now=0)
    waiting.see(before, 1)

    verdicts = [waiting.verdict(at) for at in (70, 71)]

    assert [(each.standing, each.reason) for each in verdicts] == [
        (Standing.WAITING, "0 of 2 replicas are available"),
        (Standing.STUCK, "nothing has changed for 70 seconds: 0 of 2 replicas are available"),
    ]


def test_what_is_said_once_more_since_then_counts() -> None:
    waiting = Waiting(a_live_deployment(0, gave_up="yesterday"), now=0)

    waiting.see(a_live_deployment(0, gave_up="today"), 1)

    assert waiting.verdict(1).standing is Standing.STUCK


def a_warning(at: str, message: str = "exceeded quota") -> dict[str, str]:
    return {"reason": "FailedCreate", "message": message, "lastTimestamp": at}


@pytest.mark.parametrize(
    ("event", "told"),
    [
        pytest.param(a_warning("2026-01-01T10:00:01Z"), "; FailedCreate: exceeded quota", id="after"),
        pytest.param(a_warning("2026-01-01T10:00:00Z"), "; FailedCreate: exceeded quota", id="in the same second"),
        pytest.param(a_warning("2026-01-01T09:59:59Z"), "", id="before"),
        pytest.param(
            {"reason": "FailedCreate", "eventTime": "2026-01-01T10:00:00.123456Z"}, "; FailedCreate", id="a newer form"
        ),
        pytest.param(
            a_warning("2026-01-01T09:59:59Z") | {"series": {"lastObservedTime": "2026-01-01T10:00:02.000001Z"}},
            "; FailedCreate: exceeded quota",
            id="repeated since",
        ),
    ],
)
def test_what_its_controller_warns_of_since_it_was_applied_is_told(event: dict[str, Any], told: str) -> None:
    body = a_live_deployment(0)
    body["metadata"] |= {"managedFields": [{"manager": "fairway", "time": "2026-01-01T10:00:00Z"}]}
    waiting = Waiting(body, now=0)

    waiting.see_warning(event)

    assert waiting.verdict(1).reason == f"0 of 2 replicas are available{told}"
    assert waiting.verdict(1_000_000).reason.endswith(f"0 of 2 replicas are available{told}")


def test_a_warning_does_not_hold_when_it_got_somewhere() -> None:
    waiting = Waiting(a_live_deployment(0), now=0)
    waiting.see_warning(a_warning("2026-01-01T10:00:00Z"))

    waiting.see(a_live_deployment(1), now=1)

    assert waiting.verdict(1).reason == "1 of 2 replicas are available"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, {"replicas": 0, "currentRevision": "a"}, id="its first status"),
        pytest.param(
            {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3},
            {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 0},
            id="less than before",
        ),
    ],
)
def test_a_warning_holds_until_it_got_somewhere(before: dict[str, Any], after: dict[str, Any]) -> None:
    """A controller first warns that it can make no pods, and then writes down how few there are."""
    db = [
        an_object("apps/v1", "StatefulSet", "db", metadata={"generation": 2}, spec={"replicas": 3}, status=each).body
        for each in (before, {**after, "observedGeneration": 2})
    ]
    waiting = Waiting(db[0], now=0)
    waiting.see_warning(a_warning("2026-01-01T10:00:00Z"))

    waiting.see(db[1], now=1)

    assert waiting.verdict(1).reason.endswith("; FailedCreate: exceeded quota")


def test_a_warning_does_not_hold_for_a_job_that_has_pods() -> None:
    job, at_work = (an_object("batch/v1", "Job", "job", spec={}, status=each).body for each in ({}, {"active": 1}))
    waiting = Waiting(job, now=0)
    waiting.see_warning(a_warning("2026-01-01T10:00:00Z"))

    waiting.see(at_work, now=1)

    assert waiting.verdict(1).reason == "0 of 1 completions, 1 pod at work"


def test_the_same_is_said_once() -> None:
    waiting = Waiting(a_live_deployment(0), now=0)
    said = [waiting.news(waiting.verdict(now)) for now in (1, 2)]

    waiting.see(a_live_deployment(1), 3)

    assert said[0]
    assert said[1] == ""
    assert waiting.news(waiting.verdict(3)) not in ("", said[0])


@pytest.mark.parametrize(
    ("reason", "image", "standing"),
    [
        pytest.param("InvalidImageName", "WEB", Standing.STUCK, id="an image that cannot be"),
        pytest.param("InvalidImageName", "OLD", Standing.WAITING, id="a pod of an earlier form"),
        pytest.param("ImagePullBackOff", "WEB", Standing.WAITING, id="an image that may come"),
    ],
)
def test_what_can_never_run_is_given_up_at_once(reason: str, image: str, standing: Standing) -> None:
    template = {"spec": {"containers": [{"name": "main", "image": "WEB"}]}}
    status = {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": reason}}}]}
    pod = an_object("v1", "Pod", "web-1", spec={"containers": [{"name": "main", "image": image}]}, status=status)
    waiting = Waiting(a_live_deployment(0, template=template), now=0)

    waiting.see_pod(pod.body)

    assert waiting.verdict(1).standing is standing


def a_pod(revision: str, reason: str, name: str = "db-1") -> dict[str, Any]:
    status = {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": reason}}}]}
    labels = {"controller-revision-hash": revision}
    return dict(an_object("v1", "Pod", name, metadata={"labels": labels, "uid": name}, status=status).body)


@pytest.mark.parametrize(
    ("pod", "spec", "in_the_way"),
    [
        pytest.param(a_pod("old", "ImagePullBackOff"), {}, True, id="an earlier pod that cannot start"),
        pytest.param(a_pod("new", "ImagePullBackOff"), {}, False, id="one of the newest form"),
        pytest.param(a_pod("old", "ContainerCreating"), {}, False, id="one that starts"),
        pytest.param(
            a_pod("old", "CrashLoopBackOff"),
            {"updateStrategy": {"rollingUpdate": {"partition": 2}}},
            False,
            id="one that stays as it is",
        ),
        pytest.param(a_pod("old", "CrashLoopBackOff"), {"updateStrategy": {"type": "OnDelete"}}, False, id="by hand"),
    ],
)
def test_a_pod_that_keeps_a_stateful_set_from_being_mended_is_in_the_way(
    pod: dict[str, Any], spec: dict[str, Any], in_the_way: bool
) -> None:
    status = {"observedGeneration": 1, "updateRevision": "new", "currentRevision": "old"}
    body = an_object("apps/v1", "StatefulSet", "db", metadata={"generation": 1}, spec=spec, status=status).body
    waiting = Waiting(body, now=0)

    waiting.see_pod(pod)

    assert waiting.in_the_way() == ([pod] if in_the_way else [])


@pytest.mark.parametrize(
    ("api_version", "kind", "more", "waited"),
    [
        pytest.param("apps/v1", "Deployment", {}, True, id="a workload"),
        pytest.param("batch/v1", "Job", {}, True, id="a job"),
        pytest.param("batch/v1", "Job", {"spec": {"suspend": True}}, False, id="a suspended job"),
        pytest.param("v1", "PersistentVolumeClaim", {}, False, id="a claim, which may wait for its first pod"),
        pytest.param("v1", "ConfigMap", {}, False, id="configuration"),
        pytest.param("example.com/v1", "Deployment", {}, False, id="somebody else's kind"),
        pytest.param(
            "apps/v1", "Deployment", {"metadata": {"annotations": {"fairway.dev/wait": "false"}}}, False, id="unwanted"
        ),
    ],
)
def test_what_is_waited_for(api_version: str, kind: str, more: dict[str, Any], waited: bool) -> None:
    assert is_waited_for(an_object(api_version, kind, "x", **more).body) is waited
