"""Where a pod names ConfigMaps and Secrets, and how those names are changed for a copy of it.

All places count: volumes, projected volumes, environment, pull secrets, secrets of CSI drivers; of containers, init
containers and ephemeral ones.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fairway.plugins.kubernetes.parts import part, with_part

#: From a kind and a name to the new name.
NewName = Callable[[str, str], str]

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def renamed_references(pod: Mapping[str, Any], new_name: NewName) -> dict[str, Any]:
    """The spec of a pod, with other names for the configuration that it uses."""
    changed = dict(pod)
    for each in _CONTAINERS:
        if isinstance(pod.get(each), list | tuple):
            changed[each] = [_container(container, new_name) for container in pod[each]]
    if isinstance(pod.get("volumes"), list | tuple):
        changed["volumes"] = [_volume(volume, new_name) for volume in pod["volumes"]]
    if isinstance(pod.get("imagePullSecrets"), list | tuple):
        changed["imagePullSecrets"] = [_named(each, ("name",), "Secret", new_name) for each in pod["imagePullSecrets"]]
    return changed


def _container(container: Any, new_name: NewName) -> Any:
    if not isinstance(container, Mapping):
        return container
    changed = dict(container)
    if isinstance(container.get("env"), list | tuple):
        changed["env"] = [_both(each, ("valueFrom",), "KeyRef", new_name) for each in container["env"]]
    if isinstance(container.get("envFrom"), list | tuple):
        changed["envFrom"] = [_both(each, (), "Ref", new_name) for each in container["envFrom"]]
    return changed


def _volume(volume: Any, new_name: NewName) -> Any:
    volume = _named(volume, ("configMap", "name"), "ConfigMap", new_name)
    volume = _named(volume, ("secret", "secretName"), "Secret", new_name)
    volume = _named(volume, ("csi", "nodePublishSecretRef", "name"), "Secret", new_name)
    sources = part(volume, "projected", "sources")
    if isinstance(sources, list | tuple):
        renamed = [
            _named(_named(each, ("configMap", "name"), "ConfigMap", new_name), ("secret", "name"), "Secret", new_name)
            for each in sources
        ]
        volume = with_part(volume, ("projected", "sources"), renamed)
    return volume


def _both(value: Any, path: tuple[str, ...], ending: str, new_name: NewName) -> Any:
    value = _named(value, (*path, f"configMap{ending}", "name"), "ConfigMap", new_name)
    return _named(value, (*path, f"secret{ending}", "name"), "Secret", new_name)


def _named(value: Any, path: tuple[str, ...], kind: str, new_name: NewName) -> Any:
    name = part(value, *path)
    return with_part(value, path, new_name(kind, name)) if isinstance(name, str) else value
