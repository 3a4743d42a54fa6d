"""Manifests for tests, as short as they can be."""

from collections.abc import Mapping
from typing import Any

import yaml

from fairway.kube.manifest import Manifest


def manifests(text: str) -> tuple[Manifest, ...]:
    """The manifests of a YAML text."""
    return tuple(Manifest(each) for each in yaml.safe_load_all(text) if each)


def manifest(text: str) -> Manifest:
    """The one manifest of a YAML text."""
    (only,) = manifests(text)
    return only


def a_deployment(name: str = "web", *, replicas: int | None = 2, namespace: str = "", **pod: Any) -> Manifest:
    """A Deployment whose pods have these settings beside their container."""
    container = {"name": "main", "image": "web:1", **pod.pop("container", {})}
    spec: dict[str, Any] = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **pod}},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    return an_object("apps/v1", "Deployment", name, namespace=namespace, spec=spec)


def a_service(name: str = "web", *, selector: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A Service."""
    ports = spec.pop("ports", [{"port": 80}])
    return an_object("v1", "Service", name, spec={"selector": selector or {"app": name}, "ports": ports, **spec})


def a_config_map(name: str = "settings", **data: str) -> Manifest:
    """A ConfigMap with these entries."""
    return an_object("v1", "ConfigMap", name, data=data)


def an_object(api_version: str, kind: str, name: str, *, namespace: str = "", **rest: Any) -> Manifest:
    """Any object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
    return Manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest})
