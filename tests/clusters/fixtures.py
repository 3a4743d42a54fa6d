"""`cluster` and `namespace` for any test. One cluster serves all processes of a test run: it needs half a gigabyte.

The first test that asks for it starts it, the others wait at a lock; it lives as long as the process that all test
processes belong to. Tests that stop parts of a cluster make one of their own with `running.a_cluster`.
"""

import fcntl
import os
from pathlib import Path

import pytest

from tests.clusters.running import RunningCluster, start_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> RunningCluster:
    """The cluster that all tests share: each works in namespaces of its own and leaves the others alone."""
    folder, run = tmp_path_factory.getbasetemp(), os.getpid()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder, run = folder.parent, os.getppid()
    with (folder / "cluster.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if home := lock.read():
            return RunningCluster(Path(home))
        started = start_cluster(run)
        lock.write(str(started.home))
        return started


@pytest.fixture
def namespace(cluster: RunningCluster) -> str:
    """A new one for this test."""
    return cluster.new_namespace()
