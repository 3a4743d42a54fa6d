"""The second parameter of every servicer method.

grpc's class takes type parameters only in its type stubs, not at run time; servicers name this alias instead
of quoting each annotation.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from grpc import aio

if TYPE_CHECKING:
    CallContext: TypeAlias = aio.ServicerContext[Any, Any]
else:
    CallContext = aio.ServicerContext
