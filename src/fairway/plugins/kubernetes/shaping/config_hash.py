"""A hash of the configuration that a workload uses, in its pod template: when the configuration changes, pods roll.

PipeCD's hash is computed to the last character, so that nothing rolls when an application changes hands. What does not
count there (`stringData`, projected volumes, a namespace of its own) has a second hash beside it. Pods that somebody
else has started without a hash keep their template as long as their configuration stays what it was: the hash stands
at the workload itself then, and moves into the template with the first change.

Jobs and CronJobs get none: each run reads what is there when it starts, and the template of a Job cannot be changed.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fairway.kube.manifest import Body, Key, Manifest
from fairway.plugins.kubernetes.parts import part, remade, with_entries

CONFIG_HASH: Final = "pipecd.dev/config-hash"
#: Of what PipeCD's does not cover.
MORE_CONFIG_HASH: Final = "fairway.dev/config-hash"
_WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_DIGITS: Final = 10
#: No vowels, and nothing that looks like one, so that no word comes about.
_LETTERS: Final = str.maketrans("013ae", "ghkmt")
#: What Go's encoder escapes beyond JSON's own rules.
_GO_ESCAPES: Final = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}
_POD: Final = ("spec", "template", "spec")
_TEMPLATE: Final = ("spec", "template", "metadata", "annotations")
_OBJECT: Final = ("metadata", "annotations")


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What the pods of a workload that is there were started with."""

    #: The annotations of their template.
    template: Mapping[str, str]
    #: The annotations of the workload itself.
    noted: Mapping[str, str]
    #: Whether all its configuration is still as somebody else has put it there, and what Git says.
    unchanged: bool = False


_NOTHING_THERE: Final[Mapping[Key, Started]] = MappingProxyType({})


class Hashed(msgspec.Struct, frozen=True):
    """A workload, the configuration among the manifests that it uses, and the hashes of that."""

    manifest: Manifest
    configs: tuple[Manifest, ...]
    hashes: Mapping[str, str]


def with_config_hash(
    manifests: Sequence[Manifest], started: Mapping[Key, Started] = _NOTHING_THERE
) -> tuple[Manifest, ...]:
    """The manifests, their workloads with the hashes of what they use among them; `started` tells of those that run."""
    found = {id(each.manifest): each for each in hashed(manifests)}

    def change(manifest: Manifest) -> Manifest:
        workload = found.get(id(manifest))
        if workload is None:
            return manifest
        live = started.get(manifest.key)
        kept = {key for key, value in workload.hashes.items() if live is not None and _goes_on(key, value, live)}
        written = {key: value for key, value in workload.hashes.items() if key not in kept}
        noted = {key: value for key, value in workload.hashes.items() if key in kept}
        changed = remade(manifest, lambda body: with_entries(body, _TEMPLATE, written)) if written else manifest
        return remade(changed, lambda body: with_entries(body, _OBJECT, noted)) if noted else changed

    return tuple(map(change, manifests))


def _goes_on(key: str, value: str, live: Started) -> bool:
    """Whether the pods need not know of the hash, because they run with just that and nobody has told them before."""
    if key in live.template:
        return False
    return live.noted[key] == value if key in live.noted else live.unchanged


def hashed(manifests: Sequence[Manifest]) -> tuple[Hashed, ...]:
    """The workloads among the manifests that use others of them as their configuration."""
    configs = [each for each in manifests if each.api_version == "v1" and each.kind in ("ConfigMap", "Secret")]
    by_name = {(each.kind, each.name): each for each in configs}
    by_place = {(each.kind, each.namespace, each.name): each for each in configs}
    found = []
    for each in manifests if configs else ():
        if each.kind not in _WORKLOADS:
            continue
        pod = part(each.body, *_POD)
        # PipeCD does not look at namespaces.
        theirs = _chosen(by_name, [(kind, name) for kind, name in _used(pod, _PATHS)])
        used = _chosen(by_place, [(kind, each.namespace, name) for kind, name in _used(pod, _ALL_PATHS)])
        hashes = {CONFIG_HASH: hash_of(theirs)} if theirs else {}
        if more := _hash_of_rest(theirs, used):
            hashes[MORE_CONFIG_HASH] = more
        if hashes:
            found.append(Hashed(each, tuple({id(one): one for one in (*theirs, *used)}.values()), hashes))
    return tuple(found)


def same_content(one: Body, other: Body) -> bool:
    """Whether two ConfigMaps or Secrets hold the same, in whichever form it is written."""
    return _content(one) == _content(other)


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


def _hash_of_rest(theirs: Sequence[Manifest], used: Sequence[Manifest]) -> str:
    """The hash of everything used that PipeCD's does not cover; empty where there is nothing."""
    covered = {id(each) for each in theirs}
    digest, any_found = hashlib.sha256(), False
    for each in used:
        texts = each.body.get("stringData") or {}
        if id(each) in covered and not texts:
            continue
        any_found = True
        known = "" if id(each) in covered else _encoded(each.body)
        digest.update(json.dumps([each.kind, each.name, known, texts], sort_keys=True, default=str).encode())
    return digest.hexdigest()[:_DIGITS].translate(_LETTERS) if any_found else ""


def _content(body: Body) -> dict[str, Any]:
    data: dict[str, Any] = dict(body.get("data") or {})
    if body["kind"] == "Secret":
        texts = body.get("stringData") or {}
        data = {key: _base64(value) for key, value in data.items()}
        return data | {key: base64.b64encode(str(value).encode()).decode() for key, value in texts.items()}
    return data | {key: _base64(value) for key, value in (body.get("binaryData") or {}).items()}


def _chosen(configs: Mapping[Any, Manifest], keys: Sequence[Any]) -> list[Manifest]:
    return [configs[key] for key in keys if key in configs]


#: Where a pod names its configuration as PipeCD sees it.
_PATHS: Final = {
    "ConfigMap": (
        ("volumes", "configMap", "name"),
        ("initContainers", "env", "valueFrom", "configMapKeyRef", "name"),
        ("initContainers", "envFrom", "configMapRef", "name"),
        ("containers", "env", "valueFrom", "configMapKeyRef", "name"),
        ("containers", "envFrom", "configMapRef", "name"),
    ),
    "Secret": (
        ("volumes", "secret", "secretName"),
        ("initContainers", "env", "valueFrom", "secretKeyRef", "name"),
        ("initContainers", "envFrom", "secretRef", "name"),
        ("containers", "env", "valueFrom", "secretKeyRef", "name"),
        ("containers", "envFrom", "secretRef", "name"),
    ),
}
#: And as it is. Ephemeral containers are not allowed in a template; pull secrets are no configuration of what runs.
_ALL_PATHS: Final = {
    "ConfigMap": (*_PATHS["ConfigMap"], ("volumes", "projected", "sources", "configMap", "name")),
    "Secret": (*_PATHS["Secret"], ("volumes", "projected", "sources", "secret", "name")),
}


def _used(pod: Any, paths: Mapping[str, Sequence[tuple[str, ...]]]) -> list[tuple[str, str]]:
    """Kinds and names: ConfigMaps first, each kind by name."""
    return [
        (kind, name) for kind in paths for name in sorted({name for path in paths[kind] for name in _texts(pod, path)})
    ]


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
