"""What runs, as a plugin tells it: the answer of plugins that can look at their platform.

A plugin that overrides `Plugin.live_state` serves PipeCD's LivestateService; for one that does not, the service is
missing, which agents take for "not supported".
"""

from collections.abc import Callable
from datetime import datetime

import msgspec
import structlog

from fairway.clock import Clock
from fairway.model.application import SyncState, SyncStatus
from fairway.model.limits import SENT_TEXT, cut
from fairway.model.live_state import Health, Resource
from fairway.rpc.context import CallContext
from fairway.rpc.convert.application import to_wire_sync_state
from fairway.rpc.convert.live_state import to_wire_plugin_live_state
from fairway.rpc.plugin_api import STAYS_KEY, UNDER_WAY_KEY, WATCHED_KEY, LiveStateServicer, common_messages
from fairway.rpc.plugin_api import live_state_messages as m
from fairway.sdk.plugin import Live, LiveQuestion, Plugin
from fairway.sdk.stage_run import Files

_log = structlog.get_logger()


class LiveStateService(LiveStateServicer):
    """Answers an agent for one plugin."""

    def __init__(
        self, plugin: Plugin, clock: Clock, files: Callable[[common_messages.DeploymentSource], Files]
    ) -> None:
        self._plugin = plugin
        self._clock = clock
        self._files = files

    async def GetLivestate(self, request: m.GetLivestateRequest, context: CallContext) -> m.GetLivestateResponse:
        settings = self._plugin.settings
        question = LiveQuestion(
            application_id=request.application_id,
            application_name=request.application_name,
            files=self._files(request.deploy_source),
            deployment_under_way=_under_way(context),
            targets=tuple(target for target in settings.targets if target.name in request.deploy_targets),
            lost_targets=settings.lost(request.deploy_targets),
        )
        live = await self._plugin.live_state(question)
        said = {WATCHED_KEY: live.watched, STAYS_KEY: not live.mendable}
        context.set_trailing_metadata(tuple((key, "true") for key, holds in said.items() if holds))
        now = self._clock.now()
        resources = [msgspec.structs.replace(each, plugin_name=settings.name) for each in live.resources]
        if question.deployment_under_way is None:
            # PipeCD's agents, which do not say it, do not know either when something was first seen.
            resources = [_timed(each, now) for each in resources]
        state = SyncState(
            status=_status(live),
            at=now,
            short_reason=cut(live.problem or (live.drift[0] if live.drift else ""), SENT_TEXT),
            reason=cut(live.problem or "\n".join(live.drift or ()), SENT_TEXT),
        )
        return m.GetLivestateResponse(
            application_live_state=to_wire_plugin_live_state(resources, _health(resources)),
            sync_state=to_wire_sync_state(state),
        )


def _under_way(context: CallContext) -> bool | None:
    said = dict(context.invocation_metadata() or ()).get(UNDER_WAY_KEY)
    return None if said is None else said == "true"


def _timed(resource: Resource, now: datetime) -> Resource:
    """With the times that PipeCD's control plane insists on."""
    created, updated = resource.created_at or now, resource.updated_at or now
    return msgspec.structs.replace(resource, created_at=created, updated_at=updated)


def can_look(plugin: Plugin) -> bool:
    """Whether a plugin has anything to say about what runs."""
    return type(plugin).live_state is not Plugin.live_state


def _status(live: Live) -> SyncStatus:
    if live.drift is None or live.problem:
        return SyncStatus.UNKNOWN
    return SyncStatus.OUT_OF_SYNC if live.drift else SyncStatus.SYNCED


def _health(resources: list[Resource]) -> Health:
    # PipeCD's plugins have three words for the whole, and more for each part.
    found = {resource.health for resource in resources}
    return found.pop() if found in ({Health.HEALTHY}, {Health.UNKNOWN}) else Health.OTHER if found else Health.UNKNOWN
