"""What a client of a cluster reads: where it is, whom it trusts, and who it says it is."""

import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.clusters.certificates import Pair


class Door(NamedTuple):
    """How a cluster is reached, by anybody."""

    cluster: str
    url: str
    #: In PEM.
    authority: bytes


def by_certificate(pair: Pair) -> Mapping[str, Any]:
    """The user of a kubeconfig who shows a certificate."""
    return {"client-certificate-data": _encoded(pair.certificate), "client-key-data": _encoded(pair.key)}


def by_token(token: str) -> Mapping[str, Any]:
    """The user of a kubeconfig who shows a token."""
    return {"token": token}


def write_kubeconfig(file: Path, door: Door, user: Mapping[str, Any], namespace: str = "default") -> Path:
    """Write one with a single context; JSON is YAML."""
    cluster = {"server": door.url, "certificate-authority-data": _encoded(door.authority)}
    context = {"cluster": door.cluster, "user": "user", "namespace": namespace}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": door.cluster, "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": door.cluster, "context": context}],
        "current-context": door.cluster,
    }
    file.write_text(json.dumps(config, indent=1))
    file.chmod(0o600)
    return file


def _encoded(pem: bytes) -> str:
    return b64encode(pem).decode()
