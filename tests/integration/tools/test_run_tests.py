"""Groups of tests and the programs that they need, with a Go that only pretends."""

import sys
from pathlib import Path

import pytest

from tests.integration.tools.pretended_go import PretendedGo, a_pretended_go
from tools import run_tests
from tools.peers.catalogue import CLUSTER, HEAVY

_SUM_OF_ANOTHER = "h1:another"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PretendedGo:
    pretended = a_pretended_go(tmp_path, monkeypatch)
    (pretended.folder / "sum").write_text(_SUM_OF_ANOTHER)
    return pretended


@pytest.fixture
def tests_run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders whose tests were run, in place of running them."""
    run: list[str] = []
    part = run_tests.Run.part

    def instead(self: run_tests.Run, name: str, *command: str, may_fail: bool = False) -> bool:
        if name == "tests":
            run.extend(command[command.index("--dist") + 2 :])
            return True
        return part(self, name, *command, may_fail=may_fail)

    monkeypatch.setattr(run_tests.Run, "part", instead)
    return run


def test_programs_that_cannot_be_built_are_named_and_the_other_tests_run(
    go: PretendedGo, tests_run: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "")

    run_tests.run_group(run_tests.Run(), run_tests.GROUPS["cluster"], "auto")

    asked = (go.folder / "asked").read_text()
    assert (asked.count("mod download -json helm"), tests_run) == (1, ["tests/cluster", "tests/acceptance/kubernetes"])
    assert "NOT TESTED: tests that need kustomize, etcd, kube-apiserver" in capfd.readouterr().out


def test_programs_that_cannot_be_built_are_tried_again_on_ci_and_then_fail_it(
    go: PretendedGo, tests_run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(SystemExit) as ended:
        run_tests.run_group(run_tests.Run(), run_tests.GROUPS["cluster"], "auto")

    asked = (go.folder / "asked").read_text()
    assert (asked.count("mod download -json helm"), ended.value.code, tests_run) == (2, 1, [])


def test_programs_that_are_there_are_not_built(
    go: PretendedGo, tests_run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for peer in CLUSTER:
        (tmp_path / peer.name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    run_tests.run_group(run_tests.Run(), run_tests.GROUPS["cluster"], "auto")

    assert ((go.folder / "asked").exists(), tests_run[:1]) == (False, ["tests/cluster"])


def test_groups_that_were_not_run_are_named_with_their_command(
    go: PretendedGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for peer in HEAVY:
        (tmp_path / peer.name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

    lines = run_tests.not_run(["cluster", "peers"])

    assert lines == [
        "not run: tests with a Kubernetes cluster; `make test-cluster` runs them (builds its programs first, once)",
        "not run: tests with an S3 server, an OIDC provider and a Git host; `make test-peers` runs them "
        "(its programs are built)",
    ]


def test_a_part_that_fails_ends_the_run_with_its_status() -> None:
    with pytest.raises(SystemExit) as ended:
        run_tests.Run().part("tests", sys.executable, "-c", "raise SystemExit(3)")

    assert ended.value.code == 3
