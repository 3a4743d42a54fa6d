"""Plain manifests, from real directories."""

from pathlib import Path

import pytest

from fairway.config.platforms import HelmChart, KubernetesInput
from fairway.plugins.kubernetes.manifests.charts import BadCharts
from fairway.plugins.kubernetes.manifests.documents import BadManifests
from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.plugins.kubernetes.manifests.places import OutsideRepository
from fairway.sdk import Files

CONFIG = "app.pipecd.yaml"


def a_config_map(name: str, namespace: str = "") -> str:
    place = f", namespace: {namespace}" if namespace else ""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}{place}}}\n"


def a_repository(root: Path, files: dict[str, str], application: str = "shop") -> Files:
    for name, text in files.items():
        path = root / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    directory = root / "repository" / application
    directory.mkdir(parents=True, exist_ok=True)
    return Files(
        application_directory=directory,
        commit="0" * 40,
        config_text=b"",
        config_filename=CONFIG,
        shared_directory=root / "repository" / ".pipe",
    )


async def no_tools(name: str, version: str, script: str) -> Path:
    raise AssertionError("plain manifests need no tool")


def manifests_of(files: Files) -> Manifests:
    return Manifests(files.shared_directory, {}, no_tools)


async def names(files: Files, wanted: KubernetesInput = KubernetesInput()) -> list[str]:
    return [each.name for each in await manifests_of(files).load(files, wanted, application_name="shop")]


async def refusal(files: Files, wanted: KubernetesInput = KubernetesInput()) -> str:
    with pytest.raises((BadManifests, OutsideRepository)) as error:
        await manifests_of(files).load(files, wanted, application_name="shop")
    return str(error.value)


async def test_the_manifests_of_a_directory_are_those_directly_in_it(tmp_path: Path) -> None:
    config = "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec: {}\n"
    files = {
        "shop/b.yml": a_config_map("b"),
        "shop/a.yaml": a_config_map("a"),
        "shop/c.json": '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}',
        "shop/below/d.yaml": a_config_map("d"),
        "shop/README.md": "# no manifest",
        f"shop/{CONFIG}": config,
        # Defect 26: the file of another application in the same directory.
        "shop/other.pipecd.yaml": config,
        "shop/with-a-name-of-its-own.yaml": config + "metadata: {name: x}\n",
    }

    assert await names(a_repository(tmp_path, files)) == ["a", "b", "c"]


async def test_named_files_are_read_in_the_order_they_are_named(tmp_path: Path) -> None:
    files = {"shop/a.yaml": a_config_map("a"), "shared/b.yaml": a_config_map("b")}

    found = await names(a_repository(tmp_path, files), KubernetesInput(manifests=("../shared/b.yaml", "a.yaml")))

    assert found == ["b", "a"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("../../secret.yaml", "leaves the repository", id="up"),
        pytest.param("/etc/hostname", "leaves the repository", id="from the root"),
        pytest.param("link/secret.yaml", "leaves the repository", id="through a link to a directory"),
        pytest.param("leaf.yaml", "leaves the repository", id="through a link to a file"),
        pytest.param("nothing.yaml", "there is nothing at shop/nothing.yaml", id="nothing"),
        pytest.param("below", "a directory; expected a file", id="a directory"),
    ],
)
async def test_a_path_that_cannot_be_used_is_refused(path: str, said: str, tmp_path: Path) -> None:
    files = a_repository(tmp_path, {"shop/below/d.yaml": a_config_map("d")})
    (tmp_path / "secret.yaml").write_text(a_config_map("secret"))
    (files.application_directory / "link").symlink_to(tmp_path)
    (files.application_directory / "leaf.yaml").symlink_to("link/secret.yaml")

    assert said in await refusal(files, KubernetesInput(manifests=(path,)))


async def test_a_link_out_of_the_repository_in_the_directory_is_refused(tmp_path: Path) -> None:
    files = a_repository(tmp_path, {})
    (tmp_path / "secret.yaml").write_text(a_config_map("secret"))
    (files.application_directory / "leaf.yaml").symlink_to("../../secret.yaml")

    assert "leaves the repository" in await refusal(files)


