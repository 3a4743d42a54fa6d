"""A quiet answer to the traces that PipeCD's agents send to the address of their server.

They export them whether or not anybody collects traces there, and log an error for every refusal. What arrives is not
read; a collector is somebody else's program. It is offered as a method that takes a stream, because of any other gRPC
reads the request first, from whoever sends it.
"""

import grpc
from grpc import aio

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
METHOD = "Export"


def register_trace_sink(server: aio.Server) -> None:
    """Accept and forget."""
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(_forget)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})])


async def _forget(_unread: object, _context: object) -> bytes:
    # The empty message: all spans were accepted.
    return b""
