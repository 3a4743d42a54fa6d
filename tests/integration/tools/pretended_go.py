"""A Go that only pretends, for tests of what is asked of it: quick, and hanging or failing as told."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS

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

    def hang(self) -> None:
        """From now on nothing is ever compiled to the end."""
        (self.folder / "hang").touch()

    def hangs(self) -> bool:
        """Whether something is being compiled."""
        return (self.folder / "hangs").exists() and (self.folder / "hangs").read_text().endswith("\n")

    def compiles(self) -> bool:
        """Whether what hangs is still there."""
        return Path("/proc", (self.folder / "hangs").read_text().strip()).exists()


def a_pretended_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedGo:
    """The one on PATH from now on, with an empty cache for what is built."""
    pretended = PretendedGo(folder / "go")
    monkeypatch.setenv("PATH", f"{pretended.folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return pretended


def until(so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
