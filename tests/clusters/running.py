"""A cluster that a keeper keeps, as a test sees it: its kubeconfigs, namespaces, people, and its programs to stop.

with a_cluster() as cluster:
    cluster.kubectl("apply", "-f", "-", given=manifests, namespace=cluster.new_namespace())
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml

from tests.clusters.api import Api, Refused
from tests.clusters.certificates import Authority
from tests.clusters.keeper import READY
from tests.clusters.kubeconfigs import Door, by_certificate, by_token, write_kubeconfig
from tests.clusters.programs import program
from tests.patience import PATIENCE_SECONDS
from tools.peers.catalogue import KWOK_STAGES

#: The repository, where the keeper's code is found from.
_ROOT = Path(__file__).parents[2]
_PROGRAMS = (KWOK_STAGES, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl")
_RBAC = "/apis/rbac.authorization.k8s.io/v1"

Rules = Sequence[Mapping[str, Sequence[str]]]


class RunningCluster:
    """One cluster, ready for pods."""

    def __init__(self, home: Path) -> None:
        self.home = home
        #: The administrator's.
        self.kubeconfig = home / "kubeconfig"
        #: What the programs say, a file for each.
        self.logs = home / "logs"
        told = yaml.safe_load(self.kubeconfig.read_text())["clusters"][0]["cluster"]
        self.url: str = told["server"]
        self.api = Api(self.url, home / "pki")
        self._authority = Authority.load(home / "pki")

    def kubectl(
        self, *arguments: str, given: str = "", namespace: str = "default", kubeconfig: Path | None = None
    ) -> str:
        """What the real client says; one that fails is the test's failure, with its words."""
        command = [str(program("kubectl")), f"--kubeconfig={kubeconfig or self.kubeconfig}", f"--namespace={namespace}"]
        # Its cache of what the API server offers would be shared by clusters that had the same port one after another.
        environment = {**os.environ, "KUBECACHEDIR": str(self.home / "kubectl")}
        done = subprocess.run(
            [*command, *arguments], input=given, capture_output=True, text=True, check=False, env=environment
        )
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}{done.stdout}"
        return done.stdout

    def new_namespace(self, labels: Mapping[str, str] | None = None) -> str:
        """One that nobody else uses, in which pods may be made; it goes with the cluster."""
        name = f"test-{uuid4().hex[:12]}"
        namespace = {"metadata": {"name": name, "labels": dict(labels or {})}}
        self.api.create("/api/v1/namespaces", namespace)
        # Before its account is there, no pod can be.
        self.wait_for(f"/api/v1/namespaces/{name}/serviceaccounts/default")
        return name

    def person(self, user: str, groups: tuple[str, ...] = (), valid_for: timedelta = timedelta(days=1)) -> Path:
        """The kubeconfig of somebody who may nothing, until a role is bound to the name or a group."""
        pair = self._authority.client(user, groups, valid_for)
        return write_kubeconfig(self.home / f"{user}-{uuid4().hex}.kubeconfig", self._door, by_certificate(pair))

    def limited(self, rules: Rules, namespace: str = "") -> Path:
        """The kubeconfig of a new person who may just this, in the namespace or, without one, everywhere."""
        user = f"limited-{uuid4().hex[:12]}"
        scope = f"/namespaces/{namespace}" if namespace else ""
        kind = "Role" if namespace else "ClusterRole"
        subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
        role = {"kind": kind, "name": user, "apiGroup": "rbac.authorization.k8s.io"}
        plural = kind.lower()
        self.api.create(f"{_RBAC}{scope}/{plural}s", {"metadata": {"name": user}, "rules": list(rules)})
        binding = {"metadata": {"name": user}, "roleRef": role, "subjects": [subject]}
        self.api.create(f"{_RBAC}{scope}/{plural}bindings", binding)
        self.wait_for_right(user, namespace, next(each for each in rules if each["verbs"]))
        return self.person(user)

    def wait_for_right(self, user: str, namespace: str, rule: Mapping[str, Sequence[str]]) -> None:
        """The API server learns of a new binding in its own time."""
        asked = {"verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": rule["resources"][0]}
        review = {"spec": {"user": user, "resourceAttributes": {**asked, "namespace": namespace}}}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
            if answer["status"]["allowed"]:
                return
            assert time.monotonic() < deadline, answer
            time.sleep(0.02)

    def account(self, namespace: str, name: str, seconds: int = 3600) -> Path:
        """The kubeconfig of a service account, with a token that is good for so long; ten minutes are the least."""
        body: dict[str, Any] = {"spec": {"expirationSeconds": seconds}}
        made = self.api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", body)
        file = self.home / f"{namespace}-{name}-{uuid4().hex}.kubeconfig"
        return write_kubeconfig(file, self._door, by_token(made["status"]["token"]), namespace)

    def stop(self, name: str = "kube-apiserver") -> None:
        """Kill one of its programs. For a cluster of the test's own only: the shared one is everybody's."""
        self._order(f"stop {name}")

    def start(self, name: str = "kube-apiserver") -> None:
        """Start it again, on the same port, and wait until the API server answers."""
        self._order(f"start {name}")

    def end(self) -> None:
        """Leave nothing of it."""
        self._order("end")

    def wait_for(self, path: str) -> None:
        """Until there is something."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self.api.get(path)
                return
            except Refused as error:
                if error.status != 404 or time.monotonic() > deadline:
                    raise
            time.sleep(0.02)

    @property
    def _door(self) -> Door:
        return Door(self.home.name, self.url, self._authority.pair.certificate)

    def _order(self, line: str) -> None:
        with socket.socket(socket.AF_UNIX) as keeper:
            keeper.connect(str(self.home / "orders"))
            with keeper.makefile("rw") as lines:
                lines.write(f"{line}\n")
                lines.flush()
                said = lines.read().strip()
        assert said == READY, said


def start_cluster(lives_with: int) -> RunningCluster:
    """Start one that ends with the process of that number, if nobody ends it before."""
    for name in _PROGRAMS:
        program(name)
    # Not below the test's own folder: the path of a socket is short.
    home = Path(tempfile.mkdtemp(prefix="fairway-cluster-"))
    keeper = [sys.executable, "-m", "tests.clusters.keeper", str(home), str(lives_with)]
    done = subprocess.run(keeper, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"no cluster: {done.stderr}"
    return RunningCluster(home)


@contextmanager
def a_cluster() -> Iterator[RunningCluster]:
    """One of the test's own, to stop and restart; most tests share one instead."""
    cluster = start_cluster(os.getpid())
    try:
        yield cluster
    finally:
        cluster.end()