async def test_an_application_without_a_manifest_is_refused_unless_nobody_acts_on_it(tmp_path: Path) -> None:
    files = a_repository(tmp_path, {"shop/empty.yaml": "# nothing\n"})

    assert "shop/app.pipecd.yaml:1:1: error: the application has no manifest at all" in await refusal(files)
    nothing = await manifests_of(files).load(files, KubernetesInput(), application_name="shop", may_be_empty=True)
    assert nothing == ()


async def test_a_chart_that_nobody_said_is_one_is_told_as_that(tmp_path: Path) -> None:
    files = {"shop/Chart.yaml": "apiVersion: v2\nname: x\n", "shop/values.yaml": "a: 1\n"}

    assert await refusal(a_repository(tmp_path, files)) == (
        "shop/Chart.yaml:1:1: error: this directory is a Helm chart; say so in the application's file: "
        "input.helmChart.path"
    )


async def test_chart_repositories_that_cannot_be_used_concern_only_those_who_use_charts(tmp_path: Path) -> None:
    files = a_repository(tmp_path, {"shop/a.yaml": a_config_map("a")})
    manifests = Manifests(tmp_path, {"chartRepositories": [{"type": "FTP"}]}, no_tools)

    plain = await manifests.load(files, KubernetesInput(), application_name="shop")
    with pytest.raises(BadCharts, match="the agent's file has chartRepositories for this plugin that cannot be used"):
        await manifests.load(files, KubernetesInput(helm_chart=HelmChart(path=".")), application_name="shop")

    assert [each.name for each in plain] == ["a"]


async def test_configuration_that_is_named_as_a_manifest_is_refused(tmp_path: Path) -> None:
    files = {"shop/x.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nmetadata: {name: x}\n"}

    said = await refusal(a_repository(tmp_path, files), KubernetesInput(manifests=("x.yaml",)))

    assert said == (
        "shop/x.yaml:1:1: error: this is configuration (KubernetesApp) and no manifest; take it out of input.manifests"
    )


async def test_the_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    files = {"shop/a.yaml": "kind: 1\n", "shop/b.yaml": "a: [\n", "shop/c.yaml": a_config_map("c")}

    places = {line.split(": error:")[0] for line in (await refusal(a_repository(tmp_path, files))).splitlines()}

    assert places == {"shop/a.yaml:1:1", "shop/a.yaml:1:7", "shop/b.yaml:2:1"}


async def test_one_object_described_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    files = {"shop/a.yaml": a_config_map("it"), "shop/b.yaml": f"\n---\n{a_config_map('it')}"}

    assert await refusal(a_repository(tmp_path, files)) == (
        "shop/b.yaml:3:1: error: ConfigMap it is described twice, first in shop/a.yaml:1; remove one of them"
    )


async def test_objects_that_only_the_namespace_of_the_application_makes_one_are_refused(tmp_path: Path) -> None:
    files = a_repository(tmp_path, {"shop/a.yaml": f"{a_config_map('it', 'one')}---\n{a_config_map('it', 'two')}"})

    assert await names(files) == ["it", "it"]
    assert "ConfigMap shop/it is described twice" in await refusal(files, KubernetesInput(namespace="shop"))


async def test_the_same_files_are_parsed_once(tmp_path: Path) -> None:
    files = a_repository(tmp_path, {"shop/a.yaml": a_config_map("a")})
    manifests = manifests_of(files)

    first = await manifests.load(files, KubernetesInput(), application_name="shop")
    again = await manifests.load(files, KubernetesInput(), application_name="shop")
    (files.application_directory / "a.yaml").write_text(a_config_map("b"))
    changed = await manifests.load(files, KubernetesInput(), application_name="shop")

    assert again[0] is first[0]
    assert [each.name for each in changed] == ["b"]
