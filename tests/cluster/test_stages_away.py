"""Stages whose cluster is away: they wait for it, and who gives it up says what is left there."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairway.kube.calls import Patience
from fairway.model.application import SyncStatus
from fairway.model.live_state import Health
from fairway.plugins.kubernetes.plugin import Kubernetes
from tests.acceptance.kubernetes.doors import Door, a_door
from tests.acceptance.kubernetes.sites import an_agent_of
from tests.cluster.kubernetes_applications import (
    CANCELLED,
    FAILED,
    SUCCEEDED,
    Application,
    a_config_map,
    a_deployment,
    an_application,
    while_running,
)
from tests.clusters.running import RunningCluster

WAITS = "the stage goes on as soon as it answers"


@pytest.fixture
def door(cluster: RunningCluster) -> Iterator[Door]:
    """Between the plugin and its cluster."""
    with a_door(cluster) as door:
        yield door


class Hasty(Kubernetes):
    """One that notices soon that a cluster is away."""

    patience = Patience(attempts=1)


class Impatient(Hasty):
    """One that does not wait for it either."""

    away_seconds = 0.0


@asynccontextmanager
async def with_a_canary(
    door: Door, cluster: RunningCluster, namespace: str, folder: Path, kind: type[Kubernetes] = Hasty
) -> AsyncIterator[Application]:
    """An application whose canary runs when its cluster goes away."""
    kubeconfig = door.kubeconfig(an_agent_of(cluster, namespace))
    async with an_application(cluster, namespace, folder, kubeconfig=kubeconfig, kind=kind) as web:
        web.commit(a_deployment(), a_config_map())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"), a_config_map(), pipeline=_CANARY)
        await web.succeed("K8S_CANARY_ROLLOUT")
        door.shut()
        yield web


_CANARY = {"stages": [{"name": "K8S_CANARY_ROLLOUT"}, {"name": "K8S_PRIMARY_ROLLOUT"}]}


def left(namespace: str) -> str:
    """What is said of that canary."""
    objects = f"Deployment {namespace}/web-canary, ConfigMap {namespace}/settings-canary"
    return f"what this deployment has made may still be at deploy target test: {objects};"


async def test_a_plugin_that_was_just_started_waits_for_a_cluster_where_its_application_was_before(
    door: Door, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with with_a_canary(door, cluster, namespace, tmp_path) as before:
        (tmp_path / "again").mkdir()
        kubeconfig = door.kubeconfig(an_agent_of(cluster, namespace))
        async with an_application(cluster, namespace, tmp_path / "again", kubeconfig=kubeconfig, kind=Hasty) as web:
            web.plugin.agent.objects |= before.plugin.agent.objects
            web.commit(a_deployment(image="web:2"), a_config_map())

            async with while_running(web, "K8S_PRIMARY_ROLLOUT", WAITS) as (stage, _):
                door.open()
                assert (await stage).status is SUCCEEDED


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("apiVersion:", id="nothing yet"),
        pytest.param("contexts:", id="a part"),
        pytest.param("client-certificate-data:", id="all but the credentials"),
    ],
)
async def test_a_kubeconfig_that_is_just_being_written_is_waited_for_by_a_plugin_that_was_just_started(
    end: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with after_a_restart(cluster, namespace, tmp_path) as (web, kubeconfig):
        whole = kubeconfig.read_text()
        kubeconfig.write_text(whole[: whole.index(end)])

        async with while_running(web, "K8S_PRIMARY_ROLLOUT", "; the stage goes on as soon as it ") as (stage, _):
            kubeconfig.write_text(whole)
            assert (await stage).status is SUCCEEDED


async def test_a_rollback_that_finds_no_kubeconfig_says_what_is_left(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with after_a_restart(cluster, namespace, tmp_path, Impatient) as (web, kubeconfig):
        kubeconfig.unlink()

        ended = await web.run("ROLLBACK")

    assert ended.status is FAILED
    assert f"The kubeconfig {kubeconfig} cannot be read: No such file" in ended.message
    assert left(namespace) in ended.message


async def test_where_nothing_ever_was_a_kubeconfig_is_not_waited_for(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        kubeconfig = the_kubeconfig_in(tmp_path)
        kubeconfig.write_text("")
        web.commit(a_config_map())

        ended = await web.run("K8S_SYNC")

    assert (ended.status, "no context is chosen" in ended.message) == (FAILED, True), ended


@asynccontextmanager
async def after_a_restart(
    cluster: RunningCluster, namespace: str, folder: Path, kind: type[Kubernetes] = Kubernetes
) -> AsyncIterator[tuple[Application, Path]]:
    """An application whose canary runs, with a plugin that knows nothing of its cluster yet; and its kubeconfig."""
    for name in ("before", "again"):
        (folder / name).mkdir()
    commit = (a_deployment(image="web:2"), a_config_map())
    async with an_application(cluster, namespace, folder / "before") as before:
        before.commit(*commit, pipeline=_CANARY)
        await before.succeed("K8S_CANARY_ROLLOUT")
    async with an_application(cluster, namespace, folder / "again", kind=kind) as web:
        web.plugin.agent.objects |= before.plugin.agent.objects
        web.plugin.agent.plugin_notes |= before.plugin.agent.plugin_notes
        web.commit(*commit, pipeline=_CANARY)
        yield web, the_kubeconfig_in(folder / "again")


def the_kubeconfig_in(folder: Path) -> Path:
    (found,) = folder.glob("kubeconfig-*")
    return found


async def test_a_rollback_that_has_waited_long_enough_says_what_is_left(
    door: Door, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with with_a_canary(door, cluster, namespace, tmp_path, Impatient) as web:
        forward, rollback = await web.run("K8S_PRIMARY_ROLLOUT"), await web.run("ROLLBACK")
        door.open()
        again = await web.run("ROLLBACK")
        door.shut()
        afterwards = await web.run("ROLLBACK")

    ended = [forward, rollback, again, afterwards]
    assert [each.status for each in ended] == [FAILED, FAILED, SUCCEEDED, FAILED]
    # After the first comes a rollback, and after a rollback nothing is left.
    assert [left(namespace) in each.message for each in ended] == [False, True, False, False], ended
    assert ["may still be" in each.message for each in ended] == [False, True, False, False], ended


async def test_a_rollback_that_is_ended_says_what_is_left(
    door: Door, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with (
        with_a_canary(door, cluster, namespace, tmp_path) as web,
        while_running(web, "ROLLBACK", WAITS) as (stage, stage_id),
    ):
        await web.plugin.stop(stage_id, "timed out")
        ended = await stage

    assert (ended.status, ended.message.startswith(f"timed out; {left(namespace)}")) == (CANCELLED, True), ended


async def test_what_nobody_will_undo_is_said_by_the_stage_itself(
    door: Door, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with with_a_canary(door, cluster, namespace, tmp_path, Impatient) as web:
        file = web.plugin.folder / "app.pipecd.yaml"
        file.write_text(f"{file.read_text()}  planner:\n    autoRollback: false\n")
        ended = await web.run("K8S_PRIMARY_ROLLOUT")

    assert (ended.status, left(namespace) in ended.message) == (FAILED, True), ended


LOST = "deploy target {} of plugin kubernetes is not in the agent's file any more (it has test)"


async def test_a_deploy_target_that_was_taken_out_of_the_agents_file_is_named_with_what_is_left_there(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"), pipeline=_CANARY)
        await web.succeed("K8S_CANARY_ROLLOUT")
        notes = web.plugin.agent.plugin_notes["kubernetes"]
        notes |= {key.replace("-test", "-america"): value for key, value in notes.items()}
        web.plugin.deploy_targets = ("america",)

        primary = await web.run("K8S_PRIMARY_ROLLOUT")
        undone = await web.run("ROLLBACK")

        assert (primary.status, undone.status) == (FAILED, FAILED)
        assert primary.message == LOST.format("america")
        for word in (
            LOST.format("america"),
            f"what this deployment has made may still be at deploy target america: Deployment {namespace}/web-canary",
            "once it is in that file again",
        ):
            assert word in undone.message, undone.message


async def test_what_runs_at_a_deploy_target_that_was_taken_out_of_the_agents_file_is_unknown(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map())
        web.plugin.deploy_targets = ("america",)

        resources, state = await web.plugin.live_state(under_way=False)

    assert (state.status, state.short_reason) == (SyncStatus.UNKNOWN, LOST.format("america"))
    assert [(each.type, each.name, each.health) for each in resources] == [("DeployTarget", "america", Health.UNKNOWN)]
    assert LOST.format("america") in resources[0].health_description
