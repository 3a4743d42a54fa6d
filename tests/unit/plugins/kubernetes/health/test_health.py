"""Health: what each kind's status means, in words, and whether waiting helps."""

from typing import Any

import pytest

from fairway.model.live_state import Health
from fairway.plugins.kubernetes.health.health import Healthiness, Standing, health_of

WELL, BAD = Health.HEALTHY, Health.UNHEALTHY
DONE, WAITING, STUCK = Standing.DONE, Standing.WAITING, Standing.STUCK
UNSEEN = "Its newest form has not been seen by its controller yet"


def an_object(api_version: str, kind: str, spec: Any = None, status: Any = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "web", **metadata},
        **({"spec": spec} if spec is not None else {}),
        **({"status": status} if status is not None else {}),
    }


def a_condition(name: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": name, "status": status, "reason": reason, "message": message}


def a_deployment(
    spec: Any = None, generation: int = 1, managers: tuple[str, ...] = (), **status: Any
) -> dict[str, Any]:
    counts = {"observedGeneration": 1, "replicas": 5, "updatedReplicas": 5, "availableReplicas": 5}
    fields: dict[str, Any] = {"f:spec": {f"f:{name}": {} for name in spec or ()}}
    metadata = {"generation": generation, "managedFields": [{"manager": each, "fieldsV1": fields} for each in managers]}
    return an_object("apps/v1", "Deployment", {"replicas": 5} | (spec or {}), counts | status, **metadata)


RESUME = ", and nothing is rolled out until somebody goes on with it: kubectl rollout resume deployment/web"


TOO_LATE = [a_condition("Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "x" timed out.')]
NO_QUOTA = [a_condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]
WITHOUT_QUOTA = "0 of 5 replicas are updated, 5 available; FailedCreate: exceeded quota"

DEPLOYMENTS = [
    pytest.param(a_deployment(), (WELL, "5 of 5 replicas are available", DONE), id="as wanted"),
    pytest.param(a_deployment({"replicas": 0}, replicas=0), (WELL, "It is scaled to zero", DONE), id="zero"),
    pytest.param(a_deployment(generation=2), (BAD, UNSEEN, WAITING), id="unseen"),
    pytest.param(
        a_deployment(updatedReplicas=2),
        (BAD, "2 of 5 replicas are updated, 5 available", WAITING),
        id="updating",
    ),
    pytest.param(a_deployment(replicas=7), (BAD, "2 old replicas are still to go", WAITING), id="old ones left"),
    pytest.param(a_deployment(replicas=6), (BAD, "1 old replica is still to go", WAITING), id="an old one left"),
    pytest.param(
        a_deployment(availableReplicas=2), (BAD, "2 of 5 replicas are available", WAITING), id="not available"
    ),
    pytest.param(
        a_deployment(availableReplicas=2, conditions=TOO_LATE),
        (BAD, "It made no progress for 600 seconds: 2 of 5 replicas are available", STUCK),
        id="deadline",
    ),
    pytest.param(
        a_deployment(updatedReplicas=0, conditions=[*TOO_LATE, *NO_QUOTA]),
        (BAD, f"It made no progress for 600 seconds: {WITHOUT_QUOTA}", STUCK),
        id="no quota, for too long",
    ),
    pytest.param(
        a_deployment(updatedReplicas=0, conditions=NO_QUOTA),
        (BAD, "0 of 5 replicas are updated, 5 available; FailedCreate: exceeded quota", WAITING),
        id="quota",
    ),
    pytest.param(
        a_deployment({"paused": True}, managers=("kubectl-rollout",)),
        (BAD, f"It is paused by kubectl-rollout{RESUME}", WAITING),
        id="paused",
    ),
    pytest.param(
        a_deployment({"paused": True}, managers=("fairway",)),
        (BAD, "It is paused, as Git says: nothing is rolled out while spec.paused is true", STUCK),
        id="paused by Git",
    ),
]


def a_stateful_set(strategy: Any = None, **status: Any) -> dict[str, Any]:
    counts = {"observedGeneration": 1, "readyReplicas": 3, "currentRevision": "a", "updateRevision": "a"}
    spec = {"replicas": 3, "updateStrategy": strategy or {"type": "RollingUpdate"}}
    return an_object("apps/v1", "StatefulSet", spec, counts | status, generation=1)


def a_daemon_set(**status: Any) -> dict[str, Any]:
    counts = {"observedGeneration": 1, "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3}
    return an_object("apps/v1", "DaemonSet", {}, counts | status, generation=1)


def a_job(status: Any, **spec: Any) -> dict[str, Any]:
    return an_object("batch/v1", "Job", {"completions": 2, **spec}, status)


WORKLOADS = [
    pytest.param(a_stateful_set(), (WELL, "3 of 3 replicas are ready", DONE), id="StatefulSet as wanted"),
    pytest.param(
        a_stateful_set(readyReplicas=1), (BAD, "1 of 3 replicas are ready", WAITING), id="StatefulSet unready"
    ),
    pytest.param(
        a_stateful_set(updateRevision="b", updatedReplicas=1),
        (BAD, "1 of 3 replicas are updated", WAITING),
        id="StatefulSet updating",
    ),
    pytest.param(
        a_stateful_set({"rollingUpdate": {"partition": 2}}, updateRevision="b", updatedReplicas=1),
        (WELL, "3 of 3 replicas are ready", DONE),
        id="StatefulSet down to its partition",
    ),
    pytest.param(
        a_stateful_set({"type": "OnDelete"}, updateRevision="b", updatedReplicas=0),
        (WELL, "3 of 3 replicas are ready", DONE),
        id="StatefulSet by hand",
    ),
    pytest.param(a_daemon_set(), (WELL, "It is available on 3 of 3 nodes", DONE), id="DaemonSet as wanted"),
    pytest.param(
        a_daemon_set(updatedNumberScheduled=1),
        (BAD, "1 of 3 nodes have the newest form", WAITING),
        id="DaemonSet updating",
    ),
    pytest.param(
        a_daemon_set(numberMisscheduled=1),
        (BAD, "It runs on 1 node where it should not", WAITING),
        id="DaemonSet elsewhere",
    ),
    pytest.param(a_job({"active": 1}), (WELL, "0 of 2 completions, 1 pod at work", WAITING), id="Job at work"),
    pytest.param(a_job({"conditions": [a_condition("Complete")]}), (WELL, "It is complete", DONE), id="Job complete"),
    pytest.param(
        a_job({"conditions": [a_condition("Failed", "True", "BackoffLimitExceeded", "too often")]}),
        (BAD, "It has failed: BackoffLimitExceeded: too often", STUCK),
        id="Job failed",
    ),
    pytest.param(a_job({}, suspend=True), (WELL, "It is suspended", DONE), id="Job suspended"),
]


def a_pod(phase: str = "Running", spec: Any = None, **status: Any) -> dict[str, Any]:
    return an_object("v1", "Pod", spec or {}, {"phase": phase, **status})


def a_container(ready: bool = False, waiting: Any = None, ended: Any = None) -> dict[str, Any]:
    state = {"waiting": waiting} if waiting else {"running": {}}
    return {"name": "app", "ready": ready, "state": state, "lastState": {"terminated": ended} if ended else {}}


PULL = {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "x"'}
CRASH = {"reason": "CrashLoopBackOff", "message": "back-off 10s"}
NO_NODE = [a_condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")]

PODS = [
    pytest.param(a_pod(conditions=[a_condition("Ready")]), (WELL, "", DONE), id="ready"),
    pytest.param(a_pod("Succeeded"), (WELL, "It has done its work", DONE), id="done"),
    pytest.param(
        a_pod("Failed", reason="Evicted", message="low disk"), (BAD, "Evicted: low disk", STUCK), id="evicted"
    ),
    pytest.param(
        a_pod("Pending", containerStatuses=[a_container(waiting=PULL)]),
        (BAD, 'app: ImagePullBackOff: Back-off pulling image "x"', WAITING),
        id="image",
    ),
    pytest.param(
        a_pod(containerStatuses=[a_container(waiting=CRASH, ended={"reason": "OOMKilled", "exitCode": 137})]),
        (BAD, "app: CrashLoopBackOff: back-off 10s: it ended with OOMKilled, exit status 137", WAITING),
        id="crash",
    ),
    pytest.param(
        a_pod("Pending", conditions=NO_NODE),
        (BAD, "No node takes it: Unschedulable: 0/3 nodes are available", WAITING),
        id="no node",
    ),
    pytest.param(a_pod("Pending"), (BAD, "It is starting", WAITING), id="starting"),
    pytest.param(a_pod(containerStatuses=[a_container()]), (BAD, "Not ready: app", WAITING), id="not ready"),
    pytest.param(a_pod(spec={"restartPolicy": "Never"}), (WELL, "", DONE), id="of a job"),
]


def a_service(**status: Any) -> dict[str, Any]:
    return an_object("v1", "Service", {"type": "LoadBalancer"}, status)


def a_claim(phase: str) -> dict[str, Any]:
    return an_object("v1", "PersistentVolumeClaim", {}, {"phase": phase})


def a_volume(phase: str, **status: str) -> dict[str, Any]:
    return an_object("v1", "PersistentVolume", {}, {"phase": phase, **status})


def an_ingress(*addresses: Any, version: str = "networking.k8s.io/v1") -> dict[str, Any]:
    return an_object(version, "Ingress", {}, {"loadBalancer": {"ingress": addresses}})


def a_replica_set(available: int, wanted: int = 3, **status: Any) -> dict[str, Any]:
    counts = {"observedGeneration": 1, "replicas": available, "availableReplicas": available}
    return an_object("apps/v1", "ReplicaSet", {"replicas": wanted}, {**counts, **status}, generation=1)


def a_custom(generation: int = 1, **status: Any) -> dict[str, Any]:
    return an_object("example.com/v1", "Thing", {}, status, generation=generation)


OTHERS = [
    pytest.param(an_object("v1", "ConfigMap"), (WELL, "", DONE), id="ConfigMap"),
    pytest.param(an_object("v1", "Service", {"type": "ClusterIP"}), (WELL, "", DONE), id="Service"),
    pytest.param(a_service(), (BAD, "It has no address yet", WAITING), id="LoadBalancer without address"),
    pytest.param(
        a_service(loadBalancer={"ingress": [{"ip": "10.0.0.1"}]}), (WELL, "Reached at 10.0.0.1", DONE), id="with one"
    ),
    pytest.param(a_claim("Bound"), (WELL, "", DONE), id="claim"),
    pytest.param(a_claim("Pending"), (BAD, "No volume is bound to it yet", WAITING), id="claim pending"),
    pytest.param(a_claim("Lost"), (BAD, "The volume that it had is lost", STUCK), id="claim lost"),
    pytest.param(an_ingress(), (BAD, "It has no address yet", WAITING), id="Ingress without address"),
    pytest.param(an_ingress({"hostname": "web.example.com"}), (WELL, "Reached at web.example.com", DONE), id="Ingress"),
    pytest.param(
        an_ingress({"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}, version="extensions/v1beta1"),
        (WELL, "Reached at 10.0.0.1, 10.0.0.2", DONE),
        id="Ingress of old",
    ),
    pytest.param(a_replica_set(3), (WELL, "3 of 3 replicas are available", DONE), id="ReplicaSet"),
    pytest.param(a_replica_set(1), (BAD, "1 of 3 replicas are available", WAITING), id="ReplicaSet unready"),
    pytest.param(
        a_replica_set(0, conditions=NO_QUOTA), (BAD, "FailedCreate: exceeded quota", WAITING), id="ReplicaSet, no quota"
    ),
    pytest.param(a_replica_set(0, wanted=0), (WELL, "It is scaled to zero", DONE), id="ReplicaSet of old"),
    pytest.param(an_object("batch/v1", "CronJob", {}, {}), (WELL, "", DONE), id="CronJob"),
    pytest.param(
        an_object("batch/v1", "CronJob", {}, {"active": [{"name": "one"}, {"name": "two"}]}),
        (WELL, "2 jobs at work", DONE),
        id="CronJob at work",
    ),
    pytest.param(
        an_object("batch/v1", "CronJob", {}, {"active": [{"name": "one"}]}),
        (WELL, "1 job at work", DONE),
        id="CronJob at little work",
    ),
    pytest.param(
        an_object("batch/v1", "CronJob", {"suspend": True}, {}), (WELL, "It is suspended", DONE), id="CronJob suspended"
    ),
    pytest.param(a_volume("Available"), (WELL, "", DONE), id="volume"),
    pytest.param(a_volume("Failed", message="gone"), (BAD, "It is Failed: gone", STUCK), id="volume failed"),
    pytest.param(
        an_object("v1", "Namespace", {}, {"phase": "Terminating"}), (BAD, "It is Terminating", WAITING), id="ns"
    ),
    pytest.param(
        an_object("autoscaling/v2", "HorizontalPodAutoscaler", {}, {"conditions": [a_condition("AbleToScale")]}),
        (WELL, "", DONE),
        id="HPA",
    ),
    pytest.param(
        an_object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            {},
            {"conditions": [a_condition("ScalingActive", "False", "FailedGetResourceMetric", "no metrics")]},
        ),
        (BAD, "FailedGetResourceMetric: no metrics", WAITING),
        id="HPA without metrics",
    ),
    pytest.param(
        an_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, {}),
        (BAD, "The cluster does not serve it yet", WAITING),
        id="CRD",
    ),
    pytest.param(a_custom(), (WELL, "", DONE), id="custom without status"),
    pytest.param(a_custom(conditions=[a_condition("Ready")]), (WELL, "", DONE), id="custom ready"),
    pytest.param(
        a_custom(conditions=[a_condition("Ready", "False", "Building", "step 2")]),
        (BAD, "Building: step 2", WAITING),
        id="custom not ready",
    ),
    pytest.param(
        a_custom(conditions=[a_condition("Ready", "False"), a_condition("Stalled", "True", "NoAccess")]),
        (BAD, "NoAccess", STUCK),
        id="custom stalled",
    ),
    pytest.param(a_custom(2, observedGeneration="1"), (BAD, UNSEEN, WAITING), id="custom unseen, as text"),
    pytest.param(a_custom(phase="Healthy"), (WELL, "", DONE), id="custom by phase"),
    pytest.param(a_custom(phase="Paused", message="at 20 %"), (BAD, "Paused: at 20 %", WAITING), id="custom paused"),
    pytest.param(a_custom(phase="Degraded"), (BAD, "Degraded", STUCK), id="custom degraded"),
    pytest.param(a_custom(conditions="nonsense", phase=7), (WELL, "", DONE), id="custom nonsense"),
    pytest.param(
        an_object("v1", "ConfigMap", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"]),
        (BAD, "It is being removed; it waits for a/b", WAITING),
        id="being removed",
    ),
]


@pytest.mark.parametrize(("body", "expected"), [*DEPLOYMENTS, *WORKLOADS, *PODS, *OTHERS])
def test_each_kind_says_how_it_is(body: dict[str, Any], expected: tuple[Health, str, Standing]) -> None:
    assert health_of(body) == Healthiness(*expected)


def test_conditions_that_nobody_understands_leave_the_health_unknown() -> None:
    assert health_of(a_custom(conditions=[a_condition("Odd")])).health is Health.UNKNOWN


def test_a_deployment_tells_what_keeps_its_pods_from_being_ready() -> None:
    broken = a_pod("Pending", containerStatuses=[a_container(waiting=PULL)])
    starting = a_pod("Pending", containerStatuses=[a_container(waiting={"reason": "ContainerCreating"})])

    verdict = health_of(a_deployment(availableReplicas=2), [starting, broken])

    assert verdict.reason == (
        '2 of 5 replicas are available; pod web: app: ImagePullBackOff: Back-off pulling image "x"'
    )


def test_of_many_bad_pods_some_are_told_and_the_others_counted() -> None:
    broken = [a_pod("Pending", containerStatuses=[a_container(waiting=PULL)]) for _ in range(5)]

    assert health_of(a_deployment(availableReplicas=0), broken).reason.endswith("; 2 more pods")
    assert health_of(a_deployment(availableReplicas=0), broken[1:]).reason.endswith("; 1 more pod")
