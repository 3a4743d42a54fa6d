"""Builds every peer that is missing: `python -m tools.peers`; with names only those.

`cluster` is all of a cluster, `heavy` all that `make test-peers` wants beside helm and kustomize.

What cannot be had is said in one loud line, and the command ends with 1; the tests skip it, or fail with CI=true.
"""

import signal
import sys
import time
from itertools import groupby
from typing import NoReturn

from tools.peers.building import build
from tools.peers.catalogue import CLUSTER, HEAVY, PEERS, Peer, Source, find_peer, locate, not_tested
from tools.peers.go import CannotBuild

_GROUPS = {"cluster": CLUSTER, "heavy": HEAVY}


def main(names: list[str]) -> int:
    """Build, one source after another, and say how it went."""
    began = time.monotonic()
    wanted = [peer for name in names for peer in _GROUPS.get(name) or (find_peer(name),)] if names else PEERS
    missing = [peer for peer in wanted if not locate(peer.name).exists()]
    for peer in wanted:
        if peer not in missing:
            print(f"  {peer.name} {peer.source.version}", flush=True)
    by_source = groupby(missing, key=lambda peer: peer.source)
    failed = [source for source, peers in by_source if not _built(source, list(peers))]
    if missing and not failed:
        print(f"  all are there after {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failed else 0


def _built(source: Source, peers: list[Peer]) -> bool:
    began = time.monotonic()

    def tell(line: str) -> None:
        print(f"  {source.name} {source.version}: {line}", flush=True)

    try:
        build(source, peers, tell)
    except (CannotBuild, OSError) as error:
        print(f"    {error}", flush=True)
        print(f"  {not_tested([peer for peer in peers if not peer.binary.exists()])}", flush=True)
        return False
    tell(f"built in {time.monotonic() - began:.0f} s")
    return True


def _end(signum: int, _: object) -> NoReturn:
    sys.exit(f"ended by {signal.Signals(signum).name}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main(sys.argv[1:]))
