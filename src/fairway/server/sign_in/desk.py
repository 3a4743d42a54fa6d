"""What signing in works with."""

from collections.abc import Sequence

import msgspec

from fairway.clock import Clock
from fairway.server.sign_in.attempts import BY_ADDRESS, BY_USER, Attempts
from fairway.server.sign_in.authorities import Authorities
from fairway.server.sign_in.passwords import Passwords
from fairway.server.sign_in.providers import SignInProvider
from fairway.server.sign_in.sessions import Sessions
from fairway.server.sign_in.signing import Signer
from fairway.server.store.store import Store


class SignInDesk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that people sign in with."""

    store: Store
    clock: Clock
    signer: Signer
    sessions: Sessions
    passwords: Passwords
    by_address: Attempts
    by_user: Attempts
    authorities: Authorities
    #: Where people find the server, without a slash at the end; empty when nobody said.
    web_url: str = ""

    @classmethod
    async def open(
        cls, store: Store, clock: Clock, web_url: str = "", providers: Sequence[SignInProvider] = ()
    ) -> "SignInDesk":
        """The desk of a server, from its store and who else may vouch for people."""
        signer = await Signer.open(store)
        return cls(
            store=store,
            clock=clock,
            signer=signer,
            sessions=Sessions(store, clock, signer),
            passwords=Passwords(),
            by_address=Attempts(clock, BY_ADDRESS),
            by_user=Attempts(clock, BY_USER),
            authorities=Authorities(providers, clock),
            web_url=web_url.rstrip("/"),
        )
