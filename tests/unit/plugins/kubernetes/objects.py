"""Objects to compare."""

from typing import Any

from fairway.kube.manifest import Manifest


def a_deployment(
    name: str = "web", image: str = "example.com:5000/web:v1", replicas: int | None = 2, **metadata: Any
) -> Manifest:
    """A Deployment with one container."""
    spec: dict[str, Any] = {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}
    if replicas is not None:
        spec["replicas"] = replicas
    return Manifest(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, **metadata}, "spec": spec}
    )


def a_config(name: str = "config", kind: str = "ConfigMap", **data: str) -> Manifest:
    """A ConfigMap or Secret."""
    return Manifest({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data})
