"""What the cluster does not take, in words: one error for all of it, each with where it is written and what to do."""

from collections.abc import Callable, Sequence
from typing import Final

from fairway.errors import FairwayError, UserError
from fairway.kube.errors import Conflict, Invalid, NotAllowed, NotThere
from fairway.kube.manifest import Manifest, Where
from fairway.plugins.kubernetes.marks import FORCE_SYNC_BY_REPLACE, ON_CONFLICT
from fairway.plugins.kubernetes.removing.pruning import LASTING
from fairway.plugins.kubernetes.whose.owning import NotOurs

#: Where a field of a manifest, as an API server names it, is written.
Written = Callable[[Manifest, str], Where]
#: How the API server says of a field that it stays as it was when the object was made.
_UNCHANGEABLE: Final = ("immutable", "may not change once set", "cannot change roleRef", "updates to statefulset spec")


_AGAIN: Final = {"Job": ", so that it runs again, now and with every later deployment"}
#: What runs pods as long as it is there.
_RUNNING: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"})


class NotApplied(UserError):
    """Manifests that the cluster does not take."""


class OtherSelector(UserError):
    """A workload that is there without the variant's label in its selector and should have it, or the reverse."""

    def __init__(self, error: Invalid, key: str, *, is_there: bool) -> None:
        told = (
            "the stage that made it had addVariantLabelToSelector, and this one has not: set it in both quickSync and "
            "K8S_PRIMARY_ROLLOUT"
            if is_there
            else "this stage has addVariantLabelToSelector, and the one that made it had not: set it in neither "
            "quickSync and K8S_PRIMARY_ROLLOUT, or in both and give the workload another name"
        )
        super().__init__(f"{error}; nothing but the label {key} in its selector differs: {told}")


def is_unchangeable(error: Invalid) -> bool:
    """Whether it is about a field that stays as it was when the object was made."""
    return any(each in str(error) for each in _UNCHANGEABLE)


def together(failed: Sequence[tuple[Manifest, FairwayError]], standing: str, written: Written) -> FairwayError:
    """One error for all; one that may pass is worth another try of everything."""
    for _, error in failed:
        if error.retry:
            return error
    lines = []
    for manifest, error in failed:
        fields = [field for field, _ in error.causes] if isinstance(error, Invalid) else []
        where = written(manifest, fields[0]) if fields else manifest.where
        place = f"{where}: " if str(where) else ""
        lines.append(f"{place}{manifest.key}: {error}{_remedy(error, manifest)}")
    what = "1 object is" if len(lines) == 1 else f"{len(lines)} objects are"
    by = "" if any(isinstance(error, NotOurs) for _, error in failed) else " by the cluster"
    return NotApplied(f"{what} refused{by}; {standing}:\n" + "\n".join(lines))


def _remedy(error: FairwayError, manifest: Manifest) -> str:
    """What to do about it, where that is known."""
    said, namespace = str(error), manifest.namespace
    if isinstance(error, Conflict) and error.managers:
        return (
            f"; leave these fields out of the manifest, or annotate it with {ON_CONFLICT}: override "
            "to take them from whoever manages them"
        )
    if isinstance(error, Invalid) and is_unchangeable(error):
        if manifest.kind in LASTING:
            return "; it may hold what cannot be made again: write it as it was, or under another name"
        pods = " with all its pods" if manifest.kind in _RUNNING else ""
        return (
            f"; write it as it was, or give it another name; or annotate the manifest with {FORCE_SYNC_BY_REPLACE}: "
            f"enabled: then it is deleted{pods} and made anew{_AGAIN.get(manifest.kind, ' whenever it changes')}"
        )
    if isinstance(error, NotThere) and f'namespaces "{namespace}" not found' in said:
        return f"; make the namespace {namespace}, or set autoCreateNamespace: true in the application's input"
    if isinstance(error, NotAllowed) and "is being terminated" in said:
        return f"; wait until {namespace} is gone (its status says what keeps it), then deploy again"
    if isinstance(error, NotAllowed) and "exceeded quota" in said:
        return f"; make room in namespace {namespace}, or have that quota raised"
    return ""
