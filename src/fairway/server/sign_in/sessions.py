"""Sessions: a browser that has signed in holds a random name under our signature, the store holds the rest.

A name whose signature is wrong never reaches the store. What the store says is remembered for a moment only, and
forgotten at once when somebody's roles change, they are disabled or signed out: `heard` is told of every change that is
stored, by the store for those of this process and by the feed for those of other replicas.

A session ends at a moment that is set when it begins, or when nobody used it for a day. That it was used is written
down every ten minutes at most.
"""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.errors import TemporaryError
from fairway.model.role import Role
from fairway.model.user import User
from fairway.server.keys import VerifiedKeys
from fairway.server.sign_in.grants import roles_of
from fairway.server.sign_in.signing import Purpose, Signer
from fairway.server.status_codes import BadCredentials
from fairway.server.store.changes import Change, ChangeKind
from fairway.server.store.errors import NotFound
from fairway.server.store.roles import find_role
from fairway.server.store.sessions import Session, delete_session, find_session, update_session
from fairway.server.store.settings import load_people_settings
from fairway.server.store.store import Store
from fairway.server.store.users import find_user

#: Unused for so long, a session ends.
IDLE = timedelta(hours=24)
#: How exactly the last use is known.
USE_PRECISION = timedelta(minutes=10)
#: How long a replica that missed a change may go on as before.
TRUSTED_FOR = timedelta(seconds=3)
_NAME_BYTES = 32


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who is signed in, with the roles they have now."""

    user: User
    roles: tuple[Role, ...]
    session: Session
    #: What each change of this session has to show.
    csrf_token: str


class NewSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that has just begun."""

    #: For the browser and for nobody else.
    cookie: str
    session: Session
    csrf_token: str

    def __repr__(self) -> str:
        return f"NewSession(cookie=…, session={self.session.id!r})"


class Sessions:
    """Knows people by what their browsers hold."""

    def __init__(self, store: Store, clock: Clock, signer: Signer) -> None:
        self._store = store
        self._clock = clock
        self._signer = signer
        self._known = self._nobody()
        store.listen(self.heard)

    def new(self, user_id: str, lasts: timedelta, address: str) -> NewSession:
        """A session for whoever has just signed in, under a name never seen before; `insert_session` stores it."""
        name, now = secrets.token_urlsafe(_NAME_BYTES), self._clock.now()
        session = Session(
            id=_hash(name),
            user_id=user_id,
            created_at=now,
            ends_at=now + lasts,
            expires_at=min(now + lasts, now + IDLE),
            address=address,
        )
        cookie = self._signer.signed(Purpose.SESSION, name)
        return NewSession(cookie=cookie, session=session, csrf_token=self._csrf_token(session))

    async def identify(self, cookie: str) -> Person:
        """Who holds this cookie; BadCredentials when nobody who is signed in does."""
        known = self._known
        asked = known.ask()
        person = known.recall(cookie)
        if person is None:
            person = await self._look_up(cookie, asked.at)
            known.remember(cookie, person.user.id, person, asked)
        if asked.at >= person.session.expires_at:
            raise _ended()
        return person

    def id_of(self, cookie: str) -> str | None:
        """What the store knows the session of this cookie by; `None` for a cookie that we did not make."""
        name = self._signer.opened(Purpose.SESSION, cookie)
        return None if name is None else _hash(name)

    async def end(self, cookie: str) -> None:
        """End the session of this cookie, if it is one."""
        id = self.id_of(cookie)
        if id is not None and await self._store.read(lambda connection: find_session(connection, id)) is not None:
            await self._store.write(lambda connection: delete_session(connection, id))

    def heard(self, changes: Sequence[Change]) -> None:
        """Forget whatever these changes may have made wrong."""
        for change in changes:
            match change.kind:
                case ChangeKind.USERS:
                    self.forget_user(change.id)
                case ChangeKind.ROLES | ChangeKind.SETTINGS:
                    self.forget_everybody()

    def forget_user(self, user_id: str) -> None:
        """Look this person up again at their next request: what they may do has changed, or a session has ended."""
        self._known.forget(user_id)

    def forget_everybody(self) -> None:
        """The same for all: a role or what groups mean has changed."""
        # Whoever is being looked up right now is remembered by the old ones, which nobody asks any more.
        self._known = self._nobody()

    def is_csrf_token(self, person: Person, token: str) -> bool:
        """Whether a request of this session shows the right token."""
        return self._signer.fits(Purpose.CSRF, person.session.id, token)

    def _nobody(self) -> VerifiedKeys[Person]:
        return VerifiedKeys(self._clock, TRUSTED_FOR)

    async def _look_up(self, cookie: str, now: datetime) -> Person:
        id = self.id_of(cookie)
        if id is None:
            raise _ended()
        found = await self._store.read(lambda connection: _load(connection, id))
        if found is None or now >= found[0].expires_at or found[1].disabled:
            raise _ended()
        session, user, roles = found
        session = await self._used(session, now)
        return Person(user=user, roles=roles, session=session, csrf_token=self._csrf_token(session))

    async def _used(self, session: Session, now: datetime) -> Session:
        renewed = min(session.ends_at, now + IDLE)
        if renewed - session.expires_at < USE_PRECISION:
            return session
        try:
            return await self._store.write(lambda connection: _renew(connection, session.id, renewed))
        except NotFound:
            raise _ended() from None  # Somebody ended it in between.
        except TemporaryError:
            return session  # Nobody is locked out because a note could not be made; the next use tries again.

    def _csrf_token(self, session: Session) -> str:
        return self._signer.signature(Purpose.CSRF, session.id)


def _load(connection: Connection, id: str) -> tuple[Session, User, tuple[Role, ...]] | None:
    session = find_session(connection, id)
    user = None if session is None else find_user(connection, session.user_id)
    if session is None or user is None:
        return None
    roles = roles_of(user, load_people_settings(connection), lambda name: find_role(connection, name))
    return session, user, roles


def _renew(connection: Connection, id: str, until: datetime) -> Session:
    return update_session(
        connection, id, lambda session: msgspec.structs.replace(session, expires_at=max(session.expires_at, until))
    )


def _hash(name: str) -> str:
    """What the store knows a session by. The name is random, so a plain hash gives nothing away."""
    return hashlib.sha256(name.encode()).hexdigest()


def _ended() -> BadCredentials:
    return BadCredentials("the session has ended or is none; sign in again at /sign-in")
