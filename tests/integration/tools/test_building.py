"""The build of a peer, with a Go that only pretends: what is asked of it, and what is left when it fails or ends."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS
from tools.peers.building import build
from tools.peers.catalogue import Peer, Source, find_peer
from tools.peers.go import CannotBuild

_SOURCE = Source(name="thing", module="example.com/thing", version="v1.0.0", sum="h1:right", ldflags=("-X a.b=c",))
_ROOT = Path(__file__).parents[3]
#: `go build … -o FILE PACKAGE` writes the package's name; it says so in a file, and obeys others beside it.
_GO = """\
#!/usr/bin/env bash
here=$(dirname "$0")
echo "$@" >>"$here/asked"
case "$*" in
  "mod download"*) echo '{"Dir": "'"$here/module"'", "Sum": "'"$(cat "$here/sum")"'"}' ;;
  "mod edit -json"*) echo '{"Replace": null}' ;;
  build*) [ -e "$here/hang" ] && { echo $$ >"$here/hangs"; exec sleep 1000; }
    while [ "$1" != -o ]; do shift; done
    [ -e "$here/broken" ] && { echo "it does not compile" >&2; exit 1; }
    echo "$3" >"$2" ;;
esac
"""


class PretendedGo:
    """Answers from the files beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "module").mkdir(parents=True)
        (folder / "module" / "go.mod").write_text("module example.com/thing\n")
        (folder / "sum").write_text("h1:right")
        (folder / "go").write_text(_GO)
        (folder / "go").chmod(0o755)

    @property
    def builds(self) -> list[str]:
        """The packages that were built."""
        asked = (self.folder / "asked").read_text().splitlines()
        return [line.rpartition(" ")[2] for line in asked if line.startswith("build")]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedGo:
    pretended = PretendedGo(tmp_path / "go")
    monkeypatch.setenv("PATH", f"{pretended.folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return pretended


def peers(*names: str) -> list[Peer]:
    return [Peer(name, "A thing", _SOURCE, f"./cmd/{name}") for name in names]


def test_the_programs_of_a_module_are_built_once(go: PretendedGo) -> None:
    one, two = peers("one", "two")

    build(_SOURCE, [one], print)
    build(_SOURCE, [one, two], print)

    assert (go.builds, one.binary.read_text(), two.binary.read_text()) == (
        ["./cmd/one", "./cmd/two"],
        "./cmd/one\n",
        "./cmd/two\n",
    )


def test_a_module_that_is_not_what_was_pinned_is_not_built(go: PretendedGo) -> None:
    (go.folder / "sum").write_text("h1:wrong")

    with pytest.raises(CannotBuild, match="is h1:wrong, expected h1:right: it is not what we pinned"):
        build(_SOURCE, peers("one"), print)


def test_what_does_not_compile_is_said_and_leaves_nothing(go: PretendedGo) -> None:
    (one,) = peers("one")
    (go.folder / "broken").touch()

    with pytest.raises(CannotBuild, match="it does not compile"):
        build(_SOURCE, [one], print)

    kept = one.binary.parent.parent
    assert [path.name for path in kept.iterdir()] == [".thing.lock"]


def test_a_build_that_is_asked_to_end_takes_its_compilers_along(go: PretendedGo) -> None:
    (go.folder / "sum").write_text(find_peer("kustomize").source.sum)
    (go.folder / "hang").touch()
    hangs = go.folder / "hangs"

    with subprocess.Popen([sys.executable, "-m", "tools.peers", "kustomize"], cwd=_ROOT) as builder:
        until(lambda: hangs.exists() and hangs.read_text().endswith("\n"))
        builder.terminate()

    until(lambda: not Path("/proc", hangs.read_text().strip()).exists())
    assert (builder.returncode, find_peer("kustomize").binary.exists()) == (1, False)


def until(so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
