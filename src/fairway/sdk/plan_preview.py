"""What a change would do, as a plugin tells it: the answer of plugins that can compare without acting.

A plugin that overrides `Plugin.plan_preview` serves PipeCD's PlanPreviewService; for one that does not, the service is
missing, which agents take for "not supported".
"""

from collections.abc import Callable

from fairway.model.limits import SENT_TARGET_TEXT, SENT_TEXT, cut
from fairway.rpc.context import CallContext
from fairway.rpc.plugin_api import PlanPreviewServicer, common_messages
from fairway.rpc.plugin_api import plan_preview_messages as m
from fairway.sdk.plugin import Plugin, PreviewQuestion
from fairway.sdk.stage_run import Files


class PlanPreviewService(PlanPreviewServicer):
    """Answers an agent for one plugin."""

    def __init__(self, plugin: Plugin, files: Callable[[common_messages.DeploymentSource], Files]) -> None:
        self._plugin = plugin
        self._files = files

    async def GetPlanPreview(self, request: m.GetPlanPreviewRequest, _context: CallContext) -> m.GetPlanPreviewResponse:
        running = request.HasField("running_deployment_source")
        question = PreviewQuestion(
            application_id=request.application_id,
            application_name=request.application_name,
            target=self._files(request.target_deployment_source),
            running=self._files(request.running_deployment_source) if running else None,
            targets=tuple(each for each in self._plugin.settings.targets if each.name in request.deploy_targets),
        )
        previews = await self._plugin.plan_preview(question)
        results = (
            m.PlanPreviewResult(
                deploy_target=each.deploy_target,
                summary=cut(each.summary, SENT_TARGET_TEXT),
                no_change=not each.changes,
                details=cut(each.details, SENT_TEXT).encode(),
                diff_language=each.language,
            )
            for each in previews
        )
        return m.GetPlanPreviewResponse(results=results)


def can_preview(plugin: Plugin) -> bool:
    """Whether a plugin can tell what a change would do."""
    return type(plugin).plan_preview is not Plugin.plan_preview
