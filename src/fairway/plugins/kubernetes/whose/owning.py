"""Whose an object is that is there already when it is to be applied, and whether it may be taken.

Objects of nobody, and those of an application that is not registered any more, become this application's: so are
clusters taken over. Those of another application are not, because the two would take them from each other for ever, and
the first that gives one up would delete the other's. But namespaces and definitions of kinds are shared, and what has
moved is taken over: the other's newest manifests do not have it any more. The agent may be about to tell what they say,
so that is waited for a moment. A copy beside the primary is removed after a while, so for that not even an object of
nobody is taken.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from fairway.errors import UserError
from fairway.kube.errors import Invalid
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.marks import APPLICATION, ON_CONFLICT, Owner, asks_for, belongs_to, is_mark_field, mark
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.whose.alive import Applications
from fairway.plugins.kubernetes.whose.moving import Moving, MovingDecision, decide_moving
from fairway.plugins.kubernetes.whose.registered import Registrations, in_words
from fairway.plugins.kubernetes.whose.sharing import is_shareable, shared_body, sharing_manager

#: How long a stage waits for what Git says of another application now: a commit that moves an object is told of both.
NEWS_SECONDS: Final = 30.0


class NotOurs(UserError):
    """An object that is there already, and somebody else's."""


class Owning:
    """Judges objects for whoever is about to apply them."""

    def __init__(
        self,
        owner: Owner,
        applications: Applications,
        registered: Registrations,
        news_seconds: float = NEWS_SECONDS,
    ) -> None:
        self._owner = owner
        self._applications = applications
        self._registered = registered
        self._news_seconds = news_seconds
        #: Until when news are waited for, whichever object they are about.
        self._until: float | None = None

    @property
    def is_copy(self) -> bool:
        """Whether what is applied is a copy beside the primary."""
        return self._owner.beside

    @property
    def variant_key(self) -> str:
        """The label that tells variants apart."""
        return self._owner.variant_key

    def told(self, fields: Iterable[str]) -> list[str]:
        """Those of the fields that people are told of: our own marks are nobody's wish."""
        return [each for each in fields if not is_mark_field(each, self._owner.variant_key)]

    async def taken_from(self, body: Body, live: Body) -> str:
        """The id of the application that had the object until now, or nothing; NotOurs where it may not be taken."""
        if self.is_copy:
            await self._refuse_original(live)
            return ""
        other = mark(live, APPLICATION)
        if not other or other == self._owner.application_id or not belongs_to(live, other):
            return ""
        if asks_for(body, ON_CONFLICT, "override") or await self._registered.is_gone(other):
            return other
        found = await self._moving(other, body)
        if found.moving is Moving.GIVEN_UP:
            return other
        registration = await self._registered.find(other)
        raise NotOurs(_refusal(in_words(other, registration), registration.name or other, found.commit))

    async def _moving(self, other: str, body: Body) -> MovingDecision:
        while True:
            found = decide_moving(self._applications.wants(other), key_of(body), self._owner.commit)
            if found.moving is not Moving.WANTED_THEN:
                return found
            if self._until is None:
                self._until = asyncio.get_running_loop().time() + self._news_seconds
            try:
                async with asyncio.timeout_at(self._until):
                    await self._applications.news()
            except TimeoutError:
                return found

    async def shared_with(self, body: Body, live: Body) -> str:
        """The id of the application that owns an object and goes on owning it, because several may have one of its
        kind; empty where it is, or becomes, this application's."""
        other = mark(live, APPLICATION)
        if self.is_copy or not is_shareable(key_of(live)) or asks_for(body, ON_CONFLICT, "override"):
            return ""
        is_others = other != self._owner.application_id and belongs_to(live, other)
        return "" if not is_others or await self._registered.is_gone(other) else other

    def as_shared(self, body: Body) -> Body:
        """What this application says of an object that another one owns."""
        return shared_body(body, self._owner)

    @property
    def sharing_manager(self) -> str:
        """As whom this application writes what another one owns."""
        return sharing_manager(self._owner.application_id)

    async def whose(self, application_id: str) -> str:
        """Whose an object is that is shared, in words."""
        owner = in_words(application_id, await self._registered.find(application_id))
        return f"it belongs to {owner}, and this one has a say in it"

    async def refuse_to_remake(self, live: Body, error: Invalid) -> None:
        """NotOurs where an object that cannot be changed as asked for has not been this application's."""
        if not belongs_to(live, self._owner.application_id):
            raise NotOurs(
                f"{error}; {await self._whose(live)}: give it another name in the manifest, or have that object removed"
            ) from error

    async def _refuse_original(self, live: Body) -> None:
        own, variant = self._owner.application_id, self._owner.variant
        if not belongs_to(live, own, (self._owner.suffix,)) or mark(live, self._owner.variant_key) != variant:
            raise NotOurs(
                f"it is there already and is not this application's {variant}: {await self._whose(live)}; "
                "rename that object, or set another `suffix` for this stage"
            )

    async def _whose(self, live: Body) -> str:
        other = mark(live, APPLICATION)
        if other == self._owner.application_id and belongs_to(live, other):
            return f"it is its {mark(live, self._owner.variant_key) or 'own'}"
        if other and belongs_to(live, other):
            return f"it belongs to {in_words(other, await self._registered.find(other))}"
        entries: Sequence[Any] = part(live, "metadata", "managedFields") or ()
        managers = sorted({str(each.get("manager")) for each in entries if not each.get("subresource")})
        return f"it was made by {' and '.join(managers)}" if managers else "nobody says whose it is"


def _refusal(whose: str, name: str, commit: str) -> str:
    """What to do about an object that another application wants at a commit, or perhaps not any more."""
    said = f", whose manifests have it at commit {commit[:7]}" if commit else ""
    words = (
        f"it belongs to {whose}{said}, and only one application can have an object: take it out of the "
        f"manifests of one of them, or annotate it with {ON_CONFLICT}: override to have it from now on"
    )
    if commit:
        return words
    gone = f"where {name} does not have it in Git any more, which is not known here"
    return f"{words}; {gone}, deploy {name} with `prune`, or have the object removed"
