"""The labels and annotations by which an object says to whom it belongs.

They are PipeCD's, so that an application that PipeCD has deployed is recognised and taken over, and the other way
round. PipeCD's older agents write annotations only, its newer ones labels too; here both are written, and when an
object is judged either will do. They stand at the object itself and never in a pod template: no pod restarts for them.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from fairway.config.platforms import VariantLabel
from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.parts import part, remade, with_entries

_PREFIX: Final = "pipecd.dev/"
MANAGED_BY: Final = f"{_PREFIX}managed-by"
AGENT: Final = f"{_PREFIX}piped"
APPLICATION: Final = f"{_PREFIX}application"
COMMIT: Final = f"{_PREFIX}commit-hash"
ORIGINAL_API_VERSION: Final = f"{_PREFIX}original-api-version"
RESOURCE_KEY: Final = f"{_PREFIX}resource-key"
#: The value of MANAGED_BY.
PIPED: Final = "piped"

#: What authors of manifests may ask for.
ORDER: Final = f"{_PREFIX}order"
SYNC_BY_REPLACE: Final = f"{_PREFIX}sync-by-replace"
FORCE_SYNC_BY_REPLACE: Final = f"{_PREFIX}force-sync-by-replace"
IGNORE_DRIFT: Final = f"{_PREFIX}ignore-drift-detection"
#: Fairway's own: `override` takes fields from whoever manages them.
ON_CONFLICT: Final = "fairway.dev/on-conflict"
#: Fairway's own: "false" where nobody should wait until the workload is available.
WAIT: Final = "fairway.dev/wait"


#: What the first part of a name ends with where it is a version and not a group.
_VERSION: Final = re.compile(r"(^|/)v\d+((alpha|beta)\d+)?$")


#: Kinds whose copies PipeCD's plugin does not name anew.
_COPIED: Final = frozenset({"ConfigMap", "Secret"})


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """To whom the objects of a stage belong."""

    agent_id: str
    application_id: str
    commit: str
    #: The label that tells variants apart, and this variant's value of it.
    variant_key: str = VariantLabel().key
    variant: str = VariantLabel().primary_value
    #: Whether they are copies beside the primary, to be removed after a while.
    beside: bool = False
    #: What is added to the names of copies.
    suffix: str = ""
    #: Whether PipeCD's older agents know the application: they delete an object only if it is called in their way.
    of_older_agents: bool = False


def marked(manifest: Manifest, owner: Owner) -> Manifest:
    """The manifest with its owner's labels and annotations."""
    labels = {
        MANAGED_BY: PIPED,
        AGENT: owner.agent_id,
        APPLICATION: owner.application_id,
        COMMIT: owner.commit,
        owner.variant_key: owner.variant,
    }
    annotations = {
        **labels,
        ORIGINAL_API_VERSION: manifest.api_version,
        RESOURCE_KEY: _resource_key(manifest.body, owner),
    }

    def change(body: Body) -> Body:
        body = with_entries(body, ("metadata", "labels"), labels)
        return with_entries(body, ("metadata", "annotations"), annotations)

    return remade(manifest, change)


def own_marks(variant_key: str) -> frozenset[str]:
    """The labels and annotations that are written here."""
    return frozenset({MANAGED_BY, AGENT, APPLICATION, COMMIT, variant_key, ORIGINAL_API_VERSION, RESOURCE_KEY})


def marked_as(manifest: Manifest, owner: Owner, live: Body) -> Manifest:
    """The same, as an object of this application has it that was deployed before: with that commit and that agent, and
    called as it is, which may be in the way of another agent."""

    def kept(place: str, *keys: str) -> dict[str, str]:
        there = part(live, "metadata", place) or {}
        return {key: str(there.get(key) or mark(live, key)) for key in keys if mark(live, key)}

    def change(body: Body) -> Body:
        body = with_entries(body, ("metadata", "labels"), kept("labels", AGENT, COMMIT))
        return with_entries(body, ("metadata", "annotations"), kept("annotations", AGENT, COMMIT, RESOURCE_KEY))

    return remade(marked(manifest, owner), change)


