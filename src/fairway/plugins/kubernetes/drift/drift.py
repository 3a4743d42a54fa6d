"""How what runs differs from what Git says, object by object.

Decided here without a cluster: which objects are missing, which are left over, and where two bodies differ. What a
cluster would make of Git's values only the cluster knows: it fills in defaults, writes quantities its own way, and
leaves to others what they have added. Who can ask it (`drift_judge`) does so.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.kube.manifest import Body, Key, Manifest, key_of
from fairway.plugins.kubernetes.marks import IGNORE_DRIFT, asks_for
from fairway.plugins.kubernetes.planning.difference import ABSENT, MASK, Change, Tolerance, differences, outline

#: Live is the first body here, Git the second.
_TOLERANCE: Final = Tolerance(numbers_as_texts=True, empty_is_absent=True, more_before=True)
#: What no manifest decides.
_NOT_COMPARED: Final = frozenset({"status"})
_METADATA_NOT_COMPARED: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)
#: Kinds of which the data may be secret.
_MASKED: Final = {"Secret": frozenset({"data", "stringData"}), "ConfigMap": frozenset({"data", "binaryData"})}
#: How many changed objects are shown in full, and how many more by name.
_SHOWN: Final = 3
_NAMED: Final = 100


class Changed(msgspec.Struct, frozen=True):
    """An object that is otherwise than Git says."""

    key: Key
    changes: tuple[Change, ...]


class Foreign(msgspec.Struct, frozen=True, kw_only=True):
    """An object of Git that exists and is not this application's."""

    key: Key
    api_version: str
    uid: str
    #: The id of the application that has it; empty where none has.
    application: str = ""

    def __str__(self) -> str:
        if self.application:
            return f"it exists and belongs to application {self.application}"
        return "it exists and belongs to no application; the next deployment takes it over"


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """All differences at one deploy target."""

    #: In Git, and not in the cluster.
    missing: tuple[Key, ...] = ()
    #: In the cluster, for this application, and not in Git.
    orphans: tuple[Key, ...] = ()
    changed: tuple[Changed, ...] = ()
    #: In Git, and in the cluster for another application or for none.
    foreign: tuple[Foreign, ...] = ()

    @property
    def count(self) -> int:
        return len(self.missing) + len(self.orphans) + len(self.changed) + len(self.foreign)


def manifest_part(body: Body) -> dict[str, Any]:
    """The part of an object that a manifest decides, a Secret's texts in the form in which the cluster keeps them."""
    found = {key: value for key, value in body.items() if key not in _NOT_COMPARED}
    metadata = found.get("metadata")
    if isinstance(metadata, Mapping):
        found["metadata"] = {key: value for key, value in metadata.items() if key not in _METADATA_NOT_COMPARED}
    texts = found.get("stringData")
    if found.get("kind") == "Secret" and isinstance(texts, Mapping):
        del found["stringData"]
        kept = {key: base64.b64encode(str(value).encode()).decode() for key, value in texts.items()}
        found["data"] = {**(found.get("data") or {}), **kept}
    return found


def is_the_same(live: Body, written: Body) -> bool:
    """Whether an object has what is written and nothing else, word for word: then writing it changes nothing."""
    return not differences(manifest_part(live), manifest_part(written))


def changes_by(live: Body, answer: Body, written: Body) -> tuple[Change, ...]:
    """What an object would have otherwise, as the cluster has answered to what is written."""
    return differences(manifest_part(live), manifest_part(answer), numbered=manifest_part(written))


def seeming_changes(live: Body, written: Body) -> tuple[Change, ...]:
    """Where an object seems to differ from what is written, as far as that can be told without the cluster."""
    return differences(manifest_part(live), manifest_part(written), _TOLERANCE)


def counting(changes: Iterable[Change], ignored: Sequence[str]) -> tuple[Change, ...]:
    """The changes without those at places that do not count."""
    return tuple(change for change in changes if not any(_is_at(change.dotted, each) for each in ignored))


