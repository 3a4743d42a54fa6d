"""How the nodes and pods behave that kwok pretends to run.

kwok is told by stages: what an object must look like, and what its status becomes then. Its module brings a set in
which all goes well and at once; we take that and add one way to fail: a pod whose image has `broken` in its name is
never ready, because the image cannot be pulled.
"""

from pathlib import Path
from typing import Any

import yaml

_TAKEN = ("node/fast/node-initialize", "node/heartbeat/node-heartbeat", "pod/fast/pod-complete", "pod/fast/pod-delete")
_READY = "pod/fast/pod-ready"
_HAS_BROKEN_IMAGE = '[.spec.containers[].image | test("broken")] | any | tostring'
_STATUS = """\
{{ $now := Now }}
phase: Pending
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  restartCount: 0
  state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image"}}
{{ end }}
"""


def stages(module: Path) -> str:
    """The file that kwok reads, made from the files of its module."""
    taken = [_stage(module, name) for name in _TAKEN]
    ready = _stage(module, _READY)
    ready["spec"]["selector"]["matchExpressions"].append(_where_broken("false"))
    return yaml.safe_dump_all([*taken, ready, _BROKEN], sort_keys=False)


def _stage(module: Path, name: str) -> dict[str, Any]:
    stage = yaml.safe_load((module / "kustomize" / "stage" / f"{name}.yaml").read_text())
    assert isinstance(stage, dict), name
    return stage


def _where_broken(is_so: str) -> dict[str, Any]:
    return {"key": _HAS_BROKEN_IMAGE, "operator": "In", "values": [is_so]}


_BROKEN = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "pod-image-broken"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {
            "matchExpressions": [
                _where_broken("true"),
                {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
                {"key": ".status.startTime", "operator": "DoesNotExist"},
            ]
        },
        "next": {"statusTemplate": _STATUS},
    },
}
