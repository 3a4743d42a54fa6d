"""The frame around each function that answers a call.

It is the same for all calls: who is it, is the request in order, then the work, then errors turned into statuses. A
function that is called through it can rely on the first two and forget the last. Whether the caller may is asked by the
action that the function leads to.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from google.protobuf.message import Message

from fairway.rpc.context import CallContext
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.status_codes import abort_for, refuse_broken_rules
from fairway.server.user_auth import UserAuth

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)


async def answer(
    desk: ActionDesk,
    auth: UserAuth,
    work: Callable[[ActionDesk, Caller, Q], Awaitable[A]],
    request: Q,
    context: CallContext,
) -> A:
    """Answer one call, or end it with the status that its error stands for."""
    try:
        caller = await auth.authenticate(context)
        refuse_broken_rules(request)
        return await work(desk, caller, request)
    except Exception as error:
        await abort_for(error, context)
