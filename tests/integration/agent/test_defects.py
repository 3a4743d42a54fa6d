"""A defect that one repository or one application meets: told, and everything else goes on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.agent import live_state, watching
from fairway.agent.live_answers import merged_sync
from fairway.agent.triggering import examine
from fairway.model.application import SyncStatus
from fairway.model.deployment import DeploymentStatus
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_drift import a_plugin, an_application, until_it_is
from tests.integration.git.repositories import an_origin


class Defect(Exception):
    """What nobody has thought of."""


def once(works: Callable[..., Any], met: list[str]) -> Callable[..., Any]:
    def work(*arguments: Any) -> Any:
        if not met:
            met.append("met")
            raise Defect
        return works(*arguments)

    return work


async def test_a_repository_that_could_not_be_looked_at_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[str] = []
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(":"))})
    monkeypatch.setattr(watching, "examine", once(examine, met))
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until(lambda: nothing_but(met))
            world.origin.commit({"web/version": "2"})
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED


async def test_an_application_of_which_nobody_can_tell_what_runs_is_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[str] = []
    monkeypatch.setattr(live_state, "merged_sync", once(merged_sync, met))
    plugins = msgspec.json.encode([a_plugin("drifting", tmp_path / "runs")]).decode()
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": an_application()})) as world:
        await world.add_application(deploy_targets_by_plugin={"drifting": ("here",)})
        async with an_agent_at_work(world, plugins):
            await until(lambda: nothing_but(met))
            await world.ended()
            await until_it_is(world, SyncStatus.SYNCED)


async def nothing_but(met: list[str]) -> bool:
    return bool(met)
