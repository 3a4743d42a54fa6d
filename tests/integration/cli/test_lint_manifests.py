"""`fairway lint` looks at the plain manifests of applications, too."""

from pathlib import Path

import pytest

from fairway.cli.lint import lint_paths

GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
BAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: 1\n"
COMPLAINT = 'found the number 1, expected a text; put it in quotes: "1"'


def an_application(folder: Path, input: str = "{}", kind: str = "KubernetesApp") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    spec = f"{{name: web, input: {input}}}"
    if kind == "Application":
        spec = f"{{name: web, plugins: {{kubernetes: {{input: {input}}}}}}}"
    file = folder / "app.pipecd.yaml"
    file.write_text(f"apiVersion: pipecd.dev/v1beta1\nkind: {kind}\nspec: {spec}\n")
    return file


@pytest.mark.parametrize("kind", ["KubernetesApp", "Application"])
def test_a_mistake_in_a_manifest_is_told_with_its_place(tmp_path: Path, kind: str) -> None:
    an_application(tmp_path / "web", kind=kind)
    (tmp_path / "web" / "good.yaml").write_text(GOOD.replace("{name: c}", "{name: d}"))
    (tmp_path / "web" / "bad.yaml").write_text(BAD)

    found = lint_paths([tmp_path])

    assert len(found.files) == 3
    assert [str(each) for each in found.problems] == [f"{tmp_path}/web/bad.yaml:5:6: error: data.a: {COMPLAINT}"]


def test_manifests_that_are_named_are_looked_at_wherever_they_are_and_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        an_application(tmp_path / name, "{manifests: [../shared.yaml, gone.yaml]}")
    (tmp_path / "shared.yaml").write_text(BAD)
    (tmp_path / "two" / "gone.yaml").write_text(GOOD.replace("{name: c}", "{name: d}"))

    found = lint_paths([tmp_path])

    assert sorted(str(each).removeprefix(f"{tmp_path}/") for each in found.problems) == [
        f"one/app.pipecd.yaml:1:1: error: input.manifests[1] is 'gone.yaml', but there is nothing at "
        f"{str(tmp_path)[1:]}/one/gone.yaml",
        f"shared.yaml:5:6: error: data.a: {COMPLAINT}",
    ]


def test_what_only_a_tool_can_render_is_left_to_it(tmp_path: Path) -> None:
    an_application(tmp_path / "kustomize")
    (tmp_path / "kustomize" / "kustomization.yaml").write_text("resources: []\n")
    an_application(tmp_path / "helm", "{helmChart: {path: chart}}")
    for name in ("kustomize", "helm"):
        (tmp_path / name / "values.yaml").write_text("a: 1\n")

    assert lint_paths([tmp_path]).problems == ()
