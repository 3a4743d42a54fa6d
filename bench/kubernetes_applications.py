"""Kubernetes applications of any size for the bench, and the plugin that deploys them, asked over gRPC."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from fairway.config.agent_file import DeployTarget
from fairway.model.stage import StageStatus
from fairway.plugins.kubernetes.plugin import Kubernetes
from fairway.sdk.testing import PluginUnderTest, plugin_under_test

_MANIFESTS = "manifests.yaml"
_FILE = """\
apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: {name}
  plugins:
    kubernetes: {{}}
"""
#: As long as a short manifest is.
_OBJECT = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: {namespace}
data:
  version: "{version}"
  text: {text}
"""


def write_application(folder: Path, namespace: str, name: str, objects: int, version: int = 0) -> Path:
    """Its files; all of its objects change with the version. The answer is where the manifests are."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in application_files(namespace, name, objects, version).items():
        (folder / file).write_text(text)
    return folder / _MANIFESTS


def application_files(namespace: str, name: str, objects: int, version: int = 0) -> Mapping[str, str]:
    """The same, not yet written."""
    parts = {"namespace": namespace, "version": version, "text": "x" * 1_000}
    manifests = "".join(_OBJECT.format(name=f"{name}-{number}", **parts) for number in range(objects))
    return {"app.pipecd.yaml": _FILE.format(name=name), _MANIFESTS: manifests}


@asynccontextmanager
async def a_plugin(kubeconfig: Path, folder: Path) -> AsyncIterator[PluginUnderTest]:
    """The plugin with one deploy target; which application is asked about is up to the caller."""
    target = DeployTarget(name="bench", config={"kubeConfigPath": str(kubeconfig)})
    async with plugin_under_test(Kubernetes, folder, targets=(target,)) as plugin:
        yield plugin


async def sync(plugin: PluginUnderTest) -> None:
    """Bring the application to what its files say."""
    ended = await plugin.run("K8S_SYNC")
    assert ended.status is StageStatus.SUCCEEDED, ended
