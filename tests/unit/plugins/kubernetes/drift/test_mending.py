"""Whether deploying again takes away any of what differs from Git."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.kube.manifest import Key
from fairway.plugins.kubernetes.drift.drift import Changed, Drift
from fairway.plugins.kubernetes.drift.mending import is_mendable
from fairway.plugins.kubernetes.settings import ApplicationSettings, application_settings
from fairway.sdk import Files

LEFT = Key("", "ConfigMap", "shop", "left")
ORPHAN = Drift(orphans=(LEFT,))


def settings(quick_sync: dict[str, Any] | None = None, *stages: dict[str, Any]) -> ApplicationSettings:
    plugins = {"kubernetes": {"quickSync": quick_sync or {}}}
    spec = {"name": "web", "pipeline": {"stages": list(stages)}, "plugins": plugins}
    file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}
    files = Files(
        application_directory=Path("/none"),
        commit="c",
        config_text=yaml.safe_dump(file).encode(),
        config_filename="app.pipecd.yaml",
        shared_directory=Path("/none"),
    )
    return application_settings(files, "kubernetes")


def left(variant: str = "primary") -> dict[str, Any]:
    marks = {"pipecd.dev/variant": variant}
    metadata = {"name": "left", "namespace": "shop", "labels": marks, "annotations": marks}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


PRIMARY = {"name": "K8S_PRIMARY_ROLLOUT"}


@pytest.mark.parametrize(
    ("drift", "said", "live", "mendable"),
    [
        pytest.param(ORPHAN, settings(), left(), False, id="nothing is pruned"),
        pytest.param(ORPHAN, settings({}, PRIMARY), left(), False, id="nor by the pipeline"),
        pytest.param(ORPHAN, settings({"prune": True}), left(), True, id="a quick sync prunes"),
        pytest.param(ORPHAN, settings({}, {**PRIMARY, "with": {"prune": True}}), left(), True, id="the pipeline does"),
        pytest.param(ORPHAN, settings(), left("canary"), False, id="a canary that nobody removes"),
        pytest.param(ORPHAN, settings({}, PRIMARY, {"name": "K8S_CANARY_CLEAN"}), left("canary"), True, id="one does"),
        pytest.param(Drift(missing=(LEFT,)), settings(), left(), True, id="something is missing"),
        pytest.param(Drift(changed=(Changed(LEFT, ()),)), settings(), left(), True, id="something is otherwise"),
    ],
)
def test_what_no_sync_takes_away_is_told(
    drift: Drift, said: ApplicationSettings, live: dict[str, Any], mendable: bool
) -> None:
    assert is_mendable(drift, said, [live]) is mendable
