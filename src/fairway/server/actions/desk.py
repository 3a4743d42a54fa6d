"""What the actions work with."""

from collections.abc import Callable

import msgspec

from fairway.clock import Clock
from fairway.server.hints import HintBoard
from fairway.server.logs import LogStore
from fairway.server.store.store import Store


class ActionDesk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that people and programs are answered from."""

    store: Store
    logs: LogStore
    hints: HintBoard
    clock: Clock
    #: Gives each new noun its id.
    new_id: Callable[[], str]
    #: Called with an agent's id when its keys must not be trusted from memory any longer.
    forget_agent: Callable[[str], None]
    #: The same with an API key's id.
    forget_key: Callable[[str], None]
    #: Where people find the web page, without a slash at the end; empty where there is none.
    web_url: str = ""
