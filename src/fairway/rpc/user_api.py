"""What a server offers to people and CI over gRPC: PipeCD's APIService, which its pipectl calls.

Our own command line and the web page use HTTP instead; this is here so that existing tools go on working.
"""

from grpc import aio

from fairway.rpc import aliases
from fairway.rpc.gen.pipecd.service import apiservice_pb2 as messages
from fairway.rpc.gen.pipecd.service.apiservice_pb2_grpc import APIServiceServicer as UserServicer
from fairway.rpc.gen.pipecd.service.apiservice_pb2_grpc import APIServiceStub as UserStub

_USER_SERVICE = messages.DESCRIPTOR.services_by_name["APIService"]
#: The names of the services that people and CI call.
USER_SERVICES = (_USER_SERVICE.full_name,)

__all__ = ["USER_SERVICES", "UserServicer", "UserStub", "messages", "register_user_service"]


def register_user_service(servicer: UserServicer, server: aio.Server) -> None:
    """Serve APIService, under its legacy path too."""
    aliases.register(servicer, _USER_SERVICE, server)
