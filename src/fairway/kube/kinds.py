"""What sorts of objects a cluster serves, and where in its API each of them is found."""

import difflib
from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from fairway.kube.errors import UnknownKind


class Kind(msgspec.Struct, frozen=True):
    """One sort of objects, in one version of its API."""

    #: Empty for the core group.
    group: str
    version: str
    kind: str
    #: How the API calls them, such as `deployments`.
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """As permissions name it, such as `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "") -> str:
        """Where the objects are; all namespaces without one."""
        place = f"namespaces/{quote(namespace, safe='')}/" if self.namespaced and namespace else ""
        single = f"/{quote(name, safe='')}" if name else ""
        return f"{root_of(self.api_version)}/{place}{self.plural}{single}"


def root_of(api_version: str) -> str:
    """Where a version of a group is found."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def unknown_kind(api_version: str, kind: str, known: Iterable[Kind], cluster: str) -> UnknownKind:
    """That there is no such kind, and which one was probably meant."""
    kinds = list(known)
    elsewhere = sorted({each.api_version for each in kinds if each.kind == kind})
    if elsewhere:
        hint = f"; it serves {kind} in {' and '.join(elsewhere)}"
    else:
        near = difflib.get_close_matches(kind, {each.kind for each in kinds}, n=1)
        versions = sorted({each.api_version for each in kinds if each.kind in near})
        hint = f"; did you mean {near[0]} ({', '.join(versions)})?" if near else _install_hint(api_version)
    return UnknownKind(f"The cluster {cluster} has no kind {kind} in {api_version}{hint}")


def _install_hint(api_version: str) -> str:
    group, slash, _ = api_version.rpartition("/")
    return f"; is the CustomResourceDefinition of {group} installed?" if slash and "." in group else ""
