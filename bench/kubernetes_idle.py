"""An agent with hundreds of applications on a cluster: what it costs while nothing happens, and how soon it tells.

How soon: from when the cluster has taken a change to when the server's API shows the application as out of sync. Every
change is of another application, and the others stay as they are.
"""

import statistics
import tempfile
import time
from pathlib import Path

import msgspec

from bench.agent_site import AgentSite, an_agent_site
from bench.figures import Reading
from bench.kubernetes_applications import Content
from fairway.cli.profiles import Profile
from fairway.cli.remote import Remote
from fairway.model.application import SyncState, SyncStatus
from tests.clusters.running import RunningCluster

#: Applications of one agent, and how long it is looked at while nothing happens: in each minute it does the same.
IDLE, _SECONDS, _PARTS = 500, 60.0, 2
#: What is left of a core's work when an agent has seen to everything, and how long that is waited for.
_CALM, _CALM_SECONDS = 0.05, 180.0
CHANGES = 50
#: Between two questions to the server's API, and until which answer a change is waited for.
_LOOK_SECONDS, _PATIENCE_SECONDS = 0.005, 60.0


class _Application(msgspec.Struct):
    sync_state: SyncState | None = None


def bench_idle_clusters(cluster: RunningCluster) -> list[Reading]:
    """An agent that has deployed many applications and has nothing to do; they are all compared with Git."""
    namespace = cluster.new_namespace()
    target = {"name": "bench", "config": {"kubeConfigPath": str(cluster.kubeconfig)}}
    plugins = [{"name": "kubernetes", "url": "builtin:kubernetes", "deployTargets": [target]}]
    files = {
        f"{_name(number)}/{file}": text
        for number in range(IDLE)
        for file, text in Content(namespace, _name(number), 1).files().items()
    }
    with (
        tempfile.TemporaryDirectory(prefix="fairway-bench-") as folder,
        an_agent_site(Path(folder), files, plugins) as site,
    ):
        site.ends.wait(IDLE)
        return [*_idle(site), _changes(site, cluster, namespace)]


def _name(number: int) -> str:
    return f"idle-{number}"


def _idle(site: AgentSite) -> list[Reading]:
    deadline = time.monotonic() + _CALM_SECONDS
    while site.cpu_share(1.0) > _CALM and time.monotonic() < deadline:
        pass
    shares = [site.cpu_share(_SECONDS) for _ in range(_PARTS)]
    spread = f"{min(shares):.2%} to {max(shares):.2%} in {_PARTS} × {_SECONDS:.0f} s"
    each = " + ".join(f"{process.megabytes():.0f}" for process in site.processes())
    return [
        Reading(f"{IDLE} applications on a cluster, idle: CPU", f"{sum(shares) / _PARTS:.2%} ({spread})", "1 %"),
        Reading("  memory: launcher, agent, plugins", f"{site.megabytes():.0f} MB ({each})", "150 MB"),
    ]


def _changes(site: AgentSite, cluster: RunningCluster, namespace: str) -> Reading:
    with Remote(Profile(server=site.server.http, api_key=site.server.api_key)) as remote:
        took = [_change(remote, cluster, namespace, number) for number in range(CHANGES)]
    figures = f"{statistics.median(took) * 1000:.0f} ms, {max(took) * 1000:.0f} ms"
    return Reading(f"  a change there → the server's API: median, worst of {CHANGES}", figures, "1 s")


def _change(remote: Remote, cluster: RunningCluster, namespace: str, number: int) -> float:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{_name(number)}-0"
    cluster.api.merge(path, {"data": {"text": "otherwise"}})
    start = time.perf_counter()
    while True:
        found = msgspec.json.decode(remote.get(f"/applications/application-{_name(number)}"), type=_Application)
        took = time.perf_counter() - start
        if found.sync_state is not None and found.sync_state.status is SyncStatus.OUT_OF_SYNC:
            return took
        assert took < _PATIENCE_SECONDS, f"{_name(number)} was not seen to be otherwise: {found.sync_state}"
        time.sleep(_LOOK_SECONDS)
