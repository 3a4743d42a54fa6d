"""Plan previews: wire ⇄ model, and the JSON in which agents hand them in as a command's output.

The wire's kind cannot be left out; a preview in which plugins took part is one of the newer generation and
has no kind here.
"""

from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview, PluginPlanPreview
from fairway.rpc.convert.application import KINDS, to_wire_kind
from fairway.rpc.convert.go_json import from_go_json, to_go_json
from fairway.rpc.convert.trigger import SYNC_STRATEGIES
from fairway.rpc.convert.wire_time import from_wire_time, to_wire_time
from fairway.rpc.gen.pipecd.model import planpreview_pb2 as pb


def to_command_output(preview: PlanPreview) -> bytes:
    """What an agent hands in when it has handled a plan preview command."""
    return to_go_json(to_wire_plan_preview(preview))


def from_command_output(output: bytes) -> PlanPreview:
    """The preview that an agent has handed in; WireError when it is something else."""
    return from_wire_plan_preview(from_go_json(output, pb.PlanPreviewCommandResult))


def to_wire_plan_preview(preview: PlanPreview) -> pb.PlanPreviewCommandResult:
    return pb.PlanPreviewCommandResult(
        command_id=preview.command_id,
        piped_id=preview.agent_id,
        piped_url=preview.agent_url,
        results=[_to_wire_application(application) for application in preview.applications],
        error=preview.error,
        piped_name=preview.agent_name,
    )


def from_wire_plan_preview(wire: pb.PlanPreviewCommandResult) -> PlanPreview:
    return PlanPreview(
        command_id=wire.command_id,
        agent_id=wire.piped_id,
        agent_url=wire.piped_url,
        applications=tuple(_from_wire_application(result) for result in wire.results),
        error=wire.error,
        agent_name=wire.piped_name,
    )


def _to_wire_application(preview: ApplicationPlanPreview) -> pb.ApplicationPlanPreviewResult:
    return pb.ApplicationPlanPreviewResult(
        application_id=preview.application_id,
        application_name=preview.application_name,
        application_url=preview.application_url,
        application_kind=to_wire_kind(preview.kind),
        application_directory=preview.application_directory,
        piped_id=preview.agent_id,
        project_id=preview.project_id,
        labels=preview.labels,
        head_branch=preview.head_branch,
        head_commit=preview.head_commit,
        sync_strategy=SYNC_STRATEGIES.to_wire(preview.sync_strategy),
        plan_summary=preview.summary,
        plan_details=preview.details,
        no_change=preview.no_change,
        plugin_plan_results=[_to_wire_plugin(plugin) for plugin in preview.plugins],
        plugin_names=preview.plugin_names,
        error=preview.error,
        created_at=to_wire_time(preview.created_at),
    )


def _from_wire_application(wire: pb.ApplicationPlanPreviewResult) -> ApplicationPlanPreview:
    newer = bool(wire.plugin_names or wire.plugin_plan_results)
    return ApplicationPlanPreview(
        application_id=wire.application_id,
        application_name=wire.application_name,
        application_url=wire.application_url,
        kind=None if newer else KINDS.from_wire(wire.application_kind),
        application_directory=wire.application_directory,
        agent_id=wire.piped_id,
        project_id=wire.project_id,
        labels=dict(wire.labels),
        head_branch=wire.head_branch,
        head_commit=wire.head_commit,
        sync_strategy=SYNC_STRATEGIES.from_wire(wire.sync_strategy),
        summary=wire.plan_summary,
        details=wire.plan_details,
        no_change=wire.no_change,
        plugins=tuple(_from_wire_plugin(plugin) for plugin in wire.plugin_plan_results),
        plugin_names=tuple(wire.plugin_names),
        error=wire.error,
        created_at=from_wire_time(wire.created_at),
    )


def _to_wire_plugin(preview: PluginPlanPreview) -> pb.PluginPlanPreviewResult:
    return pb.PluginPlanPreviewResult(
        plugin_name=preview.plugin_name,
        deploy_target=preview.deploy_target,
        plan_summary=preview.summary,
        plan_details=preview.details,
        diff_language=preview.diff_language,
    )


def _from_wire_plugin(wire: pb.PluginPlanPreviewResult) -> PluginPlanPreview:
    return PluginPlanPreview(
        plugin_name=wire.plugin_name,
        deploy_target=wire.deploy_target,
        summary=wire.plan_summary,
        details=wire.plan_details,
        diff_language=wire.diff_language,
    )