def ignored_fields(settings: Iterable[str], manifest: Manifest) -> tuple[str, ...]:
    """The paths that `driftDetection.ignoreFields` names for an object: `apiVersion:kind:namespace:name#path`."""
    found = []
    for each in settings:
        which, _, path = each.partition("#")
        parts = which.split(":")
        if len(parts) >= 4 and _means(parts, manifest):
            found.append(path)
    return tuple(found)


def is_ignored(body: Body) -> bool:
    """Whether a manifest asks that its object is not compared."""
    return asks_for(body, IGNORE_DRIFT, "true")


def may_be_gone(wanted: Body) -> bool:
    """Whether Git itself says that an object does not stay: a Job that the cluster removes once it has ended."""
    key, spec = key_of(wanted), wanted.get("spec")
    lives_on = not isinstance(spec, Mapping) or spec.get("ttlSecondsAfterFinished") is None
    return (key.group, key.kind) == ("batch", "Job") and not lives_on


def in_words(drift: Drift, commit: str) -> tuple[str, ...]:
    """For people: how much differs, and then what; nothing when nothing does."""
    if not drift.count:
        return ()
    counts = (
        (len(drift.missing), "missing in the cluster"),
        (len(drift.orphans), "not in Git"),
        (len(drift.changed), "different"),
        (sum(not each.application for each in drift.foreign), "in the cluster, but of no application"),
        (sum(bool(each.application) for each in drift.foreign), "in the cluster, but of another application"),
    )
    summary = ", ".join(f"{count} {what}" for count, what in counts if count)
    objects = "object is" if drift.count == 1 else "objects are"
    lines = [
        f"{drift.count} {objects} not as Git says: {summary}",
        "",
        f"What Git says at commit {commit[:7]}, and what is in the cluster:",
        "",
        "--- Actual   (LiveState)",
        "+++ Expected (Git)",
        "",
    ]
    entries = [("-", key, "") for key in drift.orphans] + [("+", key, "") for key in drift.missing]
    entries += [("+", each.key, f"  {each}") for each in drift.foreign]
    entries += [("#", each.key, outline(masked_changes(each))) for each in drift.changed[:_SHOWN]]
    for number, (sign, key, shown) in enumerate(entries, 1):
        lines += [f"{sign} {number}. {key}", *(["", shown] if shown else [])]
    if rest := drift.changed[_SHOWN:]:
        lines.append(f"... and {len(rest)} more changed objects, not shown in full:")
        named = enumerate(rest[:_NAMED], len(entries) + 1)
        lines += [f"# {number}. {each.key}: {_places(each)}" for number, each in named]
        lines += [f"... and {len(rest) - _NAMED} more"] if len(rest) > _NAMED else []
    return tuple(lines)


def _places(changed: Changed) -> str:
    places = [each.dotted for each in changed.changes]
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more


def masked_changes(changed: Changed) -> tuple[Change, ...]:
    """The changes, with what may be secret in them hidden."""
    fields = _MASKED.get(changed.key.kind, frozenset()) if not changed.key.group else frozenset[str]()
    return tuple(
        Change(each.path, _hidden(each.before), _hidden(each.after)) if each.path and each.path[0] in fields else each
        for each in changed.changes
    )


def _hidden(value: Any) -> Any:
    return value if value is ABSENT else MASK


def _is_at(dotted: str, path: str) -> bool:
    return dotted == path or dotted.startswith(f"{path}.")


def _means(parts: Sequence[str], manifest: Manifest) -> bool:
    api_version, kind, namespace = parts[:3]
    # A name may have colons, as those of roles do.
    name = ":".join(parts[3:])
    # v0 writes `default` for what belongs to no namespace, too.
    namespaces = {manifest.namespace, manifest.namespace or "default"}
    return (api_version, kind, name) == (manifest.api_version, manifest.kind, manifest.name) and namespace in namespaces


def leftovers(wanted: Iterable[Manifest], live: Iterable[Body]) -> tuple[Key, ...]:
    """The objects of an application that Git does not have."""
    keys = {manifest.key for manifest in wanted}
    return tuple(sorted(key_of(body) for body in live if key_of(body) not in keys and not is_ignored(body)))
