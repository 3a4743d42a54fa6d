"""The 23 calls of APIService, and which function answers each. Nothing else is decided here."""

from fairway.rpc.context import CallContext
from fairway.rpc.user_api import UserServicer
from fairway.rpc.user_api import messages as m
from fairway.server.actions.desk import ActionDesk
from fairway.server.user_auth import UserAuth
from fairway.server.user_service import agents, applications, deployments, plan_previews, registration, requests
from fairway.server.user_service.desk import answer


class UserService(UserServicer):
    """Serves people and programs that show an API key."""

    def __init__(self, desk: ActionDesk, auth: UserAuth) -> None:
        self._desk = desk
        self._auth = auth

    async def AddApplication(self, request: m.AddApplicationRequest, context: CallContext) -> m.AddApplicationResponse:
        return await answer(self._desk, self._auth, registration.add_application, request, context)

    async def SyncApplication(
        self, request: m.SyncApplicationRequest, context: CallContext
    ) -> m.SyncApplicationResponse:
        return await answer(self._desk, self._auth, requests.sync_application, request, context)

    async def GetApplication(self, request: m.GetApplicationRequest, context: CallContext) -> m.GetApplicationResponse:
        return await answer(self._desk, self._auth, applications.get_application, request, context)

    async def ListApplications(
        self, request: m.ListApplicationsRequest, context: CallContext
    ) -> m.ListApplicationsResponse:
        return await answer(self._desk, self._auth, applications.list_applications, request, context)

    async def UpdateApplication(
        self, request: m.UpdateApplicationRequest, context: CallContext
    ) -> m.UpdateApplicationResponse:
        return await answer(self._desk, self._auth, registration.update_application, request, context)

    async def DeleteApplication(
        self, request: m.DeleteApplicationRequest, context: CallContext
    ) -> m.DeleteApplicationResponse:
        return await answer(self._desk, self._auth, registration.delete_application, request, context)

    async def EnableApplication(
        self, request: m.EnableApplicationRequest, context: CallContext
    ) -> m.EnableApplicationResponse:
        return await answer(self._desk, self._auth, registration.enable_application, request, context)

    async def DisableApplication(
        self, request: m.DisableApplicationRequest, context: CallContext
    ) -> m.DisableApplicationResponse:
        return await answer(self._desk, self._auth, registration.disable_application, request, context)

    async def RenameApplicationConfigFile(
        self, request: m.RenameApplicationConfigFileRequest, context: CallContext
    ) -> m.RenameApplicationConfigFileResponse:
        return await answer(self._desk, self._auth, registration.rename_config_file, request, context)

    async def UpdateApplicationDeployTargets(
        self, request: m.UpdateApplicationDeployTargetsRequest, context: CallContext
    ) -> m.UpdateApplicationDeployTargetsResponse:
        return await answer(self._desk, self._auth, registration.update_deploy_targets, request, context)

    async def GetDeployment(self, request: m.GetDeploymentRequest, context: CallContext) -> m.GetDeploymentResponse:
        return await answer(self._desk, self._auth, deployments.get_deployment, request, context)

    async def ListDeployments(
        self, request: m.ListDeploymentsRequest, context: CallContext
    ) -> m.ListDeploymentsResponse:
        return await answer(self._desk, self._auth, deployments.list_deployments, request, context)

    async def GetCommand(self, request: m.GetCommandRequest, context: CallContext) -> m.GetCommandResponse:
        return await answer(self._desk, self._auth, requests.get_command, request, context)

    async def GetPiped(self, request: m.GetPipedRequest, context: CallContext) -> m.GetPipedResponse:
        return await answer(self._desk, self._auth, agents.get_agent, request, context)

    async def RegisterPiped(self, request: m.RegisterPipedRequest, context: CallContext) -> m.RegisterPipedResponse:
        return await answer(self._desk, self._auth, agents.register_agent, request, context)

    async def UpdatePiped(self, request: m.UpdatePipedRequest, context: CallContext) -> m.UpdatePipedResponse:
        return await answer(self._desk, self._auth, agents.update_agent, request, context)

    async def EnablePiped(self, request: m.EnablePipedRequest, context: CallContext) -> m.EnablePipedResponse:
        return await answer(self._desk, self._auth, agents.enable_agent, request, context)

    async def DisablePiped(self, request: m.DisablePipedRequest, context: CallContext) -> m.DisablePipedResponse:
        return await answer(self._desk, self._auth, agents.disable_agent, request, context)

    async def RegisterEvent(self, request: m.RegisterEventRequest, context: CallContext) -> m.RegisterEventResponse:
        return await answer(self._desk, self._auth, requests.register_event, request, context)

    async def RequestPlanPreview(
        self, request: m.RequestPlanPreviewRequest, context: CallContext
    ) -> m.RequestPlanPreviewResponse:
        return await answer(self._desk, self._auth, plan_previews.request_plan_preview, request, context)

    async def GetPlanPreviewResults(
        self, request: m.GetPlanPreviewResultsRequest, context: CallContext
    ) -> m.GetPlanPreviewResultsResponse:
        return await answer(self._desk, self._auth, plan_previews.get_plan_preview_results, request, context)

    async def Encrypt(self, request: m.EncryptRequest, context: CallContext) -> m.EncryptResponse:
        return await answer(self._desk, self._auth, agents.encrypt, request, context)

    async def ListStageLogs(self, request: m.ListStageLogsRequest, context: CallContext) -> m.ListStageLogsResponse:
        return await answer(self._desk, self._auth, deployments.list_stage_logs, request, context)