def without_marks(variant_key: str) -> Body:
    """The change to an object that is nobody's from now on."""
    marks = dict.fromkeys(own_marks(variant_key))
    return {"metadata": {"labels": marks, "annotations": marks}}


def _resource_key(body: Body, owner: Owner) -> str:
    """An object as PipeCD writes it down: group, kind, namespace and name; its older agents write the version, too, and
    the default namespace for none. Its newer ones never read it."""
    group, _, _ = str(body["apiVersion"]).rpartition("/")
    metadata = body.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "")
    if owner.of_older_agents:
        group, namespace = str(body["apiVersion"]), namespace or "default"
    return ":".join([group, str(body["kind"]), namespace, str(metadata.get("name", ""))])


def selector(application_id: str, variant: Mapping[str, str] | None = None) -> dict[str, str]:
    """By which labels the objects of an application, or those of one variant, are found."""
    return {MANAGED_BY: PIPED, APPLICATION: application_id, **(variant or {})}


def mark(body: Body, key: str) -> str:
    """What an object says of itself, by annotation or, failing that, by label."""
    for place in ("annotations", "labels"):
        found = part(body, "metadata", place, key)
        if found:
            return str(found)
    return ""


def belongs_to(body: Body, application_id: str, suffixes: Collection[str] = ()) -> bool:
    """Whether an object was deployed for an application, by itself and not through another object.

    Labels alone do not tell: the Endpoints of a Service, for one, inherit them. Nor do annotations that name another
    object: it is a copy that somebody has made of that. But PipeCD's plugin itself leaves the original's name at the
    configuration of its canaries, so of a variant the `suffixes` are told by which its copies are known.
    """
    annotations = part(body, "metadata", "annotations") or {}
    labels = part(body, "metadata", "labels") or {}
    claimed = {annotations.get(APPLICATION), labels.get(APPLICATION, application_id)}
    owned = any(each.get("controller") for each in part(body, "metadata", "ownerReferences") or ())
    return (
        annotations.get(MANAGED_BY) == PIPED
        and claimed == {application_id}
        and not owned
        and _names_itself(body, suffixes)
    )


def _names_itself(body: Body, suffixes: Collection[str]) -> bool:
    """Whether the annotation that names an object, where it is there, names this one.

    PipeCD's older agents write the version, and the default namespace for none or for where a kubeconfig leads; its
    newer ones the group, and no namespace for that. Where there are labels, too, we have written it, and the namespace
    is the one.
    """
    metadata = body.get("metadata") or {}
    named = str((metadata.get("annotations") or {}).get(RESOURCE_KEY, "")).split(":", 3)
    if len(named) < len(("group", "kind", "namespace", "name")):
        return True
    group, kind, namespace, name = named
    own = str(metadata.get("namespace") or "")
    by_older = namespace == "default" and bool(_VERSION.search(group))
    anywhere = not namespace or (by_older and (not own or APPLICATION not in (metadata.get("labels") or {})))
    names = {name, *(f"{name}-{suffix}" for suffix in suffixes if kind in _COPIED)}
    return kind == body["kind"] and metadata.get("name") in names and (anywhere or namespace == own)


def is_mark(key: str) -> bool:
    """Whether a label or annotation is one that is written here, with another value for each commit."""
    return key in (AGENT, COMMIT)


def is_mark_field(field: str, variant_key: str) -> bool:
    """Whether a field, as an API server names it, is one of the marks: of those Git says nothing."""
    _, _, key = field.removeprefix(".metadata.").partition(".")
    return field.startswith((".metadata.labels.", ".metadata.annotations.")) and key in own_marks(variant_key)


def asks_for_anything(body: Body) -> bool:
    """Whether the author of a manifest has asked for any other treatment."""
    annotations: Mapping[str, str] = part(body, "metadata", "annotations") or {}
    return any(each in annotations for each in (SYNC_BY_REPLACE, FORCE_SYNC_BY_REPLACE, ON_CONFLICT))


def asks_for(body: Body, key: str, value: str) -> bool:
    """Whether the author of a manifest has asked for something."""
    annotations: Mapping[str, str] = part(body, "metadata", "annotations") or {}
    return annotations.get(key) == value
