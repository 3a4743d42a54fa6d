"""What an agent and its plugins offer each other: PipeCD's plugin services, v1alpha1, and our own beside them.

A plugin serves the first three, as far as it can; what it does not register answers UNIMPLEMENTED, and the
agent takes that for "not supported". The agent serves the fourth to its plugins. `StageService` is ours: with it a
plugin can tell a cancelled deployment from an agent that went away. So are `SecretService`, `LiveStateHintService`
and `ApplicationService`, which an agent offers to its own plugins.
"""

from typing import Final

from grpc import aio

from fairway.rpc import aliases
from fairway.rpc.gen.fairway.plugin.v1 import applications_pb2 as application_messages
from fairway.rpc.gen.fairway.plugin.v1 import live_states_pb2 as live_state_hint_messages
from fairway.rpc.gen.fairway.plugin.v1 import secrets_pb2 as secret_messages
from fairway.rpc.gen.fairway.plugin.v1 import stages_pb2 as stage_messages
from fairway.rpc.gen.fairway.plugin.v1.applications_pb2_grpc import ApplicationServiceServicer as ApplicationServicer
from fairway.rpc.gen.fairway.plugin.v1.applications_pb2_grpc import ApplicationServiceStub as ApplicationStub
from fairway.rpc.gen.fairway.plugin.v1.live_states_pb2_grpc import (
    LiveStateHintServiceServicer as LiveStateHintServicer,
)
from fairway.rpc.gen.fairway.plugin.v1.live_states_pb2_grpc import LiveStateHintServiceStub as LiveStateHintStub
from fairway.rpc.gen.fairway.plugin.v1.secrets_pb2_grpc import SecretServiceServicer as SecretServicer
from fairway.rpc.gen.fairway.plugin.v1.secrets_pb2_grpc import SecretServiceStub as SecretStub
from fairway.rpc.gen.fairway.plugin.v1.stages_pb2_grpc import StageServiceServicer as StageServicer
from fairway.rpc.gen.fairway.plugin.v1.stages_pb2_grpc import StageServiceStub as StageStub
from fairway.rpc.gen.pipecd.plugin import common_pb2 as common_messages
from fairway.rpc.gen.pipecd.plugin import deployment_pb2 as deployment_messages
from fairway.rpc.gen.pipecd.plugin import livestate_pb2 as live_state_messages
from fairway.rpc.gen.pipecd.plugin import planpreview_pb2 as plan_preview_messages
from fairway.rpc.gen.pipecd.plugin import pluginservice_pb2 as host_messages
from fairway.rpc.gen.pipecd.plugin.deployment_pb2_grpc import DeploymentServiceServicer as DeploymentServicer
from fairway.rpc.gen.pipecd.plugin.deployment_pb2_grpc import DeploymentServiceStub as DeploymentStub
from fairway.rpc.gen.pipecd.plugin.livestate_pb2_grpc import LivestateServiceServicer as LiveStateServicer
from fairway.rpc.gen.pipecd.plugin.livestate_pb2_grpc import LivestateServiceStub as LiveStateStub
from fairway.rpc.gen.pipecd.plugin.planpreview_pb2_grpc import (
    PlanPreviewServiceServicer as PlanPreviewServicer,
)
from fairway.rpc.gen.pipecd.plugin.planpreview_pb2_grpc import PlanPreviewServiceStub as PlanPreviewStub
from fairway.rpc.gen.pipecd.plugin.pluginservice_pb2_grpc import PluginServiceServicer as HostServicer
from fairway.rpc.gen.pipecd.plugin.pluginservice_pb2_grpc import PluginServiceStub as HostStub

