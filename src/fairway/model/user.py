"""A person who signs in.

Local people have plain names without an @; whoever a provider vouches for is `name@provider`. So nobody who comes in
through a provider can be taken for a local person, whatever they call themselves there.
"""

from datetime import datetime

import msgspec

#: The provider of people whose password is kept here.
LOCAL = "local"


class User(msgspec.Struct, frozen=True, kw_only=True):
    """One person. The id is the name they are known by everywhere, so it never changes."""

    id: str
    created_at: datetime
    updated_at: datetime
    display_name: str = ""
    #: Who vouches for them: `local`, or the name of a sign-in provider.
    provider: str = LOCAL
    #: What the provider itself knows them by: a name can pass to somebody else there, this cannot. Empty when local.
    subject: str = ""
    #: argon2; empty while no password is set, and for people of a provider.
    password_hash: str = ""
    #: Names of roles given here; those that follow from groups come on top.
    roles: tuple[str, ...] = ()
    #: As the provider said at the last sign-in.
    groups: tuple[str, ...] = ()
    disabled: bool = False
    last_sign_in_at: datetime | None = None
