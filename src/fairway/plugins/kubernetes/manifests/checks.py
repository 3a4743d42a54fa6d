"""What is wrong with one object, as far as that can be told without a cluster: what it is and what it is called.

Whether a kind exists and what may stand in its spec is the API server's to say; it is asked before anything is applied.
"""

import difflib
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from fairway.config.problems import Path, Problem, did_you_mean, shown
from fairway.config.reader.document import Document
from fairway.plugins.kubernetes.manifests.values import wrong_values

_GROUP_VERSION: Final = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?v?[a-z0-9]+")
_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
#: What would end up as something else in the address of an object.
_NO_NAME: Final = re.compile(r"[\s/%\x00-\x1f\x7f]|\A\.{1,2}\Z")
_TOP: Final = ("apiVersion", "kind", "metadata")
#: Groups and versions that people misspell, by the kind that they are written for.
_USUAL: Final = {
    **dict.fromkeys(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"], "apps/v1"),
    **dict.fromkeys(["Job", "CronJob"], "batch/v1"),
    **dict.fromkeys(["Ingress", "IngressClass", "NetworkPolicy"], "networking.k8s.io/v1"),
    **dict.fromkeys(["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"], "rbac.authorization.k8s.io/v1"),
    **dict.fromkeys(["Service", "ConfigMap", "Secret", "ServiceAccount", "Namespace", "Pod"], "v1"),
    **dict.fromkeys(["PersistentVolume", "PersistentVolumeClaim"], "v1"),
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "PodDisruptionBudget": "policy/v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
    "VirtualService": "networking.istio.io/v1",
}


def is_list(body: dict[str, Any]) -> bool:
    """Whether an object stands for others: `List`, or a list of one kind as the API gives it."""
    kind = body.get("kind")
    return kind == "List" or (isinstance(kind, str) and kind.endswith("List") and isinstance(body.get("items"), list))


def check_body(document: Document, body: dict[str, Any], path: Path) -> list[Problem]:
    """Everything that is wrong with an object; numbers are brought into the form that JSON has for them."""
    problems = [document.problem((*path, *below), message) for below, message in _wrong(document, body, path)]
    if not problems:
        for below in _as_json(body, ()):
            problems.append(document.problem((*path, *below), "is no number that JSON has a form for"))
    return problems


def _wrong(document: Document, body: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    yield from _kind(body)
    yield from _api_version(body)
    metadata = body.get("metadata")
    if metadata is None:
        yield (), f"metadata is missing{_near(body, 'metadata')}; expected a mapping with a name"
    elif not isinstance(metadata, dict):
        yield ("metadata",), f"found {shown(metadata)}, expected a mapping with a name"
    else:
        yield from _metadata(document, metadata, path)
        for field in ("labels", "annotations"):
            yield from _texts(document, metadata, field, path)
    for place, message, unquoted in wrong_values(body):
        remedy = _in_quotes(document, unquoted, (*path, *place))
        yield place, f"{message}{remedy}"


def _kind(body: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    kind = body.get("kind")
    if kind is None:
        yield (), f"kind is missing{_near(body, 'kind')}; expected what the object is, such as Deployment"
    elif not isinstance(kind, str):
        yield ("kind",), f"found {shown(kind)}, expected a text such as Deployment"
    elif not _KIND.fullmatch(kind):
        yield ("kind",), f"found {shown(kind)}, expected one word such as Deployment{did_you_mean(kind, _USUAL)}"


def _api_version(body: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    kind, version = body.get("kind"), body.get("apiVersion")
    usual = _USUAL.get(kind) if isinstance(kind, str) else None
    meant = f"; did you mean {usual!r}?" if usual else ""
    if version is None:
        example = f"{usual} for a {kind}" if usual else "a group and a version, such as apps/v1"
        yield (), f"apiVersion is missing{_near(body, 'apiVersion')}; expected {example}"
    elif not isinstance(version, str):
        yield ("apiVersion",), f"found {shown(version)}, expected a text such as apps/v1{meant}"
    elif not _GROUP_VERSION.fullmatch(version):
        yield ("apiVersion",), f"found {shown(version)}, expected VERSION or GROUP/VERSION, such as apps/v1{meant}"
    elif usual and "." not in version and usual.partition("/")[0] != version.partition("/")[0] and _is_odd(version):
        yield ("apiVersion",), f"found {shown(version)}, which no cluster has for a {kind}{meant}"


def _is_odd(version: str) -> bool:
    """Whether a group without a dot is none that Kubernetes ever had."""
    group, slash, _ = version.rpartition("/")
    known = {"apps", "batch", "autoscaling", "policy", "extensions"}
    return group not in known if slash else not re.fullmatch(r"v\d+((alpha|beta)\d+)?", version)


def _metadata(document: Document, metadata: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    name = metadata.get("name")
    if name is None or name == "":
        if metadata.get("generateName"):
            yield (
                ("metadata", "generateName"),
                "asks for another name with every deployment, so the object could never be changed or removed again; "
                "give it a name",
            )
        else:
            yield ("metadata",), f"name is missing{_near(metadata, 'name')}; expected the name of the object"
    for field in ("name", "namespace"):
        value = metadata.get(field)
        if value is not None and not isinstance(value, str):
            yield (
                ("metadata", field),
                f"found {shown(value)}, expected a text{_in_quotes(document, value, (*path, 'metadata', field))}",
            )
        elif value and _NO_NAME.search(value):
            yield ("metadata", field), f"found {shown(value)}, expected a name without spaces, '/' and '%'"


def _texts(document: Document, metadata: dict[str, Any], field: str, path: Path) -> Iterator[tuple[Path, str]]:
    """Labels and annotations: a mapping of texts."""
    texts = metadata.get(field)
    if texts is None:
        return
    if not isinstance(texts, dict):
        yield ("metadata", field), f"found {shown(texts)}, expected a mapping of texts"
        return
    for key, value in texts.items():
        if value is None:
            # As the API server takes it.
            texts[key] = ""
        elif not isinstance(value, str):
            place = ("metadata", field, key)
            yield place, f"found {shown(value)}, expected a text{_in_quotes(document, value, (*path, *place))}"


def _in_quotes(document: Document, value: Any, path: Path) -> str:
    """How to write a text that was taken for something else, as `y` is for true."""
    simple = isinstance(value, bool | int | float)
    return f'; put it in quotes: "{document.written(path) or value}"' if simple else ""


def _near(mapping: dict[str, Any], wanted: str) -> str:
    """That a key was probably meant to be the wanted one."""
    others = [key for key in mapping if key not in (*_TOP, "spec", "data", "status", "labels", "namespace")]
    by_lower = {key.lower(): key for key in others}
    near = difflib.get_close_matches(wanted.lower(), by_lower, n=1)
    return f" (is {by_lower[near[0]]!r} a misspelling of it?)" if near else ""


def _as_json(value: Any, path: Path) -> Iterator[Path]:
    """Make whole numbers of `1.0` in place, as the tools of Kubernetes do; the paths of what is no number in JSON."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        if isinstance(item, float):
            if not math.isfinite(item):
                yield (*path, key)
            elif item.is_integer() and abs(item) < 1 << 53:
                value[key] = int(item)
        elif isinstance(item, dict | list):
            yield from _as_json(item, (*path, key))
