"""A repository with five thousand applications and two commits, made with plain git."""

import subprocess
from pathlib import Path
from typing import NamedTuple

APPLICATIONS = 5_000
CHANGED = 40


class Repository(NamedTuple):
    """Where it is, and its two commits."""

    path: Path
    first: str
    second: str


def an_application(index: int) -> str:
    """A file of the usual size: a canary with an approval, a script and a few settings."""
    ignores = "\n      ignores: ['**/*.md', 'docs/**']" if index % 10 == 0 else ""
    return f"""\
apiVersion: pipecd.dev/v1beta1
kind: KubernetesApp
spec:
  name: app-{index}
  labels:
    env: production
    team: team-{index % 50}
  description: Application number {index}
  planner:
    alwaysUsePipeline: false
  trigger:
    onCommit:
      paths: ['shared/team-{index % 50}/**']{ignores}
    onOutOfSync:
      disabled: false
      minWindow: 10m
  input:
    namespace: team-{index % 50}
    helmChart:
      repository: charts
      name: web
      version: 1.{index % 20}.0
    helmOptions:
      valueFiles:
        - values.yaml
  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        with:
          replicas: 10%
      - name: WAIT_APPROVAL
        with:
          approvers: [alice, bob]
          timeout: 4h
      - name: SCRIPT_RUN
        with:
          env:
            MSG: app-{index} is out
          run: |
            echo $MSG
            ./check.sh
          onRollback: |
            echo taken back
      - name: K8S_PRIMARY_ROLLOUT
        with:
          prune: true
      - name: K8S_CANARY_CLEAN
"""


def a_repository(directory: Path) -> Repository:
    """Make it; `git fast-import` takes a second where `git add` would take many."""
    path = directory / "repository"
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", path], check=True)
    stream = [_commit(1, "everything", range(APPLICATIONS), 0)]
    stream.append(_commit(2, "some", range(0, APPLICATIONS, APPLICATIONS // CHANGED), 1))
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    log = subprocess.run(["git", "-C", path, "log", "--format=%H", "main"], capture_output=True, text=True, check=True)
    second, first = log.stdout.split()
    return Repository(path, first, second)


def _commit(mark: int, message: str, applications: range, version: int) -> bytes:
    lines = [f"commit refs/heads/main\nmark :{mark}\ncommitter bench <bench@example> {mark} +0000\n{_data(message)}"]
    if mark > 1:
        lines.append(f"from :{mark - 1}\n")
    for index in applications:
        directory = f"apps/team-{index % 50}/app-{index}"
        if version == 0:
            lines.append(f"M 644 inline {directory}/app.pipecd.yaml\n{_data(an_application(index))}")
        lines.append(f"M 644 inline {directory}/values.yaml\n{_data(f'version: {version}')}")
    return "".join(lines).encode()


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
