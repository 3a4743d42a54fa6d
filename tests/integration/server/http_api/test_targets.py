"""Where applications may be sent: to what their agent has, one way or the other."""

from pathlib import Path
from typing import Any

from fairway.model.agent import AgentPlugin, AgentProfile
from fairway.model.api_key import APIKeyRole
from tests.integration.server.http_api.serving import serving
from tests.integration.server.store.nouns import an_agent
from tests.unit.model.builders import an_application


async def test_an_application_goes_where_its_agent_goes_and_one_way_only(tmp_path: Path) -> None:
    plugins = (AgentPlugin(name="kubernetes", deploy_targets=("europe", "america")),)
    agent = an_agent(profile=AgentProfile(plugins=plugins))
    place = "/api/v1/applications/cart"

    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        await served.add(agent, an_application("cart"))

        async def goes(**change: Any) -> tuple[str, dict[str, Any]]:
            now = (await served.ask("PATCH", place, json=change)).json()
            return now.get("platform_provider", ""), now.get("deploy_targets_by_plugin", {})

        ways = [
            await goes(deploy_targets_by_plugin={"kubernetes": ["europe"]}),
            await goes(platform_provider="america"),
            await goes(deploy_targets_by_plugin={"kubernetes": ["america"]}),
        ]
        refused = [
            (await served.refusal(place, "PATCH", json=change))[2]
            for change in (
                {"deploy_targets_by_plugin": {"kubernetes": ["asia"]}},
                {"deploy_targets_by_plugin": {"ecs": ["asia"]}},
                {"platform_provider": "asia"},
                {"platform_provider": "europe", "deploy_targets_by_plugin": {"kubernetes": ["europe"]}},
            )
        ]

    # A provider stays for an agent of the older generation; whoever has deploy targets goes there.
    assert ways == [("", {"kubernetes": ["europe"]}), ("america", {}), ("america", {"kubernetes": ["america"]})]
    begins = [each.partition("; ")[0] for each in refused]
    assert begins == [
        "agent agent-1 has no deploy target 'asia' of plugin kubernetes, it has europe, america",
        "agent agent-1 has no plugin 'ecs', it has kubernetes",
        "agent agent-1 has no platform provider or deploy target 'asia', it has europe, america",
        "an application goes to its platform_provider (PipeCD's older agents) or to its deploy_targets_by_plugin, and "
        "both are given",
    ]
