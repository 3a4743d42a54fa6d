"""Settings of the test run itself."""

import os

from hypothesis import HealthCheck, settings

# No test asserts a time: the machine may be busy with anything. What fails in CI fails because of a change: examples
# are the same there each time. Everywhere else chance looks for new ones, and what it finds becomes an @example.
settings.register_profile(
    "fairway",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("fairway")

# A machine's proxy is for the world outside, and nothing here goes there; tests of proxies name their own.
for name in ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy"):
    for each in (name, name.upper()):
        os.environ.pop(each, None)

# Known to every test, and nothing is started before one asks.
pytest_plugins = ["tests.clusters.fixtures"]


def pytest_xdist_auto_num_workers() -> int:
    """With one process a core a quarter of the time nobody works: tests wait for git, sh, servers, leases."""
    cores = os.cpu_count() or 1
    return max(cores, min(2 * cores, 8))
