"""Every application of `examples/kubernetes` is deployed and then changed, by an agent with the least rights."""

import os
from collections.abc import Mapping
from pathlib import Path

from fairway.config.read import read_application
from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.agent.sites import How
from tests.acceptance.kubernetes.sites import (
    EXAMPLES,
    ClusterSite,
    a_cluster_site,
    an_agent_of,
    assert_no_variants,
    example,
    images,
)
from tests.clusters.programs import program
from tests.clusters.running import RunningCluster

#: The directories of the applications, from that of the examples.
APPLICATIONS = sorted(path.parent.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("app.pipecd.yaml"))
NEWER = {"web:v1.0.0": "web:v2.0.0", "v1.1.0": "v2.0.0"}

Result = tuple[DeploymentStatus, list[str]]


def test_every_example_is_deployed_and_changed(cluster: RunningCluster, tmp_path: Path) -> None:
    namespaces = cluster.new_namespace(), cluster.new_namespace()
    targets = dict(zip(("europe", "america"), (an_agent_of(cluster, each) for each in namespaces), strict=True))
    files = {path: text for name in APPLICATIONS for path, text in example(name.partition("/")[0]).items()}

    with a_cluster_site(tmp_path, files, targets, _with_tools(tmp_path / "home")) as site:
        for name in APPLICATIONS:
            site.register(name, deploy_targets_by_plugin=_targets(name))
        assert _results(site) == {name: _done([_quick_sync(name)]) for name in APPLICATIONS}

        site.origin.commit({path: _newer(text) for path, text in files.items()})
        waiting = site.in_stage("approval", "WAIT_APPROVAL")
        site.ask("deployments", waiting.id, "stages", waiting.stages[1].id, "approve")
        assert _results(site) == {name: _done(_stages(name)) for name in APPLICATIONS}

        for name in APPLICATIONS:
            site.synced(name.replace("/", "-"))
    for each in namespaces:
        assert_no_variants(cluster, each)
        assert images(cluster, each) == {"registry.example.com/web:v2.0.0"}


def _targets(name: str) -> Mapping[str, list[str]]:
    several = name == "multi-cluster"
    return {"kubernetes_multicluster": ["europe", "america"]} if several else {"kubernetes": ["europe"]}


def _quick_sync(name: str) -> str:
    return "K8S_MULTI_SYNC" if name == "multi-cluster" else "K8S_SYNC"


def _stages(name: str) -> list[str]:
    """What a change of the pods goes through."""
    config = read_application((EXAMPLES / name / "app.pipecd.yaml").read_bytes(), name)
    return [stage.name for stage in config.stages] or [_quick_sync(name)]


def _results(site: ClusterSite) -> dict[str, Result | str]:
    """Example → what became of its deployment at the newest commit, or why it failed."""
    found: dict[str, Result | str] = {}
    for name in APPLICATIONS:
        ended = site.ended_of(name.replace("/", "-"))
        ran = [each.name for each in ended.stages if each.status is StageStatus.SUCCEEDED]
        failed = [f"{each.name}: {each.status_reason}" for each in ended.stages if each.status is StageStatus.FAILED]
        found[name] = "; ".join([ended.status_reason, *failed]) if failed else (ended.status, ran)
    return found


def _done(stages: list[str]) -> Result:
    return DeploymentStatus.SUCCEEDED, stages


def _newer(text: str) -> str:
    for old, new in NEWER.items():
        text = text.replace(old, new)
    return text


def _with_tools(home: Path) -> How:
    """An agent on a machine with Helm, kustomize, and a `curl` that tells nobody."""
    home.mkdir()
    (home / "curl").write_text("#!/bin/sh\n")
    (home / "curl").chmod(0o755)
    # Scripts run in a login shell, which may set the path anew.
    (home / ".profile").write_text(f"PATH={home}:$PATH\n")
    tools = {str(program(name).parent) for name in ("helm", "kustomize")}
    return How(environment={"HOME": str(home), "PATH": os.pathsep.join([*tools, os.environ["PATH"]])})
