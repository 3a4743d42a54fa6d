"""The 36 calls of PipedService, and which function answers each. Nothing is decided here."""

from fairway.rpc.agent_api import AgentServicer
from fairway.rpc.agent_api import messages as m
from fairway.rpc.context import CallContext
from fairway.server.agent_auth import AgentAuth
from fairway.server.agent_service import (
    agents,
    applications,
    chains,
    commands,
    creation,
    deployments,
    events,
    live_states,
    shared_objects,
    stages,
)
from fairway.server.agent_service.desk import AgentDesk, answer


class AgentService(AgentServicer):
    """Serves agents of all generations."""

    def __init__(self, desk: AgentDesk, auth: AgentAuth) -> None:
        self._desk = desk
        self._auth = auth

    async def ReportStat(self, request: m.ReportStatRequest, context: CallContext) -> m.ReportStatResponse:
        return await answer(self._desk, self._auth, agents.report_stat, request, context)

    async def ReportPipedMeta(
        self, request: m.ReportPipedMetaRequest, context: CallContext
    ) -> m.ReportPipedMetaResponse:
        return await answer(self._desk, self._auth, agents.report_profile, request, context)

    async def GetDesiredVersion(
        self, request: m.GetDesiredVersionRequest, context: CallContext
    ) -> m.GetDesiredVersionResponse:
        return await answer(self._desk, self._auth, agents.get_desired_version, request, context)

    async def ListApplications(
        self, request: m.ListApplicationsRequest, context: CallContext
    ) -> m.ListApplicationsResponse:
        return await answer(self._desk, self._auth, applications.list_applications, request, context)

    async def ReportApplicationSyncState(
        self, request: m.ReportApplicationSyncStateRequest, context: CallContext
    ) -> m.ReportApplicationSyncStateResponse:
        return await answer(self._desk, self._auth, applications.report_sync_state, request, context)

    async def ReportApplicationDeployingStatus(
        self, request: m.ReportApplicationDeployingStatusRequest, context: CallContext
    ) -> m.ReportApplicationDeployingStatusResponse:
        return await answer(self._desk, self._auth, applications.report_deploying, request, context)

    async def ReportApplicationMostRecentDeployment(
        self, request: m.ReportApplicationMostRecentDeploymentRequest, context: CallContext
    ) -> m.ReportApplicationMostRecentDeploymentResponse:
        return await answer(self._desk, self._auth, applications.report_most_recent_deployment, request, context)

    async def GetApplicationMostRecentDeployment(
        self, request: m.GetApplicationMostRecentDeploymentRequest, context: CallContext
    ) -> m.GetApplicationMostRecentDeploymentResponse:
        return await answer(self._desk, self._auth, applications.get_most_recent_deployment, request, context)

    async def UpdateApplicationConfigurations(
        self, request: m.UpdateApplicationConfigurationsRequest, context: CallContext
    ) -> m.UpdateApplicationConfigurationsResponse:
        return await answer(self._desk, self._auth, applications.update_configurations, request, context)

    async def ReportUnregisteredApplicationConfigurations(
        self, request: m.ReportUnregisteredApplicationConfigurationsRequest, context: CallContext
    ) -> m.ReportUnregisteredApplicationConfigurationsResponse:
        return await answer(self._desk, self._auth, applications.report_unregistered, request, context)

    async def CreateDeployment(
        self, request: m.CreateDeploymentRequest, context: CallContext
    ) -> m.CreateDeploymentResponse:
        return await answer(self._desk, self._auth, creation.create_deployment, request, context)

    async def CreateDeploymentChain(
        self, request: m.CreateDeploymentChainRequest, context: CallContext
    ) -> m.CreateDeploymentChainResponse:
        return await answer(self._desk, self._auth, creation.create_chain, request, context)

    async def InChainDeploymentPlannable(
        self, request: m.InChainDeploymentPlannableRequest, context: CallContext
    ) -> m.InChainDeploymentPlannableResponse:
        return await answer(self._desk, self._auth, chains.is_plannable, request, context)

    async def GetDeployment(self, request: m.GetDeploymentRequest, context: CallContext) -> m.GetDeploymentResponse:
        return await answer(self._desk, self._auth, deployments.get_deployment, request, context)

    async def ListNotCompletedDeployments(
        self, request: m.ListNotCompletedDeploymentsRequest, context: CallContext
    ) -> m.ListNotCompletedDeploymentsResponse:
        return await answer(self._desk, self._auth, deployments.list_open, request, context)

    async def ReportDeploymentPlanned(
        self, request: m.ReportDeploymentPlannedRequest, context: CallContext
    ) -> m.ReportDeploymentPlannedResponse:
        return await answer(self._desk, self._auth, deployments.report_planned, request, context)

    async def ReportDeploymentStatusChanged(
        self, request: m.ReportDeploymentStatusChangedRequest, context: CallContext
    ) -> m.ReportDeploymentStatusChangedResponse:
        return await answer(self._desk, self._auth, deployments.report_status, request, context)

    async def ReportDeploymentCompleted(
        self, request: m.ReportDeploymentCompletedRequest, context: CallContext
    ) -> m.ReportDeploymentCompletedResponse:
        return await answer(self._desk, self._auth, deployments.report_completed, request, context)

    async def SaveDeploymentMetadata(
        self, request: m.SaveDeploymentMetadataRequest, context: CallContext
    ) -> m.SaveDeploymentMetadataResponse:
        return await answer(self._desk, self._auth, deployments.save_metadata, request, context)

    async def SaveDeploymentSharedMetadata(
        self, request: m.SaveDeploymentSharedMetadataRequest, context: CallContext
    ) -> m.SaveDeploymentSharedMetadataResponse:
        return await answer(self._desk, self._auth, deployments.save_shared_metadata, request, context)

    async def SaveDeploymentPluginMetadata(
        self, request: m.SaveDeploymentPluginMetadataRequest, context: CallContext
    ) -> m.SaveDeploymentPluginMetadataResponse:
        return await answer(self._desk, self._auth, deployments.save_plugin_metadata, request, context)

    async def SaveStageMetadata(
        self, request: m.SaveStageMetadataRequest, context: CallContext
    ) -> m.SaveStageMetadataResponse:
        return await answer(self._desk, self._auth, stages.save_metadata, request, context)

    async def ReportStageLogs(
        self, request: m.ReportStageLogsRequest, context: CallContext
    ) -> m.ReportStageLogsResponse:
        return await answer(self._desk, self._auth, stages.report_logs, request, context)

    async def ReportStageLogsFromLastCheckpoint(
        self, request: m.ReportStageLogsFromLastCheckpointRequest, context: CallContext
    ) -> m.ReportStageLogsFromLastCheckpointResponse:
        return await answer(self._desk, self._auth, stages.report_logs_from_checkpoint, request, context)

    async def ReportStageStatusChanged(
        self, request: m.ReportStageStatusChangedRequest, context: CallContext
    ) -> m.ReportStageStatusChangedResponse:
        return await answer(self._desk, self._auth, stages.report_status, request, context)

    async def ListUnhandledCommands(
        self, request: m.ListUnhandledCommandsRequest, context: CallContext
    ) -> m.ListUnhandledCommandsResponse:
        return await answer(self._desk, self._auth, commands.list_unhandled, request, context)

    async def ReportCommandHandled(
        self, request: m.ReportCommandHandledRequest, context: CallContext
    ) -> m.ReportCommandHandledResponse:
        return await answer(self._desk, self._auth, commands.report_handled, request, context)

    async def ReportApplicationLiveState(
        self, request: m.ReportApplicationLiveStateRequest, context: CallContext
    ) -> m.ReportApplicationLiveStateResponse:
        return await answer(self._desk, self._auth, live_states.report_snapshot, request, context)

    async def ReportApplicationLiveStateEvents(
        self, request: m.ReportApplicationLiveStateEventsRequest, context: CallContext
    ) -> m.ReportApplicationLiveStateEventsResponse:
        return await answer(self._desk, self._auth, live_states.report_events, request, context)

    async def GetLatestEvent(self, request: m.GetLatestEventRequest, context: CallContext) -> m.GetLatestEventResponse:
        return await answer(self._desk, self._auth, events.get_latest_event, request, context)

    async def ListEvents(self, request: m.ListEventsRequest, context: CallContext) -> m.ListEventsResponse:
        return await answer(self._desk, self._auth, events.list_events, request, context)

    async def ReportEventStatuses(
        self, request: m.ReportEventStatusesRequest, context: CallContext
    ) -> m.ReportEventStatusesResponse:
        return await answer(self._desk, self._auth, events.report_statuses, request, context)

    async def GetLatestAnalysisResult(
        self, request: m.GetLatestAnalysisResultRequest, context: CallContext
    ) -> m.GetLatestAnalysisResultResponse:
        return await answer(self._desk, self._auth, shared_objects.get_analysis_result, request, context)

    async def PutLatestAnalysisResult(
        self, request: m.PutLatestAnalysisResultRequest, context: CallContext
    ) -> m.PutLatestAnalysisResultResponse:
        return await answer(self._desk, self._auth, shared_objects.put_analysis_result, request, context)

    async def GetApplicationSharedObject(
        self, request: m.GetApplicationSharedObjectRequest, context: CallContext
    ) -> m.GetApplicationSharedObjectResponse:
        return await answer(self._desk, self._auth, shared_objects.get_shared_object, request, context)

    async def PutApplicationSharedObject(
        self, request: m.PutApplicationSharedObjectRequest, context: CallContext
    ) -> m.PutApplicationSharedObjectResponse:
        return await answer(self._desk, self._auth, shared_objects.put_shared_object, request, context)