__all__ = [
    "NOTES_METADATA",
    "OVERDUE_KEY",
    "PLACE_KEY",
    "STAYS_KEY",
    "TOKEN_KEY",
    "UNDER_WAY_KEY",
    "WATCHED_KEY",
    "ApplicationServicer",
    "ApplicationStub",
    "DeploymentServicer",
    "DeploymentStub",
    "HostServicer",
    "HostStub",
    "LiveStateHintServicer",
    "LiveStateHintStub",
    "LiveStateServicer",
    "LiveStateStub",
    "PlanPreviewServicer",
    "PlanPreviewStub",
    "SecretServicer",
    "SecretStub",
    "StageServicer",
    "StageStub",
    "application_messages",
    "common_messages",
    "deployment_messages",
    "host_messages",
    "live_state_hint_messages",
    "live_state_messages",
    "plan_preview_messages",
    "register_application_service",
    "register_deployment_service",
    "register_host_service",
    "register_live_state_hint_service",
    "register_live_state_service",
    "register_plan_preview_service",
    "register_secret_service",
    "register_stage_service",
    "secret_messages",
    "stage_messages",
]

#: Carries what is kept with a stage that has ended, in the trailing metadata of the answer to ExecuteStage: JSON, texts
#: by key. An agent that does not know it passes over it.
NOTES_METADATA: Final = "fairway-stage-notes-bin"
#: Metadata of ExecuteStage: "true" for a stage whose time ran out while no agent was there. It may have ended well,
#: which then counts; nothing more of it should begin. A plugin that does not know it goes on until it is told to stop.
OVERDUE_KEY: Final = "fairway-stage-overdue"
#: Metadata of a planned stage: the place where the plugin will do its work, and nobody anywhere else. An agent of ours
#: that starts the stage notes it with the deployment as `started-<index>` in the same breath, so that the plugin need
#: not; an agent that does not know it leaves that to the plugin.
PLACE_KEY: Final = "fairway/place"
#: Metadata of GetLivestate: whether a deployment of the application is under way. PipeCD's agents do not say.
UNDER_WAY_KEY: Final = "fairway-deployment-under-way"
#: Trailing metadata of the answer to GetLivestate: "true" where the plugin tells its agent of every change from now on,
#: so that the agent need not ask again and again. An agent that does not know it asks.
WATCHED_KEY: Final = "fairway-live-state-watched"
#: Trailing metadata of the answer to GetLivestate: "true" where no deployment takes away what differs from Git, so
#: that none is made for it. An agent that does not know it tries, where the file asks for that.
STAYS_KEY: Final = "fairway-drift-stays"
#: The metadata by which a plugin of ours shows its agent who it is.
TOKEN_KEY: Final = "fairway-plugin-token"  # noqa: S105  # the name of the token, and no token


def register_deployment_service(servicer: object, server: aio.Server) -> None:
    """Serve, in a plugin, the planning and running of stages."""
    aliases.register(servicer, deployment_messages.DESCRIPTOR.services_by_name["DeploymentService"], server)


def register_live_state_service(servicer: object, server: aio.Server) -> None:
    """Serve, in a plugin, what runs."""
    aliases.register(servicer, live_state_messages.DESCRIPTOR.services_by_name["LivestateService"], server)


def register_live_state_hint_service(servicer: LiveStateHintServicer, server: aio.Server) -> None:
    """Serve, in an agent, hints of what runs."""
    aliases.register(servicer, live_state_hint_messages.DESCRIPTOR.services_by_name["LiveStateHintService"], server)


def register_plan_preview_service(servicer: object, server: aio.Server) -> None:
    """Serve, in a plugin, what a change would do."""
    aliases.register(servicer, plan_preview_messages.DESCRIPTOR.services_by_name["PlanPreviewService"], server)


def register_host_service(servicer: HostServicer, server: aio.Server) -> None:
    """Serve, in an agent, what plugins need from it."""
    aliases.register(servicer, host_messages.DESCRIPTOR.services_by_name["PluginService"], server)


def register_stage_service(servicer: StageServicer, server: aio.Server) -> None:
    """Serve, in a plugin of ours, the ending of stages."""
    aliases.register(servicer, stage_messages.DESCRIPTOR.services_by_name["StageService"], server)


def register_secret_service(servicer: SecretServicer, server: aio.Server) -> None:
    """Serve, in an agent, the opening of sealed values."""
    aliases.register(servicer, secret_messages.DESCRIPTOR.services_by_name["SecretService"], server)


def register_application_service(servicer: ApplicationServicer, server: aio.Server) -> None:
    """Serve, in an agent, which applications there are."""
    aliases.register(servicer, application_messages.DESCRIPTOR.services_by_name["ApplicationService"], server)
