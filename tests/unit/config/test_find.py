from pathlib import Path

import pytest

from fairway.config.find import find_config_files, is_application_file, is_shared_file, says_it_is_ours


@pytest.mark.parametrize("path", ["app.pipecd.yaml", "apps/a/app.pipecd.yaml", "a/dev.pipecd.yaml", "a/.pipe.yaml"])
def test_applications_are_known_by_their_file_name(path: str) -> None:
    assert is_application_file(path)


@pytest.mark.parametrize("path", ["pipecd.yaml", "app.pipecd.yml", "a/app.yaml", "a.pipecd.yaml/b", ".pipe/a.yaml"])
def test_other_names_are_no_applications(path: str) -> None:
    assert not is_application_file(path)


@pytest.mark.parametrize(
    ("path", "shared"),
    [(".pipe/a.yaml", True), (".pipe/a.json", True), (".pipe/x/a.yaml", False), ("a/.pipe/b.yaml", False)],
)
def test_shared_files_stand_in_one_directory_at_the_root(path: str, shared: bool) -> None:
    assert is_shared_file(path) is shared


@pytest.mark.parametrize(
    ("head", "ours"),
    [
        (b"kind: Piped\napiVersion: pipecd.dev/v1beta1\n", True),
        (b'# a comment\napiVersion: "pipelines.weave.works/v1alpha1"\n', True),
        (b"apiVersion: pipelines.wego.weave.works/v1alpha1\n", True),
        (b"apiVersion: wego.weave.works/v1alpha2\n", True),
        (b"kind: ConfigMap\ndata:\n  p: |\n    environments:\n    - targets:\n", True),
        (b"apiVersion: apps/v1\nkind: Deployment\n", False),
        (b"kind: ConfigMap\ndata: {}\n", False),
        (b"# apiVersion: pipecd.dev/v1beta1\n", False),
    ],
)
def test_other_files_are_known_by_their_version(head: bytes, ours: bool) -> None:
    assert says_it_is_ours(head) is ours


def test_a_repository_is_searched_without_its_dependencies_and_links(tmp_path: Path) -> None:
    ours = b"apiVersion: pipecd.dev/v1beta1\nkind: Piped\n"
    for path in ("a/app.pipecd.yaml", ".pipe/events.yaml", "ops/agent.yml", "node_modules/x.pipecd.yaml", "k8s.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"kind: Deployment\n" if path == "k8s.yaml" else ours)
    (tmp_path / "link.yaml").symlink_to(tmp_path / "ops/agent.yml")

    found = [path.relative_to(tmp_path).as_posix() for path in find_config_files(tmp_path)]

    assert found == [".pipe/events.yaml", "a/app.pipecd.yaml", "ops/agent.yml"]
