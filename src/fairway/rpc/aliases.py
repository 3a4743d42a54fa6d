"""How a servicer gets onto a server, under its own name and under the name that older clients call.

PipeCD once named its services `pipe.api.service…`; its gateway still rewrites those paths, and old agents
and tools still call them. Here the same methods are registered under both names, so that no gateway is
needed. An interceptor sees the path as it was called; `current_path` gives it the one to compare with.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc import aio

from fairway.rpc.context import CallContext

#: Current service name → the name that older clients call.
LEGACY_NAMES: Mapping[str, str] = {
    "grpc.service.pipedservice.PipedService": "pipe.api.service.pipedservice.PipedService",
    "grpc.service.apiservice.APIService": "pipe.api.service.apiservice.APIService",
}

_CURRENT_NAMES = {legacy: current for current, legacy in LEGACY_NAMES.items()}


def register(servicer: object, service: ServiceDescriptor, server: aio.Server) -> None:
    """Serve every method of `service` with the servicer's method of the same name."""
    handlers = {method.name: _handler(servicer, method) for method in service.methods}
    names = [service.full_name]
    if legacy := LEGACY_NAMES.get(service.full_name):
        names.append(legacy)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(name, handlers) for name in names])


def current_path(path: str) -> str:
    """The path of the same method under the service's current name."""
    service, _, method = path.removeprefix("/").rpartition("/")
    return f"/{_CURRENT_NAMES[service]}/{method}" if service in _CURRENT_NAMES else path


def _handler(servicer: object, method: MethodDescriptor) -> "grpc.RpcMethodHandler[bytes, Message]":
    behaviour: Any = getattr(servicer, method.name)
    request_type = GetMessageClass(method.input_type)

    async def answer(data: bytes, context: CallContext) -> Message:
        reply: Message = await behaviour(await _request(request_type, data, context), context)
        return reply

    async def stream(data: bytes, context: CallContext) -> AsyncIterator[Message]:
        async for message in behaviour(await _request(request_type, data, context), context):
            yield message

    encode = GetMessageClass(method.output_type).SerializeToString
    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(stream, response_serializer=encode)
    return grpc.unary_unary_rpc_method_handler(answer, response_serializer=encode)


async def _request(request_type: type[Message], data: bytes, context: CallContext) -> Message:
    """The request, decoded here because gRPC itself would answer UNKNOWN to bytes that are none."""
    try:
        return request_type.FromString(data)
    except DecodeError:
        await context.abort(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"the call carries no {request_type.DESCRIPTOR.name}: its bytes are damaged",
        )
