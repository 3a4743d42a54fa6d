"""Adding, moving, switching and deleting applications."""

from fairway.rpc.convert.application import KINDS, from_wire_deploy_targets, from_wire_git_path
from fairway.rpc.user_api import messages as m
from fairway.server.actions import applications
from fairway.server.actions.applications import ApplicationChange, NewApplication
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller


async def add_application(
    desk: ActionDesk, caller: Caller, request: m.AddApplicationRequest
) -> m.AddApplicationResponse:
    """Register an application of an agent."""
    git_path = from_wire_git_path(request.git_path)
    new = NewApplication(
        name=request.name,
        agent_id=request.piped_id,
        repository_id=git_path.repository.id,
        path=git_path.path,
        config_filename=git_path.config_filename,
        url=git_path.url,
        kind=KINDS.from_wire(request.kind),
        platform_provider=request.platform_provider,
        labels=dict(request.labels),
        description=request.description,
    )
    added = await applications.add_application(desk, caller, new)
    return m.AddApplicationResponse(application_id=added.id)


async def update_application(
    desk: ActionDesk, caller: Caller, request: m.UpdateApplicationRequest
) -> m.UpdateApplicationResponse:
    """Move an application to another agent, platform provider or path."""
    git_path = from_wire_git_path(request.git_path)
    change = ApplicationChange(
        agent_id=request.piped_id,
        repository_id=git_path.repository.id,
        path=git_path.path,
        config_filename=git_path.config_filename,
        url=git_path.url,
        platform_provider=request.platform_provider,
    )
    await applications.update_application(desk, caller, request.application_id, change)
    return m.UpdateApplicationResponse(application_id=request.application_id)


async def enable_application(
    desk: ActionDesk, caller: Caller, request: m.EnableApplicationRequest
) -> m.EnableApplicationResponse:
    """Deploy it again."""
    await applications.enable_application(desk, caller, request.application_id)
    return m.EnableApplicationResponse(application_id=request.application_id)


async def disable_application(
    desk: ActionDesk, caller: Caller, request: m.DisableApplicationRequest
) -> m.DisableApplicationResponse:
    """Keep it, but do not deploy it."""
    await applications.disable_application(desk, caller, request.application_id)
    return m.DisableApplicationResponse(application_id=request.application_id)


async def delete_application(
    desk: ActionDesk, caller: Caller, request: m.DeleteApplicationRequest
) -> m.DeleteApplicationResponse:
    """Take it out of service for good; its deployments stay."""
    await applications.delete_application(desk, caller, request.application_id)
    return m.DeleteApplicationResponse(application_id=request.application_id)


async def rename_config_file(
    desk: ActionDesk, caller: Caller, request: m.RenameApplicationConfigFileRequest
) -> m.RenameApplicationConfigFileResponse:
    """Note the new name of the file of several applications: of all of them, or of none."""
    await applications.rename_config_files(desk, caller, tuple(request.application_ids), request.new_filename)
    return m.RenameApplicationConfigFileResponse()


async def update_deploy_targets(
    desk: ActionDesk, caller: Caller, request: m.UpdateApplicationDeployTargetsRequest
) -> m.UpdateApplicationDeployTargetsResponse:
    """Replace the deploy targets. Kind and platform provider stay: a v0 agent may go on until it is replaced."""
    change = ApplicationChange(deploy_targets_by_plugin=from_wire_deploy_targets(request.deploy_targets_by_plugin))
    await applications.update_application(desk, caller, request.application_id, change)
    return m.UpdateApplicationDeployTargetsResponse()
