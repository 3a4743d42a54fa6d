"""What Kubernetes applications take on a real cluster, each figure beside the same with nothing of ours in between.

A sync is our plugin's, asked over gRPC as an agent asks it, beside `kubectl apply --server-side` of the same manifests;
both change objects that are there, in turns. The picture of many objects is taken by a process of its own, whose memory
is looked at, beside one that lists the same objects page by page. The cluster is made for the run.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import msgspec

from bench.figures import Figure, Reading, best_of
from bench.kubernetes_applications import MIXED, Content, a_plugin, sync
from bench.kubernetes_live import Found, Populated
from tests.clusters.running import RunningCluster, start_cluster
from tools.peers.catalogue import CLUSTER, locate

SIZES = (1, 20, 200)
#: As many times kubectl as a sync may take.
_GOALS = {1: 1.2, 20: 1.0, 200: 1.0}
APPLICATIONS, OBJECTS_OF_EACH = 20, 500


@contextmanager
def a_bench_cluster() -> Iterator[RunningCluster | None]:
    """One that ends with the block, or with us; none where its programs have not been built."""
    if missing := [peer.name for peer in CLUSTER if not locate(peer.name).exists()]:
        print(f"NOT MEASURED is Kubernetes: {', '.join(missing)} are not there; see `python -m tools.peers cluster`")
        yield None
        return
    cluster = start_cluster(os.getpid())
    try:
        yield cluster
    finally:
        cluster.end()


async def bench_sync(cluster: RunningCluster) -> list[Figure]:
    """A sync of few and of many objects."""
    figures = []
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="fairway-bench-") as folder:
            figures.append(await _sync(cluster, size, Path(folder)))
    return figures


async def _sync(cluster: RunningCluster, size: int, folder: Path) -> Figure:
    theirs, own, versions = cluster.new_namespace(), cluster.new_namespace(), count(1)
    async with a_plugin(cluster.kubeconfig, folder) as plugin:
        plugin.application_id = f"sync-{size}"

        async def kubectl() -> None:
            manifests = Content(theirs, "sync", size, next(versions), MIXED).write(folder / "kubectl")
            cluster.kubectl("apply", "--server-side", "-f", str(manifests), namespace=theirs)

        async def ours() -> None:
            version = next(versions)
            plugin.commit = f"{version:040x}"
            Content(own, "sync", size, version, MIXED).write(plugin.folder)
            await sync(plugin)

        await kubectl()
        await ours()
        bare, fairway = await best_of(kubectl, ours)
    objects = "1 object" if size == 1 else f"{size} objects"
    return Figure(f"sync of {objects}", "kubectl apply --server-side", bare, fairway, None, _GOALS[size])


async def bench_picture(cluster: RunningCluster) -> list[Reading]:
    """Many objects of several applications, seen for the first time, and looked at again."""
    made = Populated(
        kubeconfig=str(cluster.kubeconfig),
        pki=str(cluster.home / "pki"),
        url=cluster.url,
        namespace=cluster.new_namespace(),
        applications=APPLICATIONS,
        objects_of_each=OBJECTS_OF_EACH,
    )
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as name:
        folder = Path(name)
        async with a_plugin(cluster.kubeconfig, folder) as plugin:
            for number in range(APPLICATIONS):
                plugin.application_id, plugin.folder = made.name(number), folder / made.name(number)
                Content(made.namespace, made.name(number), OBJECTS_OF_EACH).write(plugin.folder)
                await sync(plugin)
        return _readings(_measured("bare", made), _measured("ours", made, str(folder)))


def _measured(what: str, made: Populated, *arguments: str) -> Found:
    command = [sys.executable, "-m", "bench.kubernetes_live", what, msgspec.json.encode(made).decode(), *arguments]
    return msgspec.json.decode(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout, type=Found)


def _readings(bare: Found, ours: Found) -> list[Reading]:
    objects = f"{APPLICATIONS * OBJECTS_OF_EACH:,} objects"
    return [
        Reading(f"{objects}: first picture; bare: one paged list", f"{ours.first:.1f} s", "", f"{bare.first:.1f} s"),
        Reading(
            f"{objects}: memory for them",
            f"{ours.after - ours.before:.0f} MB",
            "",
            f"{bare.after - bare.before:.0f} MB",
        ),
        Reading(f"{APPLICATIONS} applications of these: what runs, and drift", f"{ours.all:.1f} s"),
        Reading(
            "  the same, unchanged: time, calls to the cluster",
            f"{ours.again * 1000:.0f} ms, {ours.calls_again}",
            "no call",
        ),
    ]
