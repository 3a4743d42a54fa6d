"""What a server offers to agents: PipeCD's PipedService, and our own beside it: hints, leases, reports together, and
which applications there are.

Servers subclass the servicers and register them here; agents call through the stubs. `messages` has the
requests and responses; the nouns inside them are made and read by the modules of `convert`.
"""

from grpc import aio

from fairway.rpc import aliases
from fairway.rpc.gen.fairway.agent.v1 import applications_pb2 as application_messages
from fairway.rpc.gen.fairway.agent.v1 import hints_pb2 as hint_messages
from fairway.rpc.gen.fairway.agent.v1 import leases_pb2 as lease_messages
from fairway.rpc.gen.fairway.agent.v1 import reports_pb2 as report_messages
from fairway.rpc.gen.fairway.agent.v1.applications_pb2_grpc import ApplicationServiceServicer as ApplicationServicer
from fairway.rpc.gen.fairway.agent.v1.applications_pb2_grpc import ApplicationServiceStub as ApplicationStub
from fairway.rpc.gen.fairway.agent.v1.hints_pb2_grpc import HintServiceServicer as HintServicer
from fairway.rpc.gen.fairway.agent.v1.hints_pb2_grpc import HintServiceStub as HintStub
from fairway.rpc.gen.fairway.agent.v1.leases_pb2_grpc import LeaseServiceServicer as LeaseServicer
from fairway.rpc.gen.fairway.agent.v1.leases_pb2_grpc import LeaseServiceStub as LeaseStub
from fairway.rpc.gen.fairway.agent.v1.reports_pb2_grpc import ReportServiceServicer as ReportServicer
from fairway.rpc.gen.fairway.agent.v1.reports_pb2_grpc import ReportServiceStub as ReportStub
from fairway.rpc.gen.pipecd.service import pipedservice_pb2 as messages
from fairway.rpc.gen.pipecd.service.pipedservice_pb2_grpc import PipedServiceServicer as AgentServicer
from fairway.rpc.gen.pipecd.service.pipedservice_pb2_grpc import PipedServiceStub as AgentStub

#: The metadata in which an agent shows, with each call of PipedService, by which lease it is at work; and, in what a
#: refused call ends with, how it is known that it is not any more.
FENCING_METADATA = "fairway-fencing-token"

_AGENT_SERVICE = messages.DESCRIPTOR.services_by_name["PipedService"]
_HINT_SERVICE = hint_messages.DESCRIPTOR.services_by_name["HintService"]
_LEASE_SERVICE = lease_messages.DESCRIPTOR.services_by_name["LeaseService"]
_REPORT_SERVICE = report_messages.DESCRIPTOR.services_by_name["ReportService"]
_APPLICATION_SERVICE = application_messages.DESCRIPTOR.services_by_name["ApplicationService"]
#: The names of the services that agents call.
AGENT_SERVICES = tuple(
    each.full_name for each in (_AGENT_SERVICE, _HINT_SERVICE, _LEASE_SERVICE, _REPORT_SERVICE, _APPLICATION_SERVICE)
)

__all__ = [
    "AGENT_SERVICES",
    "FENCING_METADATA",
    "AgentServicer",
    "AgentStub",
    "ApplicationServicer",
    "ApplicationStub",
    "HintServicer",
    "HintStub",
    "LeaseServicer",
    "LeaseStub",
    "ReportServicer",
    "ReportStub",
    "application_messages",
    "hint_messages",
    "lease_messages",
    "messages",
    "register_agent_service",
    "register_application_service",
    "register_hint_service",
    "register_lease_service",
    "register_report_service",
    "report_messages",
]


def register_agent_service(servicer: AgentServicer, server: aio.Server) -> None:
    """Serve PipedService, under its legacy path too."""
    aliases.register(servicer, _AGENT_SERVICE, server)


def register_hint_service(servicer: HintServicer, server: aio.Server) -> None:
    """Serve our hints."""
    aliases.register(servicer, _HINT_SERVICE, server)


def register_lease_service(servicer: LeaseServicer, server: aio.Server) -> None:
    """Serve our leases."""
    aliases.register(servicer, _LEASE_SERVICE, server)


def register_report_service(servicer: ReportServicer, server: aio.Server) -> None:
    """Serve reports that come together."""
    aliases.register(servicer, _REPORT_SERVICE, server)


def register_application_service(servicer: ApplicationServicer, server: aio.Server) -> None:
    """Serve which applications there are."""
    aliases.register(servicer, _APPLICATION_SERVICE, server)
