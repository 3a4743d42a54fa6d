"""Processes of an application, as a keeper sees them."""

from typing import Any

from fairway.plugins.process.records import Group, Identity, Instance, Version, Wanted

NEW = Version(commit="b" * 40, files="new", command=("serve",))
OLD = Version(commit="a" * 40, files="old", command=("serve",))


def a_group(version: Version = NEW, variant: str = "primary", replicas: int = 2, share: float = 100.0) -> Group:
    return Group(variant=variant, version=version, replicas=replicas, share=share)


def wanted(*groups: Group) -> Wanted:
    return Wanted(port=8080, groups=groups)


def an_instance(id: str, version: Version = NEW, **fields: Any) -> Instance:
    """A process that answers, unless told otherwise."""
    known: dict[str, Any] = {"variant": "primary", "ready": True, "was_ready": True, "port": 9000, **fields}
    return Instance(id=id, version=version.key, commit=version.commit, process=Identity(1, "x"), **known)
