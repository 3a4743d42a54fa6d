"""How pretended pods behave, made from files as kwok's module has them."""

from pathlib import Path
from typing import Any

import yaml

from tools.peers.kwok import stages

_FILES = ("node/fast/node-initialize", "node/heartbeat/node-heartbeat", "pod/fast/pod-complete", "pod/fast/pod-delete")
_BROKEN = '[.spec.containers[].image | test("broken")] | any | tostring'


def a_stage(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"selector": {"matchExpressions": [{"key": ".status"}]}}}


def test_a_pod_is_ready_unless_its_image_is_called_broken(tmp_path: Path) -> None:
    for name in (*_FILES, "pod/fast/pod-ready"):
        file = tmp_path / "kustomize" / "stage" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(a_stage(file.stem)))

    *taken, ready, broken = yaml.safe_load_all(stages(tmp_path))

    assert taken == [a_stage(Path(name).name) for name in _FILES]
    assert ready["spec"]["selector"]["matchExpressions"] == [
        {"key": ".status"},
        {"key": _BROKEN, "operator": "In", "values": ["false"]},
    ]
    assert broken["spec"]["selector"]["matchExpressions"][0] == {"key": _BROKEN, "operator": "In", "values": ["true"]}
