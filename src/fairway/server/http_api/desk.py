"""What the functions that answer a request work with, and who is asking.

Who it is was found out by the guard in `caller`, before anything else of a request is looked at.
"""

from typing import Any, TypeAlias

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State

from fairway.clock import Clock
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.feed import Feed
from fairway.server.http_api.metrics import Metrics
from fairway.server.logs import LogStore
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.store.store import Store
from fairway.server.user_auth import UserAuth


class HttpDesk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that requests are answered from."""

    actions: ActionDesk
    auth: UserAuth
    metrics: Metrics
    sign_in: SignInDesk
    #: What changes, for those who watch.
    feed: Feed = msgspec.field(default_factory=Feed)

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self.actions.store

    @property
    def logs(self) -> LogStore:
        """Where the logs of stages are kept."""
        return self.actions.logs

    @property
    def clock(self) -> Clock:
        """What time it is."""
        return self.actions.clock


#: A request whose `auth` is the caller, once the guard has let it through.
ApiRequest: TypeAlias = Request[Any, Caller, State]


def desk_of(connection: ASGIConnection[Any, Any, Any, Any]) -> HttpDesk:
    """The desk that the application was made with."""
    desk: HttpDesk = connection.app.state.desk
    return desk
