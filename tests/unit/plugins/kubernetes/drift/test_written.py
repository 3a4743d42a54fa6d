"""What a sync would write of an object that is there."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from fairway.kube.kinds import Kind
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.drift.written import as_written
from fairway.plugins.kubernetes.marks import Owner, marked
from fairway.plugins.kubernetes.parts import part, with_entries, with_part
from fairway.plugins.kubernetes.shaping.config_hash import CONFIG_HASH

GIT = Owner(agent_id="", application_id="web", commit="new")
DEPLOYED = Owner(agent_id="agent", application_id="web", commit="old")
TEMPLATE = ("spec", "template", "metadata")


def a_workload(labels: Mapping[str, str] = MappingProxyType({"app": "web"})) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "envFrom": [{"configMapRef": {"name": "settings"}}]}]}
    template = {"metadata": {"labels": dict(labels)}, "spec": pod}
    metadata = {"name": "web", "namespace": "shop"}
    spec = {"selector": {"matchLabels": dict(labels)}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def placed(body: dict[str, Any], plural: str = "deployments") -> Placed:
    group, _, version = body["apiVersion"].rpartition("/")
    return Placed(Manifest(body), Kind(group=group, version=version, kind=body["kind"], plural=plural, namespaced=True))


def test_our_marks_are_written_with_the_commit_and_the_agent_of_the_last_deployment() -> None:
    wanted = placed(a_workload())
    live = marked(wanted.manifest, DEPLOYED)

    assert as_written([wanted], {wanted.key: live.body}, GIT) == (msgspec.structs.replace(wanted, manifest=live),)


def test_marks_in_the_form_of_another_agent_stay_as_long_as_they_mean_the_same() -> None:
    """As PipeCD's older agents leave them who were at work meanwhile: they write annotations only."""
    wanted = placed(a_workload())
    live = marked(wanted.manifest, DEPLOYED)
    theirs = {"pipecd.dev/resource-key": "apps/v1:Deployment:shop:web", "pipecd.dev/commit-hash": "between"}
    live = Manifest(with_entries(live.body, ("metadata", "annotations"), theirs))

    assert as_written([wanted], {wanted.key: live.body}, GIT) == (msgspec.structs.replace(wanted, manifest=live),)


def test_what_somebody_else_has_deployed_is_taken_as_git_says_it() -> None:
    wanted = placed(a_workload())

    assert as_written([wanted], {}, GIT) == (wanted,)


def test_the_label_of_the_primary_stays_in_selectors_where_a_stage_has_added_it() -> None:
    wanted, label = placed(a_workload()), {"app": "web", "pipecd.dev/variant": "primary"}

    (written,) = as_written([wanted], {wanted.key: a_workload(label)}, GIT)

    assert part(written.manifest.body, "spec", "selector", "matchLabels") == label
    assert part(written.manifest.body, *TEMPLATE, "labels") == label


def test_the_hash_of_the_configuration_is_part_of_it() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}}
    objects = [placed(a_workload()), placed({**config, "data": {"a": "1"}}, "configmaps")]
    changed = with_part(a_workload(), (*TEMPLATE, "annotations"), {CONFIG_HASH: "by hand"})

    written, _ = as_written(objects, {objects[0].key: changed}, GIT)

    assert part(written.manifest.body, *TEMPLATE, "annotations", CONFIG_HASH) not in (None, "by hand")
