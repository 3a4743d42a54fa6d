"""Builds peers into the cache, from their modules by name.

A build takes its lock, so that two builds wait for each other, and puts each program in place by a rename, so that a
killed build leaves nothing that looks whole. The next one goes on where it stopped: what is there stays, and Go
remembers every package that it has compiled.
"""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from tools.peers.cache import cache, locked
from tools.peers.catalogue import KWOK_STAGES, Peer, Source
from tools.peers.go import CannotBuild, Tell, fetch, find_go, run
from tools.peers.kwok import stages
from tools.peers.siblings import SUMS, edits, pinned


def build(source: Source, peers: Iterable[Peer], tell: Tell) -> None:
    """Build those of the source's programs that are not there."""
    with locked(source.name):
        if not (missing := [peer for peer in peers if not peer.binary.exists()]):
            return
        scratch = cache() / f".building-{source.name}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        try:
            go = find_go(tell)
            module = _copied(go, source, scratch / "module", tell)
            for peer in missing:
                _build_program(go, peer, module, tell)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _build_program(go: str, peer: Peer, module: Path, tell: Tell) -> None:
    made = module.parent / peer.name
    if peer.name == KWOK_STAGES:
        made.write_text(stages(module))
    else:
        # Asked for what the program consists of, Go gets all modules that it needs.
        packages = fetch((go, "list", "-mod=readonly", "-deps", peer.package), module, tell).splitlines()
        tell(f"building {peer.name}")
        ldflags = "-ldflags=" + " ".join(("-s", "-w", *peer.source.ldflags))
        # Without the path of our copy in it, what was compiled for one user's cache serves every other.
        build = (go, "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false", ldflags)
        run((*build, "-o", str(made), peer.package), module, tell, packages=len(packages))
    peer.binary.parent.mkdir(exist_ok=True)
    for folder in peer.source.folders:
        shutil.copytree(module / folder, peer.binary.with_name(folder), dirs_exist_ok=True)
    made.rename(peer.binary)


def _copied(go: str, source: Source, place: Path, tell: Tell) -> Path:
    """Its files, out of Go's read-only cache, so that the module's own go.mod and go.sum count."""
    tell(f"getting {source.module}")
    found = json.loads(fetch((go, "mod", "download", "-json", f"{source.module}@{source.version}"), cache(), tell))
    if found["Sum"] != source.sum:
        raise CannotBuild(
            f"{source.module}@{source.version} is {found['Sum']}, expected {source.sum}: it is not what we pinned"
        )
    shutil.copytree(found["Dir"], place, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(place):
        os.chmod(folder, 0o755)
    sums = SUMS.read_text()
    go_mod = json.loads(run((go, "mod", "edit", "-json"), place, tell))
    if changes := edits(go_mod, pinned(sums)):
        run((go, "mod", "edit", *changes), place, tell)
        with (place / "go.sum").open("a") as pins:
            pins.write(sums)
    return place
