"""Deployments that are paused: nothing is rolled out until somebody goes on with them.

Who has paused one says what is to be done. What Git pauses waits for another commit, so nobody waits for it here. What
somebody else has paused is waited for, and named with the way to go on. A rollback goes on by itself with what people
have paused by hand: it takes back what they did, as applying does with every field that Git says.
"""

from collections.abc import Sequence

from fairway.kube.cluster import FIELD_MANAGER, Cluster
from fairway.kube.errors import NotThere
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.applying.adoption import is_by_hand
from fairway.plugins.kubernetes.parts import part
from fairway.sdk.stage_log import StageLog


def is_paused(body: Body) -> bool:
    """Whether it is a Deployment, in Git or in a cluster, that is paused."""
    return body["kind"] == "Deployment" and bool(part(body, "spec", "paused"))


def is_paused_by_git(body: Body) -> bool:
    """Whether it is Git that says so; of a manifest nobody but Git says anything."""
    entries = part(body, "metadata", "managedFields")
    return is_paused(body) and (not entries or FIELD_MANAGER in paused_by(body))


def paused_by(body: Body) -> tuple[str, ...]:
    """Who manages whether it is paused, as far as the cluster tells."""
    entries = part(body, "metadata", "managedFields") or ()
    return tuple(str(each.get("manager")) for each in entries if _paused(each))


def paused_words(body: Body) -> str:
    """Why nothing is rolled out, and how to go on."""
    managers = paused_by(body)
    if is_paused_by_git(body):
        return "It is paused, as Git says: nothing is rolled out while spec.paused is true"
    key = key_of(body)
    who = f" by {' and '.join(managers)}" if managers else ""
    where = f" -n {key.namespace}" if key.namespace else ""
    resume = f"kubectl rollout resume deployment/{key.name}{where}"
    return f"It is paused{who}, and nothing is rolled out until somebody goes on with it: {resume}"


async def resume_paused(cluster: Cluster, bodies: Sequence[Body], log: StageLog) -> tuple[Body, ...]:
    """The same objects, and those going on that people have paused by hand."""
    return tuple([await _resumed(cluster, each, log) for each in bodies])


async def _resumed(cluster: Cluster, body: Body, log: StageLog) -> Body:
    managers = paused_by(body)
    if not is_paused(body) or not managers or not all(map(is_by_hand, managers)):
        return body
    key = key_of(body)
    kind = await cluster.kind(str(body["apiVersion"]), key.kind)
    try:
        resumed = await cluster.patch(kind, key.namespace, key.name, {"spec": {"paused": None}})
    except NotThere:
        # Whoever waits for it finds out what became of it.
        return body
    log.info(f"{key}: goes on; {' and '.join(managers)} had paused it, and Git does not say so")
    return resumed


def _paused(entry: Body) -> bool:
    return not entry.get("subresource") and part(entry, "fieldsV1", "f:spec", "f:paused") is not None
