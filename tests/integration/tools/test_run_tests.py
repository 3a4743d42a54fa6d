"""What `make test` does about a cluster that has to be built first, with a Go that only pretends."""

from pathlib import Path

import pytest

from tests.integration.tools.pretended_go import PretendedGo, a_pretended_go, until
from tools import run_tests
from tools.peers.catalogue import CLUSTER, find_peer


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedGo:
    monkeypatch.setattr(run_tests, "LOG", tmp_path / "peers.log")
    return a_pretended_go(tmp_path, monkeypatch)


def test_a_build_ends_with_the_tests(go: PretendedGo) -> None:
    (go.folder / "sum").write_text(find_peer("kustomize").source.sum)
    go.hang()
    build = run_tests.Build()

    build.start()
    until(go.hangs)
    build.end()

    until(lambda: not go.compiles())
    assert "ended by SIGTERM" in run_tests.LOG.read_text()


def test_whoever_waits_for_a_build_is_told_what_becomes_of_it(go: PretendedGo) -> None:
    (go.folder / "sum").write_text("h1:somebody else's")
    build = run_tests.Build()

    build.start()
    told = [line for line in build.news() if line]

    assert told[-1] == (
        "  Helm itself is NOT TESTED: helm v3.22.0 could not be built; see `python -m tools.peers helm`"
    )


@pytest.mark.parametrize(("ci", "builds"), [("true", 2), ("", 1)])
def test_what_could_not_be_built_is_tried_again_on_ci(
    go: PretendedGo, monkeypatch: pytest.MonkeyPatch, ci: str, builds: int
) -> None:
    (go.folder / "sum").write_text("h1:somebody else's")
    monkeypatch.setenv("CI", ci)
    build = run_tests.Build()

    build.start()
    missing = run_tests.still_missing(run_tests.Run(), build)

    asked = (go.folder / "asked").read_text()
    assert (asked.count("mod download -json helm"), missing) == (builds, [peer.name for peer in CLUSTER])


def test_what_could_not_be_built_is_a_failure_on_ci(
    go: PretendedGo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_tests.LOG.write_text("  it does not compile\n")
    monkeypatch.setenv("CI", "true")

    with pytest.raises(SystemExit):
        run_tests.not_tested(["helm"])

    assert "NOT TESTED is whatever needs helm" in capsys.readouterr().out


def test_nothing_is_built_that_is_there(
    go: PretendedGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for peer in CLUSTER:
        (tmp_path / peer.name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    build = run_tests.Build()

    build.start()

    assert (list(build.news()), capsys.readouterr().out, run_tests.LOG.exists()) == ([], "", False)
