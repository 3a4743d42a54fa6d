"""The clusters of the tests themselves: what other tests take for granted of them."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.clusters.api import Refused
from tests.clusters.programs import program
from tests.clusters.running import RunningCluster, a_cluster
from tests.patience import PATIENCE_SECONDS

_ROOT = Path(__file__).parents[2]
_STARTS_ONE = (
    "import os; from tests.clusters.running import start_cluster as s; print(s(os.getpid()).home, flush=True); input()"
)


def until(so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def a_deployment(name: str, image: str) -> str:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec})


def test_a_deployment_becomes_available(cluster: RunningCluster, namespace: str) -> None:
    cluster.kubectl("apply", "--server-side", "-f", "-", given=a_deployment("web", "web:1"), namespace=namespace)

    said = cluster.kubectl("rollout", "status", "deployment/web", "--timeout=300s", namespace=namespace)

    assert 'deployment "web" successfully rolled out' in said


def test_a_pod_whose_image_is_called_broken_does_not_become_ready(cluster: RunningCluster, namespace: str) -> None:
    cluster.kubectl("apply", "-f", "-", given=a_deployment("web", "broken:1"), namespace=namespace)

    def reasons() -> set[str]:
        pods = cluster.api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
        states = [state for pod in pods for state in pod["status"].get("containerStatuses", [])]
        return {state["state"]["waiting"]["reason"] for state in states}

    until(lambda: reasons() == {"ImagePullBackOff"})


def test_a_limited_person_may_do_just_that(cluster: RunningCluster, namespace: str) -> None:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]
    limited = cluster.limited(rules, namespace)

    def may(verb: str, resource: str) -> str:
        question = ("auth", "can-i", verb, resource, "--quiet")
        try:
            return cluster.kubectl(*question, namespace=namespace, kubeconfig=limited) or "yes"
        except AssertionError:
            return "no"

    asked = [("list", "configmaps"), ("create", "configmaps"), ("list", "secrets")]
    assert [may(*question) for question in asked] == ["yes", "no", "no"]


def test_a_service_account_shows_its_token(cluster: RunningCluster, namespace: str) -> None:
    account = cluster.account(namespace, "default")

    said = cluster.kubectl("auth", "whoami", "-o", "json", kubeconfig=account)

    assert json.loads(said)["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:default"


def test_a_person_whose_certificate_has_expired_is_not_let_in(cluster: RunningCluster) -> None:
    expired = cluster.person("ada", ("system:masters",), valid_for=timedelta(seconds=-1))

    with pytest.raises(AssertionError, match=r"Unauthorized|must be logged in"):
        cluster.kubectl("get", "namespaces", kubeconfig=expired)


def test_the_api_server_goes_and_comes_back_with_what_it_had(cluster: RunningCluster) -> None:
    with a_cluster() as own:
        name = own.new_namespace()

        own.stop()
        with pytest.raises(OSError, match="refused"):
            own.api.get("/api/v1/namespaces")
        own.start()

        assert (own.url != cluster.url, own.api.get(f"/api/v1/namespaces/{name}")["status"]) == (
            True,
            {"phase": "Active"},
        )
        home = own.home
    assert not home.exists()


def test_a_program_that_ends_by_itself_is_started_again() -> None:
    """A busy machine may be too slow for one of them, when nobody waits for the cluster any more."""
    with a_cluster() as own:
        until(lambda: bool(processes_of(own.home, "kube-scheduler")))
        (before,) = processes_of(own.home, "kube-scheduler")

        os.kill(before, signal.SIGKILL)

        until(lambda: bool(processes_of(own.home, "kube-scheduler") - {before}))


def test_a_cluster_ends_with_a_process_that_is_killed() -> None:
    program("kube-apiserver")
    with subprocess.Popen(
        [sys.executable, "-c", _STARTS_ONE], cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        home = Path(owner.stdout.readline().strip())
        assert RunningCluster(home).api.text("/readyz") == "ok"
        programs = {"etcd", "kube-apiserver", "kube-controller", "kube-scheduler", "kwok"}
        # Each is another program first, which sees to it that it ends with its keeper.
        until(lambda: programs_of(home) >= programs)

        os.kill(owner.pid, signal.SIGKILL)

    until(lambda: not home.exists() and not programs_of(home))


def test_a_cluster_that_does_not_start_says_what_its_programs_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("kube-apiserver")
    broken = tmp_path / "etcd"
    broken.write_text("#!/bin/sh\necho 'no room on the disk'\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)

    # The API server may have given up by then too.
    said = r"etcd ended with 3(, kube-apiserver ended with 1)? while waiting(.|\n)*no room on the disk"
    with pytest.raises(AssertionError, match=said), a_cluster():
        pass

    assert list(tmp_path.glob("fairway-cluster-*")) == []


def programs_of(home: Path) -> set[str]:
    """The names of the processes whose command lines name the folder."""
    return {name for _, name in _running(home)}


def processes_of(home: Path, program: str) -> set[int]:
    """The numbers of those with that name."""
    return {number for number, name in _running(home) if name == program}


def _running(home: Path) -> Iterator[tuple[int, str]]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(home).encode() in (process / "cmdline").read_bytes():
                yield int(process.name), (process / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue


def test_what_the_api_server_refuses_is_told(cluster: RunningCluster) -> None:
    with pytest.raises(Refused, match='namespaces \\\\"nobody\\\\" not found'):
        cluster.api.get("/api/v1/namespaces/nobody")
