from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.plugin.v1 import secrets_pb2 as pb

class SecretServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    DecryptSecret: aio.UnaryUnaryMultiCallable[pb.OpenSecretRequest, pb.OpenSecretResponse]

class SecretServiceServicer:
    async def DecryptSecret(self, request: pb.OpenSecretRequest, context: aio.ServicerContext[pb.OpenSecretRequest, pb.OpenSecretResponse]) -> pb.OpenSecretResponse: ...

def add_SecretServiceServicer_to_server(
    servicer: SecretServiceServicer, server: aio.Server
) -> None: ...
