"""A hash of the configuration that a workload uses, in its pod template: when the configuration changes, pods roll.

The algorithm is PipeCD's to the last character, so that nothing rolls when an application changes hands. That is why
`stringData` and projected volumes do not count: they do not count there.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.parts import part, remade, with_entries

CONFIG_HASH: Final = "pipecd.dev/config-hash"
_WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_DIGITS: Final = 10
#: No vowels, and nothing that looks like one, so that no word comes about.
_LETTERS: Final = str.maketrans("013ae", "ghkmt")
#: What Go's encoder escapes beyond JSON's own rules.
_GO_ESCAPES: Final = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
_POD: Final = ("spec", "template", "spec")


def with_config_hash(manifests: Sequence[Manifest]) -> tuple[Manifest, ...]:
    """The manifests, their workloads with the hash of what they use among them."""
    config_maps = {each.name: each for each in manifests if _is_core(each, "ConfigMap")}
    secrets = {each.name: each for each in manifests if _is_core(each, "Secret")}
    if not config_maps and not secrets:
        return tuple(manifests)

    def hashed(manifest: Manifest) -> Manifest:
        if manifest.kind not in _WORKLOADS:
            return manifest
        used = [config_maps[name] for name in _config_maps_used(manifest.body) if name in config_maps]
        used += [secrets[name] for name in _secrets_used(manifest.body) if name in secrets]
        if not used:
            return manifest
        path = ("spec", "template", "metadata", "annotations")
        return remade(manifest, lambda body: with_entries(body, path, {CONFIG_HASH: hash_of(used)}))

    return tuple(map(hashed, manifests))


def hash_of(configs: Sequence[Manifest]) -> str:
    """The hash of ConfigMaps and Secrets in this order."""
    digest = hashlib.sha256()
    for each in configs:
        digest.update(_encoded(each.body).encode("utf-8", "replace"))
    return digest.hexdigest()[:_DIGITS].translate(_LETTERS)


def _encoded(body: Body) -> str:
    secret = body["kind"] == "Secret"
    fields: dict[str, Any] = {"kind": body["kind"], "name": part(body, "metadata", "name") or ""}
    data = body.get("data")
    fields["data"] = _reencoded(data) if secret else data
    if secret:
        fields["type"] = body.get("type") or ""
    elif body.get("binaryData"):
        fields["binaryData"] = _reencoded(body["binaryData"])
    if body.get("immutable") is not None:
        fields["immutable"] = body["immutable"]
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_GO_ESCAPES)


def _reencoded(data: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Values as Go writes bytes, whatever line breaks their author has put in."""
    return None if data is None else {name: _base64(value) for name, value in data.items()}


def _base64(value: Any) -> Any:
    try:
        return base64.b64encode(base64.b64decode(str(value or ""), validate=False)).decode()
    except binascii.Error:
        # Not our business here: the API server will say that it is no base64.
        return value


def _is_core(manifest: Manifest, kind: str) -> bool:
    return manifest.api_version == "v1" and manifest.kind == kind


def _config_maps_used(body: Body) -> list[str]:
    paths: list[tuple[str, ...]] = [("volumes", "configMap", "name")]
    for containers in ("initContainers", "containers"):
        paths.append((containers, "env", "valueFrom", "configMapKeyRef", "name"))
        paths.append((containers, "envFrom", "configMapRef", "name"))
    return _names(body, paths)


def _secrets_used(body: Body) -> list[str]:
    paths: list[tuple[str, ...]] = [("volumes", "secret", "secretName")]
    for containers in ("initContainers", "containers"):
        paths.append((containers, "env", "valueFrom", "secretKeyRef", "name"))
        paths.append((containers, "envFrom", "secretRef", "name"))
    return _names(body, paths)


def _names(body: Body, paths: Sequence[tuple[str, ...]]) -> list[str]:
    return sorted({name for path in paths for name in _texts(part(body, *_POD), path)})


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The texts at a path that may lead through lists."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, path)
    elif not path:
        if isinstance(value, str):
            yield value
    elif isinstance(value, Mapping):
        yield from _texts(value.get(path[0]), path[1:])
