"""The programs that make up a cluster, and how each is told to run: for one test run, on loopback, with nothing synced.

Every port is held by a socket that is bound and never listens, and shared with the program that does: nobody else gets
it, neither before the program has started nor while a test has stopped it.
"""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tools.peers.catalogue import KWOK_STAGES, locate

#: In the order in which they are started: the later ones call the API server, which calls etcd.
FIRST, THEN = ("etcd", "kube-apiserver"), ("kube-controller-manager", "kube-scheduler", "kwok")
#: By themselves they make some tens of calls a second, to spare an API server that has many to serve.
_UNSPARING = ("--kube-api-qps=1000", "--kube-api-burst=2000")
_ACCOUNT_ISSUER = "https://kubernetes.default.svc"


class HeldPort:
    """A port of loopback that stays ours."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        """Let it go."""
        self._socket.close()


class Site(NamedTuple):
    """Where one cluster's files are, and its ports."""

    home: Path
    etcd: int
    etcd_peers: int
    api: int

    @property
    def url(self) -> str:
        """Of the API server."""
        return f"https://127.0.0.1:{self.api}"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.home / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.home / "kubeconfig"

    def commands(self) -> Mapping[str, list[str]]:
        """What is run, by its name."""
        programs = {
            "etcd": self._etcd(),
            "kube-apiserver": self._api_server(),
            "kube-controller-manager": self._controller_manager(),
            "kube-scheduler": [
                f"--kubeconfig={self.kubeconfig}",
                "--leader-elect=false",
                "--secure-port=0",
                *_UNSPARING,
            ],
            "kwok": [
                f"--kubeconfig={self.kubeconfig}",
                f"--config={locate(KWOK_STAGES)}",
                "--manage-all-nodes=true",
                "--node-ip=127.0.0.1",
                "--server-address=",
            ],
        }
        return {name: [str(locate(name)), *arguments] for name, arguments in programs.items()}

    def _etcd(self) -> list[str]:
        clients, peers = f"http://127.0.0.1:{self.etcd}", f"http://127.0.0.1:{self.etcd_peers}"
        return [
            "--name=test",
            f"--data-dir={self.home / 'etcd'}",
            "--unsafe-no-fsync",
            "--socket-reuse-port",
            "--log-level=warn",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=test={peers}",
        ]

    def _api_server(self) -> list[str]:
        return [
            f"--etcd-servers=http://127.0.0.1:{self.etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.api}",
            "--permit-port-sharing",
            f"--tls-cert-file={self.pki / 'kube-apiserver.crt'}",
            f"--tls-private-key-file={self.pki / 'kube-apiserver.key'}",
            f"--client-ca-file={self.pki / 'ca.crt'}",
            f"--service-account-issuer={_ACCOUNT_ISSUER}",
            f"--service-account-key-file={self.pki / 'accounts.key'}",
            f"--service-account-signing-key-file={self.pki / 'accounts.key'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=RBAC",
            "--allow-privileged",
            "--endpoint-reconciler-type=none",
            "--enable-priority-and-fairness=false",
            "--profiling=false",
        ]

    def _controller_manager(self) -> list[str]:
        return [
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={self.pki / 'accounts.key'}",
            f"--root-ca-file={self.pki / 'ca.crt'}",
            "--use-service-account-credentials=false",
            "--profiling=false",
            *_UNSPARING,
        ]
