"""What several applications may have in Git: namespaces, and definitions of kinds.

One of them owns such an object, and its marks stand there. Any other writes what it says as a field manager of its own:
so the cluster keeps what each says, takes away what one of them does not say any more, and lets the last one win where
they do not agree. That it does so a label tells: by it an application finds what it shares, the owner leaves the object
to the others when it gives it up, and who watches the object knows whom a change concerns.
"""

from collections.abc import Mapping
from typing import Any, Final

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.manifest import Body, Key
from fairway.plugins.kubernetes.marks import APPLICATION, Owner, belongs_to, mark, own_marks
from fairway.plugins.kubernetes.parts import part, with_entries, with_part

_SHAREABLE: Final = frozenset({("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition")})
#: Followed by the id of an application that has a say in the object and does not own it.
SHARED: Final = "shared.fairway.dev/"
_PREFIX: Final = f"{FIELD_MANAGER}-"


def is_shareable(key: Key) -> bool:
    """Whether more than one application may have such an object."""
    return (key.group, key.kind) in _SHAREABLE


def sharing_manager(application_id: str) -> str:
    """As whom an application writes what another one owns."""
    return f"{_PREFIX}{application_id}"


def sharing_label(application_id: str) -> dict[str, str]:
    """By which label that is found which an application shares."""
    return {f"{SHARED}{application_id}": "true"}


def is_of_applications(manager: str) -> bool:
    """Whether a field manager is an application, in what it owns or in what it shares."""
    return manager == FIELD_MANAGER or manager.startswith(_PREFIX)


def called(manager: str, live: Body) -> str:
    """A field manager in words."""
    if manager == FIELD_MANAGER:
        return f"application {mark(live, APPLICATION)}"
    return f"application {manager.removeprefix(_PREFIX)}" if manager.startswith(_PREFIX) else manager


def shared_body(body: Body, owner: Owner) -> dict[str, Any]:
    """What an application says of an object that another one owns, instead of what it would say of its own."""
    hidden = own_marks(owner.variant_key)
    made = dict(body)
    for place in ("labels", "annotations"):
        if found := part(made, "metadata", place):
            kept = {key: value for key, value in found.items() if key not in hidden}
            made = with_part(made, ("metadata", place), kept)
    return with_entries(made, ("metadata", "labels"), sharing_label(owner.application_id))


def sharers(body: Body) -> tuple[str, ...]:
    """The ids of the applications that have a say in an object and do not own it."""
    labels: Mapping[str, str] = part(body, "metadata", "labels") or {}
    return tuple(sorted(key.removeprefix(SHARED) for key in labels if key.startswith(SHARED)))


def is_shared_with(live: Body, application_id: str) -> bool:
    """Whether an object is another application's, or was until that has left it to this one."""
    other = mark(live, APPLICATION)
    return other != application_id and (belongs_to(live, other) if other else application_id in sharers(live))


def nothing_of(live: Body) -> dict[str, Any]:
    """What an application says of an object that it does not share any more; of this very one, which it must not make
    again where it has gone."""
    metadata = {"name": part(live, "metadata", "name"), "uid": part(live, "metadata", "uid")}
    return {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}
