"""The programs that `tools.peers` has built, or that `KUBEBUILDER_ASSETS` names; without one its tests are not run."""

import os
from pathlib import Path

import pytest

from tools.peers.catalogue import find_peer, locate


def program(name: str) -> Path:
    """Where it is; without it the test is skipped with a line that says so, and fails on CI."""
    if not (found := locate(name)).exists():
        if os.environ.get("CI") == "true":
            pytest.fail(find_peer(name).missing)
        # Without Go and the modules there is nothing to test against; CI has both, and fails above.
        pytest.skip(find_peer(name).missing)
    return found
