"""One commit that touches very many applications: all are deployed side by side, from one clone and one checkout."""

import asyncio
import contextlib
import os
from pathlib import Path

import pytest

from fairway.agent import workspace
from fairway.git.materialise import Materialised, materialise
from fairway.git.mirror import Mirror
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.store import deployments
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import PageRequest
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

MANY = 100


async def test_as_many_applications_as_a_commit_touches_run_at_the_same_time_from_one_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks, gate, happened = tmp_path / "marks", tmp_path / "gate", list[str]()
    marks.mkdir()
    os.mkfifo(gate)
    names = [f"app-{number}" for number in range(MANY)]
    # Each waits until all of them run.
    file = an_application_file(script(f"touch {marks}/$SR_APPLICATION_NAME; read _ < {gate} || cat version"))
    files = {f"{each}/app.pipecd.yaml": file.replace("name: web", f"name: {each}") for each in names}
    origin = an_origin(tmp_path, {**files, **{f"{each}/version": f"{each}\n" for each in names}})
    count_work(monkeypatch, happened)
    async with a_world(tmp_path, origin) as world:
        for each in names:
            await world.add_application(each)
        async with an_agent_at_work(world):
            await until(lambda: all_there(marks))
            ended = await until(lambda: all_ended(world, gate))
            outputs = {each.application_name: await world.output(each, 0) for each in ended}
            await until(lambda: nothing_left(world))

    assert [each.status for each in ended] == [DeploymentStatus.SUCCEEDED] * MANY
    assert outputs == {each: each for each in names}
    assert happened == ["cloned", "checked out"]


def count_work(monkeypatch: pytest.MonkeyPatch, happened: list[str]) -> None:
    """Write down what is done once for all, or once for each."""
    clone = Mirror._clone

    async def cloned(mirror: Mirror) -> None:
        happened.append("cloned")
        await clone(mirror)

    async def checked_out(mirror: Mirror, commit: str, directory: Path) -> Materialised:
        happened.append("checked out")
        return await materialise(mirror, commit, directory)

    monkeypatch.setattr(Mirror, "_clone", cloned)
    monkeypatch.setattr(workspace, "materialise", checked_out)


async def all_there(marks: Path) -> bool:
    return len(await asyncio.to_thread(os.listdir, marks)) == MANY


async def all_ended(world: World, gate: Path) -> tuple[Deployment, ...] | None:
    """All deployments, once they have ended; whoever waits at the gate is let through."""
    with contextlib.suppress(OSError):
        os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    wanted, page = DeploymentFilter(project_id="shop"), PageRequest(limit=MANY)
    found = (await world.store.read(lambda each: deployments.list_deployments(each, wanted, page))).items
    return found if len(found) == MANY and all(each.status.is_terminal for each in found) else None


async def nothing_left(world: World) -> bool:
    return await asyncio.to_thread(os.listdir, world.data / "work" / "deployments") == []
