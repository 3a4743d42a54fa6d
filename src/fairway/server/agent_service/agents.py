"""What an agent says about itself: that it lives, what it is; and which version it should be."""

import msgspec
from sqlalchemy import Connection

from fairway.model.agent import Agent
from fairway.model.limits import DETAILS, cut
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.agent import from_wire_profile
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.store import agents

#: Seconds; an agent that was not heard for twice as long counts as offline.
REPORT_INTERVAL = 60


async def report_stat(desk: AgentDesk, caller: AgentIdentity, _request: m.ReportStatRequest) -> m.ReportStatResponse:
    """The sign of life. The metrics in it are for the agent's own page and are not kept."""
    now = desk.clock.now()
    await desk.store.write(lambda connection: agents.touch_agent(connection, caller.agent_id, now))
    return m.ReportStatResponse(report_interval=REPORT_INTERVAL)


async def report_profile(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportPipedMetaRequest
) -> m.ReportPipedMetaResponse:
    """What the agent is and where it can deploy, said once at each start."""
    now = desk.clock.now()
    said = from_wire_profile(request)
    profile = msgspec.structs.replace(said, config=cut(said.config, DETAILS))

    def introduce(connection: Connection) -> Agent:
        agents.touch_agent(connection, caller.agent_id, now)
        return agents.update_agent(
            connection,
            caller.agent_id,
            lambda agent: msgspec.structs.replace(agent, profile=profile, started_at=now, updated_at=now),
        )

    agent = await desk.store.write(introduce)
    return m.ReportPipedMetaResponse(name=agent.name, web_base_url=desk.web_url)


async def get_desired_version(
    desk: AgentDesk, caller: AgentIdentity, _request: m.GetDesiredVersionRequest
) -> m.GetDesiredVersionResponse:
    """Which version the agent's launcher should run; empty when nobody asked for one."""
    agent = await desk.store.read(lambda connection: agents.load_agent(connection, caller.agent_id))
    return m.GetDesiredVersionResponse(version=agent.desired_version)
