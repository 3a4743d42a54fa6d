"""Applications with the pipeline that the seeds describe, in both generations, with a mishap where one is wanted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STAGES = (
    "K8S_CANARY_ROLLOUT",
    "WAIT",
    "SCRIPT_RUN",
    "K8S_PRIMARY_ROLLOUT",
    "SCRIPT_RUN",
    "K8S_CANARY_CLEAN",
    "SCRIPT_RUN",
)
OLD, NEW = "registry.example.com/web:v1", "registry.example.com/web:v2"
#: The nodes of the test bed cannot pull it.
BROKEN = "registry.example.com/web:broken"

Change = Mapping[str, Any]


def an_application(
    name: str, undone: Path, changes: Mapping[int, Change] | None = None, kind: str = "KubernetesApp"
) -> str:
    """Its file; `changes` are laid over the stages with those numbers, counted from 1.

    What the scripts undo they write into a file of the application's name.
    """
    stages = [_stage(number, stage, undone / name) for number, stage in enumerate(STAGES, 1)]
    for number, change in (changes or {}).items():
        stages[number - 1] = _laid_over(stages[number - 1], change)
    plugins: Change = {"plugins": {"kubernetes": {}}} if kind == "Application" else {}
    spec = {"name": name, "pipeline": {"stages": stages}, **plugins}
    # JSON is YAML.
    return json.dumps({"apiVersion": "pipecd.dev/v1beta1", "kind": kind, "spec": spec})


def manifests(name: str, image: str = OLD, more: Change | None = None) -> str:
    """A Deployment of one pod with a ConfigMap; `more` is laid over the pods' spec."""
    labels = {"app": name}
    container = {"name": "web", "image": image, "envFrom": [{"configMapRef": {"name": name}}]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **(more or {})}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"GREETING": "hello"}}
    return "\n---\n".join(map(json.dumps, (deployment, config)))


def canary_with(name: str, image: str) -> Change:
    """A canary with another image than the primary gets."""
    op = {"path": "$.spec.template.spec.containers[0].image", "value": image}
    return {"with": {"patches": [{"target": {"kind": "Deployment", "name": name}, "ops": [op]}]}}


def _stage(number: int, name: str, undone: Path) -> dict[str, Any]:
    options: dict[str, dict[str, Any]] = {
        "K8S_CANARY_ROLLOUT": {"replicas": "10%"},
        "WAIT": {"duration": "10ms"},
        "SCRIPT_RUN": {"run": f"echo script {number}", "onRollback": f"printf {number} >> {undone}"},
    }
    return {"name": name, "with": options.get(name, {})}


def _laid_over(one: Mapping[str, Any], other: Change) -> dict[str, Any]:
    options = other.get("with", {})
    # Another stage has options of its own.
    return {**one, **other, "with": options if "name" in other else {**one["with"], **options}}
