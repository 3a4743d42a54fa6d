"""`fairway lint` looks at the plain manifests of applications, too."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairway.cli.lint import commands, lint_paths

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


DOUBLE = "is described twice, first in {}/web/a.yaml:1; remove one of them"
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w, namespace: {}}}\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r, namespace: {}}}\n"


@pytest.mark.parametrize(
    ("input", "one", "other", "double"),
    [
        pytest.param("{}", GOOD, GOOD, "ConfigMap c", id="nothing is said of namespaces"),
        pytest.param("{namespace: shop}", GOOD, GOOD, "ConfigMap shop/c", id="where the file says"),
        pytest.param(
            "{namespace: shop}",
            WIDGET.format("a"),
            WIDGET.format("b"),
            "Widget shop/w",
            id="the file's namespace wins over those of the manifests",
        ),
        pytest.param("{}", ROLE.format("a"), ROLE.format("b"), "ClusterRole r", id="a kind without namespaces"),
        pytest.param(
            "{}", WIDGET.format("a"), WIDGET.format("b"), "", id="a kind that may have namespaces, in two of them"
        ),
        pytest.param("{}", GOOD, GOOD.replace("{name: c}", "{name: c, namespace: shop}"), "", id="one leaves it open"),
    ],
)
def test_an_object_that_is_described_twice_is_told_as_a_deployment_would(
    tmp_path: Path, input: str, one: str, other: str, double: str
) -> None:
    an_application(tmp_path / "web", input)
    (tmp_path / "web" / "a.yaml").write_text(one)
    (tmp_path / "web" / "b.yaml").write_text(f"# other\n---\n{other}")

    problems = [str(each).removeprefix(f"{tmp_path}/") for each in lint_paths([tmp_path]).problems]

    said = DOUBLE.format(str(tmp_path)[1:])
    assert problems == ([f"web/b.yaml:3:1: error: {double} {said}"] if double else [])


@pytest.mark.parametrize(
    ("more", "told"),
    [
        pytest.param("", True, id="a quick sync"),
        pytest.param(", pipeline: {stages: [{name: K8S_PRIMARY_ROLLOUT}]}", True, id="a stage that applies"),
        pytest.param(", pipeline: {stages: [{name: SCRIPT_RUN, with: {run: ls}}]}", False, id="scripts alone"),
    ],
)
def test_an_application_without_a_manifest_is_told_where_it_needs_one(tmp_path: Path, more: str, told: bool) -> None:
    file = an_application(tmp_path / "web")
    file.write_text(file.read_text().replace("input: {}", f"input: {{}}{more}"))

    assert [str(each).partition("; ")[0] for each in lint_paths([tmp_path]).problems] == [
        f"{file}:1:1: error: the application has no manifest at all"
    ] * told


def test_what_one_of_several_clusters_gets_from_kustomize_is_left_to_it(tmp_path: Path) -> None:
    targets = "{multiTargets: [{target: {name: east}, kustomizeDir: east}, {target: {name: west}, kustomizeDir: west}]}"
    an_application(tmp_path / "web", targets, kind="Application")

    assert lint_paths([tmp_path]).problems == ()


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        pytest.param(
            f"{SECRET}stringData:\n  pin: 83719204\n", "pin: •••\n      │        ^", "83719204", id="a number"
        ),
        pytest.param(f"{SECRET}data:\n  key: hunter2!\n", "key: •••\n      │        ^", "hunter2", id="no base64"),
        pytest.param(f"{SECRET}stringData: {{pin: 83719204}}\n", "stringData: •••\n", "83719204", id="in braces"),
        pytest.param(f"{SECRET}stringData: hunter2\n", "stringData: •••\n", "hunter2", id="no mapping"),
        pytest.param(f"{SECRET}stringData:\n  pin:\n    83719204\n", "│     •••\n", "83719204", id="a line of its own"),
        pytest.param(
            f'{SECRET}stringData:\n  pin: "hunter"2"\n', "follows (`•••`) is no YAML", '2"', id="a quote inside quotes"
        ),
        pytest.param(f"{SECRET}stringData:\n  pin: *hunter2\n", "••• refers to an anchor", "hunter2", id="an alias"),
        pytest.param(f"{SECRET}stringData:\n  pin: !hunter2 x\n", "the tag ••• is not known", "hunter2", id="a tag"),
        pytest.param(f"{SECRET}stringData:\n  pin: hunter: 2\n", "pin: •••\n", "hunter", id="a colon in a text"),
        pytest.param(
            '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"pin":83719204}}',
            "│ •••\n",
            "83719204",
            id="one line of JSON",
        ),
        pytest.param(
            f"{GOOD}---\napiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: Secret, metadata: {{name: s}}, "
            "stringData: {pin: 83719204}}\n",
            "│ - •••\n",
            "83719204",
            id="in a list",
        ),
    ],
)
def test_values_of_secrets_are_not_shown(tmp_path: Path, text: str, shown: str, hidden: str) -> None:
    an_application(tmp_path / "web")
    (tmp_path / "web" / "s.yaml").write_text(text)

    said = CliRunner().invoke(commands, [str(tmp_path)]).output
    program = CliRunner().invoke(commands, [str(tmp_path), "--json"]).output

    assert shown in said
    assert hidden not in said + program


def test_what_stands_beside_a_secret_is_shown(tmp_path: Path) -> None:
    an_application(tmp_path / "web")
    (tmp_path / "web" / "s.yaml").write_text(f"{SECRET}---\n{BAD}---\n{SECRET.replace('s}', 't}')}")

    assert "    9 │   a: 1\n" in CliRunner().invoke(commands, [str(tmp_path)]).output


RENDERED = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  password: "
TEMPLATE = "{{ .encryptedSecrets.password }}"


@pytest.mark.parametrize(
    ("target", "manifest", "paths"),
    [
        pytest.param("secret.yaml", f'{RENDERED}"{TEMPLATE}"\n', [], id="a template"),
        pytest.param("secret.yaml", f"{RENDERED}{TEMPLATE}\n", [], id="a template that is no YAML yet"),
        pytest.param("secret.yaml", f'{RENDERED}"{TEMPLATE}"\n  b: "%"\n', [("data", "b")], id="another value"),
        pytest.param("other.txt", f'{RENDERED}"{TEMPLATE}"\n', [("data", "password")], id="a file that stays as it is"),
    ],
)
def test_what_the_agent_renders_is_not_judged_before(
    tmp_path: Path, target: str, manifest: str, paths: list[tuple[str, ...]]
) -> None:
    encryption = f"{{encryptedSecrets: {{password: AgEi}}, decryptionTargets: [{target}]}}"
    (tmp_path / "app.pipecd.yaml").write_text(
        f"apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec: {{name: web, encryption: {encryption}}}\n"
    )
    (tmp_path / "other.txt").write_text("")
    (tmp_path / "secret.yaml").write_text(manifest)

    assert [each.path for each in lint_paths([tmp_path]).problems] == paths
