"""Which program calls from outside: the API key in a call's header, turned into a caller with a project and a role.

Header: `authorization: API-KEY <key id>.<secret>` (over HTTP, `http_api` finds the key in a bearer's header). A header
that is missing or malformed, a key that is unknown, wrong or disabled: the caller gets the same answer for all of them,
and nothing of the key is logged. A key that was found right is trusted for the time `VerifiedKeys` allows, so most
calls do not touch the store. When a key was last used is written down at most every ten minutes.
"""

from datetime import timedelta

import msgspec
import structlog
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.errors import TemporaryError
from fairway.model.api_key import APIKey
from fairway.rpc.context import CallContext
from fairway.server.callers import KEY_ROLES, Caller, CallerKind
from fairway.server.keys import VerifiedKeys, matches
from fairway.server.peers import peer_address
from fairway.server.proxies import TrustedProxies
from fairway.server.status_codes import BadCredentials
from fairway.server.store import api_keys
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store

SCHEME = "API-KEY"
#: How old the record of the last use may grow before a call renews it.
LAST_USED_PRECISION = timedelta(minutes=10)

_log = structlog.get_logger()


class UserAuth:
    """Knows the callers of APIService by their keys."""

    def __init__(self, store: Store, clock: Clock, proxies: TrustedProxies = TrustedProxies()) -> None:
        self._store = store
        self._clock = clock
        self._proxies = proxies
        self._verified: VerifiedKeys[Caller] = VerifiedKeys(clock)

    async def authenticate(self, context: CallContext) -> Caller:
        """Who makes this call; BadCredentials when nobody we know does."""
        shown = shown_key(_authorizations(context))
        return await self.identify(shown, self._address(context))

    async def identify(self, shown: str, address: str) -> Caller:
        """Whose key this is, calling from that address; BadCredentials when it is nobody's."""
        known = self._verified.recall(shown)
        if known is None:
            asked = self._verified.ask()
            key = await self._verify(shown)
            known = Caller(
                kind=CallerKind.API_KEY, name=key.id, project_id=key.project_id, roles=(KEY_ROLES[key.role],)
            )
            self._verified.remember(shown, key.id, known, asked)
            await self._record_use(key)
        return msgspec.structs.replace(known, address=address)

    def forget(self, key_id: str) -> None:
        """Trust this key from memory no longer: it was disabled."""
        self._verified.forget(key_id)

    def forget_all(self) -> None:
        """Trust no key from memory."""
        self._verified.forget_all()

    def _address(self, context: CallContext) -> str:
        said = ((name, str(value)) for name, value in context.invocation_metadata() or ())
        return self._proxies.came(peer_address(context.peer()), said).address

    async def _verify(self, shown: str) -> APIKey:
        key_id, _, _ = shown.rpartition(".")
        try:
            key = await self._store.read(lambda connection: api_keys.load_api_key(connection, key_id))
        except NotFound:
            raise _refused() from None  # The answer must not tell an unknown key from a wrong one.
        if not matches(key.key_hash, shown) or key.disabled:
            raise _refused()
        return key

    async def _record_use(self, key: APIKey) -> None:
        now = self._clock.now()
        if key.last_used_at is not None and now - key.last_used_at < LAST_USED_PRECISION:
            return

        def record(connection: Connection) -> None:
            api_keys.update_api_key(connection, key.id, lambda found: msgspec.structs.replace(found, last_used_at=now))

        try:
            await self._store.write(record)
        except TemporaryError as error:
            # Nobody should be locked out because a note could not be made; the next verification tries again.
            _log.warning("the last use of an API key was not recorded", key_id=key.id, reason=str(error))


def shown_key(authorizations: list[str]) -> str:
    """The key in the call's only authorization header; BadCredentials when there is none."""
    if len(authorizations) != 1:
        raise _refused()
    scheme, _, key = authorizations[0].partition(" ")
    key_id, dot, secret = key.rpartition(".")
    if scheme != SCHEME or not (key_id and dot and secret) or not _is_plain(key):
        raise _refused()
    return key


def _authorizations(context: CallContext) -> list[str]:
    # Only keys that end in -bin carry bytes; str() is for the type checker's sake.
    return [str(value) for name, value in context.invocation_metadata() or () if name == "authorization"]


def _is_plain(text: str) -> bool:
    """Printable ASCII without a space: what a key is made of, and nothing that a database would choke on."""
    return text.isascii() and text.isprintable() and " " not in text


def _refused() -> BadCredentials:
    return BadCredentials(
        f"the call shows no valid API key; send the header `authorization: {SCHEME} <key>`, over HTTP "
        "`Authorization: Bearer <key>`, with a key of this server that is not disabled"
    )
