"""What a server offers to agents: PipeCD's PipedService, and our own hints beside it.

Servers subclass the servicers and register them here; agents call through the stubs. `messages` has the
requests and responses; the nouns inside them are made and read by the modules of `convert`.
"""

from grpc import aio

from fairway.rpc import aliases
from fairway.rpc.gen.fairway.agent.v1 import hints_pb2 as hint_messages
from fairway.rpc.gen.fairway.agent.v1.hints_pb2_grpc import HintServiceServicer as HintServicer
from fairway.rpc.gen.fairway.agent.v1.hints_pb2_grpc import HintServiceStub as HintStub
from fairway.rpc.gen.pipecd.service import pipedservice_pb2 as messages
from fairway.rpc.gen.pipecd.service.pipedservice_pb2_grpc import PipedServiceServicer as AgentServicer
from fairway.rpc.gen.pipecd.service.pipedservice_pb2_grpc import PipedServiceStub as AgentStub

__all__ = [
    "AgentServicer",
    "AgentStub",
    "HintServicer",
    "HintStub",
    "hint_messages",
    "messages",
    "register_agent_service",
    "register_hint_service",
]


def register_agent_service(servicer: AgentServicer, server: aio.Server) -> None:
    """Serve PipedService, under its legacy path too."""
    aliases.register(servicer, messages.DESCRIPTOR.services_by_name["PipedService"], server)


def register_hint_service(servicer: HintServicer, server: aio.Server) -> None:
    """Serve our hints."""
    aliases.register(servicer, hint_messages.DESCRIPTOR.services_by_name["HintService"], server)
