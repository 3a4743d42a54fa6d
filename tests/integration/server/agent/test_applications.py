from pathlib import Path
from typing import Any

import pytest

from fairway.model.agent import AgentPlugin, AgentProfile
from fairway.model.application import (
    ApplicationKind,
    DiscoveredApplication,
    SyncState,
    SyncStatus,
)
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.agent import to_wire_profile
from fairway.rpc.convert.application import (
    to_wire_application,
    to_wire_discovered_application,
    to_wire_sync_state,
)
from fairway.server.hints import HintTopic
from fairway.server.store import agents, applications, suggestions
from tests.integration.server.agent.serving import an_agent, serving
from tests.unit.model.builders import NOW, a_git_path, an_application


def found_in_git(id: str = "a-1", **fields: object) -> DiscoveredApplication:
    known = DiscoveredApplication(
        id=id,
        name="cart",
        agent_id="agent-1",
        repository_id="shop",
        path="apps/cart",
        config_filename="app.pipecd.yaml",
        kind=ApplicationKind.KUBERNETES,
    )
    return DiscoveredApplication(**{**{f: getattr(known, f) for f in known.__struct_fields__}, **fields})


async def test_an_agent_gets_its_enabled_applications_only(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application("a-1")
        await server.add_application("a-2", disabled=True)
        await server.add_application("a-3", deleted_at=NOW)
        await server.add_application("a-4", agent_id="agent-2")

        found = await server.agent().call("ListApplications", m.ListApplicationsRequest())

        assert list(found.applications) == [to_wire_application(an_application("a-1"))]


async def test_an_agent_introduces_itself_and_is_heard(tmp_path: Path) -> None:
    profile = AgentProfile(version="v1", config="kind: Piped", plugins=(AgentPlugin(name="wait"),))
    async with serving(tmp_path) as server:
        await server.add_agent(desired_version="v2")
        agent = server.agent()

        answer = await agent.call("ReportPipedMeta", to_wire_profile(profile))
        wanted = await agent.call("GetDesiredVersion", m.GetDesiredVersionRequest())

        assert (answer.name, answer.web_base_url, wanted.version) == ("agent-1", "https://fairway.example.com", "v2")
        assert await server.load(agents.load_agent, "agent-1") == an_agent(
            desired_version="v2", profile=profile, started_at=NOW
        )
        assert await server.load(agents.last_seen, "agent-1") == NOW


async def test_a_sign_of_life_is_noted(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()

        answer = await server.agent().call("ReportStat", m.ReportStatRequest(piped_stats=b"up 1"))

        assert (answer.report_interval, await server.load(agents.last_seen, "agent-1")) == (60, NOW)


async def test_how_an_application_compares_with_git_is_kept_and_does_not_count_as_a_change(tmp_path: Path) -> None:
    state = SyncState(status=SyncStatus.OUT_OF_SYNC, at=NOW, short_reason="differs")
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()

        await server.agent().call(
            "ReportApplicationSyncState",
            m.ReportApplicationSyncStateRequest(application_id="a-1", state=to_wire_sync_state(state)),
        )

        assert await server.load(applications.load_application, "a-1") == an_application(sync_state=state)


async def test_name_description_and_labels_follow_git_and_the_agent_is_told(tmp_path: Path) -> None:
    told = found_in_git(name="basket", description="new", labels={"env": "prod"}, path="somewhere/else")
    request = m.UpdateApplicationConfigurationsRequest(applications=[to_wire_discovered_application(told)])
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()

        for _ in range(2):
            await server.agent().call("UpdateApplicationConfigurations", request)

        assert await server.load(applications.load_application, "a-1") == an_application(
            name="basket", description="new", labels={"env": "prod"}
        )
        assert server.hints.published == [("agent-1", HintTopic.APPLICATIONS)]


async def test_when_one_application_is_not_the_agents_none_is_updated(tmp_path: Path) -> None:
    infos = [to_wire_discovered_application(found_in_git(id, name="new")) for id in ("a-1", "a-2")]
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application("a-1")
        await server.add_application("a-2", agent_id="agent-2")

        request = m.UpdateApplicationConfigurationsRequest(applications=infos)
        answer = await server.agent().refused("UpdateApplicationConfigurations", request)

        assert (answer, await server.load(applications.load_application, "a-1")) == (
            "PERMISSION_DENIED",
            an_application("a-1"),
        )


@pytest.mark.parametrize(
    ("profile", "kind"),
    [
        pytest.param(AgentProfile(), ApplicationKind.KUBERNETES, id="an agent of the older generation"),
        pytest.param(AgentProfile(plugins=(AgentPlugin(name="wait"),)), None, id="an agent with plugins"),
    ],
)
async def test_applications_that_nobody_registered_replace_those_found_before(
    tmp_path: Path, profile: AgentProfile, kind: ApplicationKind | None
) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent(profile=profile)
        for path in ("apps/old", "apps/new"):
            sent = to_wire_discovered_application(found_in_git("", path=path, agent_id="somebody else"))
            request = m.ReportUnregisteredApplicationConfigurationsRequest(applications=[sent])
            await server.agent().call("ReportUnregisteredApplicationConfigurations", request)

        found = await server.load(suggestions.list_suggestions, "shop")

        assert found == (found_in_git("", path="apps/new", kind=kind),)


async def test_an_application_at_the_root_or_in_a_directory_of_one_letter_is_suggested(tmp_path: Path) -> None:
    paths = (".", "a", "./", "./b")
    async with serving(tmp_path) as server:
        await server.add_agent()
        sent = [to_wire_discovered_application(found_in_git("", path=path)) for path in paths]
        request = m.ReportUnregisteredApplicationConfigurationsRequest(applications=sent)
        await server.agent().call("ReportUnregisteredApplicationConfigurations", request)

        found = await server.load(suggestions.list_suggestions, "shop")

        assert sorted(each.path for each in found) == [".", ".", "a", "b"]


async def test_what_is_registered_is_not_suggested_though_its_agent_does_not_know_it(tmp_path: Path) -> None:
    places = {"a-disabled": "apps/disabled", "a-of-another": "apps/of-another", "a-deleted": "apps/deleted"}
    fields: dict[str, dict[str, Any]] = {
        "a-disabled": {"disabled": True},
        "a-of-another": {"agent_id": "agent-2"},
        "a-deleted": {"deleted_at": NOW},
    }
    async with serving(tmp_path) as server:
        await server.add_agent()
        for id, path in places.items():
            file = "" if id == "a-disabled" else "app.pipecd.yaml"
            await server.add_application(id, git_path=a_git_path(path=path, config_filename=file), **fields[id])
        sent = [to_wire_discovered_application(found_in_git("", path=path)) for path in places.values()]
        request = m.ReportUnregisteredApplicationConfigurationsRequest(applications=sent)
        await server.agent().call("ReportUnregisteredApplicationConfigurations", request)

        found = await server.load(suggestions.list_suggestions, "shop")

        assert [each.path for each in found] == ["apps/deleted"]


@pytest.mark.parametrize("status", ["DEPLOYMENT_RUNNING", "DEPLOYMENT_FAILURE"])
async def test_only_the_last_triggered_and_the_last_succeeded_deployment_can_be_asked_for(
    tmp_path: Path, status: str
) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()

        request = m.GetApplicationMostRecentDeploymentRequest(application_id="a-1", status=status)
        answer = await server.agent().refused("GetApplicationMostRecentDeployment", request)

        assert answer == "INVALID_ARGUMENT"
