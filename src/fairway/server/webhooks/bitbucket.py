"""Bitbucket, Cloud and Data Center: one signature header, two shapes of a push."""

from typing import Any

import msgspec

from fairway.server.webhooks.delivery import Delivery, Genuine, Push, known, prefixed_signature, read_body


class _Link(msgspec.Struct, frozen=True):
    href: str = ""


class _Links(msgspec.Struct, frozen=True):
    #: Cloud.
    html: _Link = _Link()
    #: Data Center: one for ssh, one for http, which differ in their paths too.
    clone: tuple[_Link, ...] = ()


class _Repository(msgspec.Struct, frozen=True):
    links: _Links

    @property
    def remotes(self) -> tuple[str, ...]:
        return known(self.links.html.href, *(link.href for link in self.links.clone))


class _Target(msgspec.Struct, frozen=True):
    hash: str


class _CloudRef(msgspec.Struct, frozen=True):
    name: str
    target: _Target
    type: str = "branch"


class _CloudChange(msgspec.Struct, frozen=True):
    #: None: it was deleted.
    new: _CloudRef | None = None


class _CloudChanges(msgspec.Struct, frozen=True):
    changes: tuple[_CloudChange, ...] = ()


class _CloudEvent(msgspec.Struct, frozen=True):
    repository: _Repository
    push: _CloudChanges

    def pushes(self) -> tuple[Push, ...]:
        refs = [change.new for change in self.push.changes if change.new is not None]
        return tuple(Push(self.repository.remotes, _full_name(ref), ref.target.hash) for ref in refs)


class _ServerChange(msgspec.Struct, frozen=True, rename="camel"):
    ref_id: str
    to_hash: str
    type: str = ""


class _ServerEvent(msgspec.Struct, frozen=True):
    repository: _Repository
    changes: tuple[_ServerChange, ...] = ()

    def pushes(self) -> tuple[Push, ...]:
        kept = [change for change in self.changes if change.type != "DELETE"]
        return tuple(Push(self.repository.remotes, change.ref_id, change.to_hash) for change in kept)


_EVENTS: dict[str, type[Any]] = {"repo:push": _CloudEvent, "repo:refs_changed": _ServerEvent}


class Bitbucket:
    """bitbucket.org and Bitbucket Data Center."""

    def verify(self, secret: str, delivery: Delivery) -> Genuine | None:
        return prefixed_signature(secret, delivery, "x-hub-signature")

    def pushes(self, delivery: Delivery) -> tuple[Push, ...]:
        shape = _EVENTS.get(delivery.header("x-event-key"))
        if shape is None:
            return ()
        event: _CloudEvent | _ServerEvent = read_body(delivery, shape)
        return event.pushes()


def _full_name(ref: _CloudRef) -> str:
    return f"refs/{'tags' if ref.type == 'tag' else 'heads'}/{ref.name}"
