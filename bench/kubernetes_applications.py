"""Kubernetes applications of any size for the bench, and the plugin that deploys them, asked over gRPC."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

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
CONFIG = """\
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
_SERVICE = """\
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: {namespace}
  annotations:
    version: "{version}"
spec:
  selector:
    app: {name}
  ports:
    - port: 80
"""
#: The largest kind that nobody waits for: kubectl does not, and how soon pods come up is not what is measured.
_CRON_JOB = """\
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {name}
  namespace: {namespace}
spec:
  schedule: "0 0 1 1 *"
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: web:{version}
"""
#: A third each.
MIXED = (_CRON_JOB, _SERVICE, CONFIG)


class Content(NamedTuple):
    """What an application consists of; all of its objects change with the version."""

    namespace: str
    name: str
    objects: int
    version: int = 0
    #: Of which the objects are, in turns.
    templates: Sequence[str] = (CONFIG,)

    def files(self) -> Mapping[str, str]:
        """Its application file, and its manifests."""
        parts = {"namespace": self.namespace, "version": self.version, "text": "x" * 1_000}
        manifests = [
            template.format(name=f"{self.name}-{number}", **parts)
            for number, template in zip(range(self.objects), cycle(self.templates), strict=False)
        ]
        return {"app.pipecd.yaml": _FILE.format(name=self.name), _MANIFESTS: "".join(manifests)}

    def write(self, folder: Path) -> Path:
        """Write them; the answer is where the manifests are."""
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in self.files().items():
            (folder / file).write_text(text)
        return folder / _MANIFESTS


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
