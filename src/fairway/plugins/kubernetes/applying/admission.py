"""Who else has a say in what is applied: webhooks and policies, which may refuse a change for reasons of their own.

Which kinds they are asked about, their rules say. Their conditions and selectors are not looked at: whoever may have a
say has one. Who may not read these rules, as an agent of some namespaces only, takes it that everything is asked about.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from fairway.kube.cluster import Cluster
from fairway.kube.errors import NotAllowed
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.parts import part
from fairway.sdk.side_by_side import all_ended

_GROUP: Final = "admissionregistration.k8s.io/v1"
_CHANGING: Final = frozenset({"UPDATE", "*"})


class Admission(msgspec.Struct, frozen=True):
    """What webhooks and policies are asked about when an object changes."""

    #: As rules name them, such as `deployments`, `pods/status` or `*`.
    resources: frozenset[str] = frozenset()
    #: Whether the rules could be read.
    is_known: bool = True

    def has_a_say(self, kind: Kind) -> bool:
        """Whether somebody may be asked about a change of an object of this kind, whichever group a rule means."""
        return not self.is_known or bool(self.resources & {kind.plural, f"{kind.plural}/*", "*", "*/*"})


async def load_admission(cluster: Cluster) -> Admission:
    """What the cluster's webhooks and policies are asked about now."""
    # What binds a policy to namespaces has no rules of its own.
    kinds = [each for each in await cluster.kinds(_GROUP) if not each.kind.endswith("Binding")]
    try:
        found = await all_ended(cluster.list(kind) for kind in kinds)
    except NotAllowed:
        return Admission(is_known=False)
    return admission_of(each for objects in found for each in objects)


def admission_of(objects: Iterable[Body]) -> Admission:
    """The same, of their objects."""
    rules = [rule for each in objects for rule in _rules(each) if _CHANGING & set(rule.get("operations") or ())]
    return Admission(frozenset(str(name) for rule in rules for name in rule.get("resources") or ()))


def _rules(body: Body) -> list[dict[str, Any]]:
    webhooks = part(body, "webhooks") or ()
    of_webhooks = [rule for each in webhooks for rule in each.get("rules") or ()]
    return [*of_webhooks, *(part(body, "spec", "matchConstraints", "resourceRules") or ())]
