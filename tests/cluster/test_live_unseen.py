"""A cluster that nobody can reach any more: what was seen last is shown as that, and as nothing else."""

from pathlib import Path

from fairway.model.application import SyncStatus
from fairway.model.live_state import Health, Resource
from tests.acceptance.kubernetes.doors import a_door
from tests.acceptance.kubernetes.sites import an_agent_of
from tests.cluster.kubernetes_applications import Application, a_config_map, an_application
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until


async def until_it_is(web: Application, status: SyncStatus) -> tuple[Resource, ...]:
    async def look() -> tuple[Resource, ...] | None:
        resources, state = await web.plugin.live_state(under_way=False)
        return resources if state.status is status else None

    return await until(look)


async def test_what_was_seen_before_a_cluster_went_away_is_not_called_healthy(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    with a_door(cluster) as door:
        kubeconfig = door.kubeconfig(an_agent_of(cluster, namespace))
        async with an_application(cluster, namespace, tmp_path, kubeconfig=kubeconfig) as web:
            web.commit(a_config_map(a="1"))
            await web.succeed("K8S_SYNC")
            (before,) = await until_it_is(web, SyncStatus.SYNCED)

            door.shut()
            target, seen = await until_it_is(web, SyncStatus.UNKNOWN)
            door.open()
            (back,) = await until_it_is(web, SyncStatus.SYNCED)

    assert (target.type, target.health, seen.parent_ids) == ("DeployTarget", Health.UNKNOWN, (target.id,))
    assert "does not answer" in target.health_description
    assert target.health_description.endswith("; below it is what was seen last")
    assert (seen.name, seen.health, seen.health_description) == ("settings", Health.UNKNOWN, "last seen healthy")
    assert (before.health, back.health) == (Health.HEALTHY, Health.HEALTHY)
