"""Why workloads that a stage waits for are not there yet: what their pods wait for, and why there are none.

That explains, and decides nothing: without permission to look, or while the cluster is away, the stage waits all the
same, and it is said once what cannot be told. Of pods only those are held that are not as they should be, so that many
workloads with many pods cost little.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Final, NamedTuple

from fairway.kube.calls import Patience, decoded
from fairway.kube.cluster import Cluster
from fairway.kube.errors import NotAllowed
from fairway.kube.manifest import Body, Key
from fairway.kube.reflector import Owner, Reflector
from fairway.kube.turns import WATCH_PATIENCE
from fairway.plugins.kubernetes.health.health import Standing
from fairway.plugins.kubernetes.health.pods import pod_health
from fairway.plugins.kubernetes.rollout.selecting import Group, is_about, is_pod_of, pod_groups, warning_groups
from fairway.plugins.kubernetes.rollout.waiting import Waiting
from fairway.sdk.stage_log import StageLog


class Reasons:
    """Tells workloads why they are not there yet."""

    def __init__(
        self, cluster: Cluster, log: StageLog, waiting: Mapping[Key, Waiting], patience: Patience = WATCH_PATIENCE
    ) -> None:
        self._cluster = cluster
        self._log = log
        self._waiting = waiting
        self._patience = patience
        self._said: set[str] = set()

    def watches(self, changed: Callable[[], None]) -> list[Coroutine[Any, Any, None]]:
        """What is to run while they are waited for; whoever is given is called when one of them knows more."""
        bodies = [each.body for each in self._waiting.values()]
        return [self._watch(what, group, changed) for what in (_PODS, _WARNINGS) for group in what.groups(bodies)]

    async def _watch(self, what: "_What", group: Group, changed: Callable[[], None]) -> None:
        workloads = [self._waiting[key] for key in group.workloads]

        def keep(raw: bytes) -> _Seen | None:
            body = {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                **decoded(raw, dict[str, Any], self._cluster.name),
            }
            of = tuple(each for each in workloads if what.is_of(each.body, body)) if what.matters(body) else ()
            return _Seen(body, of) if of else None

        def see(_: str, before: _Seen | None, now: _Seen | None) -> None:
            if before is not None:
                for each in before.workloads:
                    what.forget(each, before.body)
            if now is not None:
                for each in now.workloads:
                    what.see(each, now.body)
            changed()

        def note(reflector: Reflector[_Seen]) -> None:
            if isinstance(reflector.problem, NotAllowed):
                self._say_once(f"{what.unknown} cannot be told: {reflector.problem}")

        try:
            kind = await self._cluster.kind("v1", what.kind)
            await Reflector(self._cluster, kind, group.scope, Owner(keep, see, note), self._patience).run()
        finally:
            changed()

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            self._log.info(words)


class _Seen(NamedTuple):
    """What is held of a pod or a warning."""

    body: Body
    workloads: tuple[Waiting, ...]


class _What(NamedTuple):
    """Something that explains why a workload is not there yet."""

    kind: str
    groups: Callable[[Iterable[Body]], list[Group]]
    #: Whether it has anything to say.
    matters: Callable[[Body], bool]
    is_of: Callable[[Body, Body], bool]
    see: Callable[[Waiting, Body], None]
    forget: Callable[[Waiting, Body], None]
    #: What nobody knows who may not look.
    unknown: str


def _is_not_well(pod: Body) -> bool:
    return pod_health(pod).standing is not Standing.DONE


def _is_said(event: Body) -> bool:
    return bool(event.get("reason") or event.get("message"))


def _still_holds(_: Waiting, __: Body) -> None:
    """An event goes when it is old, which says nothing."""


_PODS: Final = _What(
    "Pod", pod_groups, _is_not_well, is_pod_of, Waiting.see_pod, Waiting.forget_pod, "Why pods are not ready"
)
_WARNINGS: Final = _What(
    "Event", warning_groups, _is_said, is_about, Waiting.see_warning, _still_holds, "Why pods are not made"
)
