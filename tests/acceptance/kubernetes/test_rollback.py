"""The seeds' pipeline is rolled back as they write it: at every stage, whether it fails or is cancelled."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.kubernetes.gates import hold, let_go
from tests.acceptance.kubernetes.pipelines import (
    BROKEN,
    NEW,
    OLD,
    STAGES,
    Change,
    an_application,
    canary_with,
    manifests,
)
from tests.acceptance.kubernetes.sites import ClusterSite, a_cluster_site, an_agent_of, assert_no_variants, images
from tests.clusters.running import RunningCluster

#: Where it ends → the scripts whose `onRollback` has run by then.
UNDONE = {1: "", 2: "", 3: "3", 4: "3", 5: "35", 6: "35", 7: "357"}
#: Beside a stage that never comes to an end by itself.
_SOON = {"timeout": "2s"}


@pytest.mark.parametrize("kind", ["KubernetesApp", "Application"])
@pytest.mark.parametrize(
    "how",
    [
        pytest.param(DeploymentStatus.FAILED, id="fails"),
        pytest.param(DeploymentStatus.CANCELLED, id="is cancelled"),
    ],
)
def test_a_pipeline_is_undone_up_to_where_it_was(
    cluster: RunningCluster, namespace: str, tmp_path: Path, kind: str, how: DeploymentStatus
) -> None:
    names = {position: f"ends-at-{position}" for position in UNDONE}
    first = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path, kind=kind) for name in names.values()}
    first |= {f"{name}/manifests.yaml": manifests(name) for name in names.values()}

    with a_cluster_site(tmp_path, first, {"here": an_agent_of(cluster, namespace)}) as site:
        site.register(*names.values(), deploy_targets_by_plugin={"kubernetes": ["here"]})
        for name in names.values():
            assert site.ended_of(name).status is DeploymentStatus.SUCCEEDED
        limit = _SOON if how is DeploymentStatus.FAILED else {}
        mishaps = {at: _mishap(at, name, limit, hold(cluster, namespace, name)) for at, name in names.items()}
        second = {
            f"{name}/app.pipecd.yaml": an_application(name, tmp_path, mishaps[at], kind) for at, name in names.items()
        }
        second |= {f"{name}/manifests.yaml": manifests(name, BROKEN if at == 4 else NEW) for at, name in names.items()}
        site.origin.commit(second)
        # Its canary stays until it is let go, in the stage that cleans up and in the rollback; each of them waits for
        # that for a minute only, all others for long.
        to_cancel = sorted(names, key=lambda at: at != 6) if how is DeploymentStatus.CANCELLED else []
        for at in to_cancel[:1]:
            _cancel(site, names[at], at)
        site.in_stage(names[6], "K8S_ROLLBACK")
        let_go(cluster, namespace, names[6])
        for at in to_cancel[1:]:
            _cancel(site, names[at], at)
        ended = {at: site.ended_of(name) for at, name in names.items()}

    assert {at: (each.status, _rolled_back(each)) for at, each in ended.items()} == dict.fromkeys(names, (how, True))
    assert {at: _undone(tmp_path / name) for at, name in names.items()} == UNDONE
    assert_no_variants(cluster, namespace)
    assert images(cluster, namespace) == {OLD}


def _mishap(at: int, name: str, limit: Change, holding: str) -> Mapping[int, Change]:
    """What keeps a pipeline from getting beyond a stage."""
    endless = {"with": {"run": "exit 1" if limit else "sleep 1000"}}
    kinds: dict[int, Mapping[int, Change]] = {
        1: {1: {**canary_with(name, BROKEN), **limit}},
        2: {2: {"with": {"duration": "1h"}, **limit}},
        4: {1: canary_with(name, NEW), 4: limit},
        6: {5: {"with": {"run": holding}}, 6: limit},
    }
    return kinds.get(at, {at: endless})


def _cancel(site: ClusterSite, name: str, at: int) -> None:
    """Cancel when the stage is under way."""
    running = site.at_stage(name, lambda stage: stage.index == at - 1)
    site.ask("deployments", running.id, "cancel")


def _rolled_back(deployment: Deployment) -> bool:
    """Whether the platform was rolled back; which stages there are beside those of the pipeline."""
    added = deployment.stages[len(STAGES) :]
    return [each.status for each in added if "K8S" in each.name or each.name == "ROLLBACK"] == [StageStatus.SUCCEEDED]


def _undone(file: Path) -> str:
    return file.read_text() if file.exists() else ""
