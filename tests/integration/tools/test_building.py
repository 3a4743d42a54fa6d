"""The build of a peer, with a Go that only pretends: what is asked of it, and what is left when it fails or ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.integration.tools.pretended_go import PretendedGo, a_pretended_go, until
from tools.peers.building import build
from tools.peers.catalogue import Peer, Source, find_peer
from tools.peers.go import CannotBuild

_SOURCE = Source(name="thing", module="example.com/thing", version="v1.0.0", sum="h1:right", ldflags=("-X a.b=c",))
_ROOT = Path(__file__).parents[3]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedGo:
    return a_pretended_go(tmp_path, monkeypatch)


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


def test_folders_that_a_program_reads_are_kept_beside_it(go: PretendedGo) -> None:
    (go.folder / "module" / "templates").mkdir()
    (go.folder / "module" / "templates" / "page").write_text("a page\n")
    (one,) = (peer._replace(source=_SOURCE._replace(folders=("templates",))) for peer in peers("one"))

    build(one.source, [one], print)

    assert one.binary.with_name("templates").joinpath("page").read_text() == "a page\n"


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
    go.hang()

    with subprocess.Popen([sys.executable, "-m", "tools.peers", "kustomize"], cwd=_ROOT) as builder:
        until(go.hangs)
        builder.terminate()

    until(lambda: not go.compiles())
    assert (builder.returncode, find_peer("kustomize").binary.exists()) == (1, False)


def test_a_build_that_is_asked_to_end_while_it_starts_a_compiler_takes_it_along(
    go: PretendedGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.hang()
    starts = subprocess.Popen.__init__

    def is_disturbed(process: subprocess.Popen[str], command: tuple[str, ...], **options: Any) -> None:
        starts(process, command, **options)
        if "build" in command:
            until(go.hangs)
            os.kill(os.getpid(), signal.SIGTERM)

    def end(*_: object) -> NoReturn:
        sys.exit("ended")

    before = signal.signal(signal.SIGTERM, end)
    monkeypatch.setattr(subprocess.Popen, "__init__", is_disturbed)
    try:
        with pytest.raises(SystemExit, match="ended"):
            build(_SOURCE, peers("one"), print)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert not go.compiles()
