"""What the functions that answer a call work with, and the frame around each of them.

The frame is the same for all calls: who is it, may they, is the request in order, then the work, then errors turned
into statuses. A function that is called through it can rely on the first three and forget the last.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from google.protobuf.message import Message

from fairway.clock import Clock
from fairway.rpc.context import CallContext
from fairway.server.hints import HintBoard
from fairway.server.logs import LogStore
from fairway.server.status_codes import Forbidden, abort_for, refuse_broken_rules
from fairway.server.store.store import Store
from fairway.server.user_auth import Access, ApiIdentity, UserAuth, authorize

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that calls are answered from."""

    store: Store
    logs: LogStore
    hints: HintBoard
    clock: Clock
    #: Gives each new noun its id.
    new_id: Callable[[], str]
    #: Called with an agent's id when its keys must not be trusted from memory any longer.
    forget_agent: Callable[[str], None]
    #: Where people find the web page, without a slash at the end; empty where there is none.
    web_url: str = ""


async def answer(
    desk: Desk,
    auth: UserAuth,
    work: Callable[[Desk, ApiIdentity, Q], Awaitable[A]],
    access: Access,
    request: Q,
    context: CallContext,
) -> A:
    """Answer one call, or end it with the status that its error stands for."""
    try:
        identity = await auth.authenticate(context)
        authorize(identity, access)
        refuse_broken_rules(request)
        return await work(desk, identity, request)
    except Exception as error:
        await abort_for(error, context)


def check_project(identity: ApiIdentity, project_id: str, subject: str) -> None:
    """Raise Forbidden unless the subject belongs to the caller's project."""
    if project_id != identity.project_id:
        raise Forbidden(f"{subject} does not belong to the project of this API key; use a key of its own project")
