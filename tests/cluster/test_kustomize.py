"""Kustomizations, built by the real kustomize."""

from pathlib import Path

import pytest

from fairway.config.platforms import KubernetesInput
from fairway.errors import FairwayError
from tests.cluster.charts import a_chart, a_repository, manifests_of, tools_on_path

__all__ = ["tools_on_path"]
pytestmark = pytest.mark.usefixtures("tools_on_path")

BASE = {
    "base/kustomization.yaml": "resources: [config.yaml]\n",
    "base/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\ndata: {a: b}\n",
}


async def names(
    root: Path, files: dict[str, str], wanted: KubernetesInput = KubernetesInput(), at: str = ""
) -> list[str]:
    repository = a_repository(root, files)
    loaded = await manifests_of(root).load(repository, wanted, application_name="shop", kustomize_dir=at)
    return [f"{each.kind} {each.name}" for each in loaded]


@pytest.mark.parametrize("file", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
async def test_a_kustomization_builds_on_what_lies_elsewhere_in_the_repository(file: str, tmp_path: Path) -> None:
    files = {**BASE, f"shop/{file}": "resources: [../base]\nnamePrefix: shop-\n"}

    assert await names(tmp_path, files) == ["ConfigMap shop-it"]


async def test_a_deploy_target_may_have_a_directory_of_its_own(tmp_path: Path) -> None:
    files = {**BASE, "shop/tokyo/kustomization.yaml": "resources: [../../base]\nnameSuffix: -tokyo\n"}

    assert await names(tmp_path, files, at="tokyo") == ["ConfigMap it-tokyo"]


async def test_options_reach_kustomize(tmp_path: Path) -> None:
    generator = (
        "configMapGenerator: [{name: made, files: [n=../base/config.yaml], options: {disableNameSuffixHash: true}}]\n"
    )
    files = {**BASE, "shop/kustomization.yaml": generator}
    wanted = KubernetesInput(kustomize_options={"load-restrictor": "LoadRestrictionsNone"})

    assert await names(tmp_path, files, wanted) == ["ConfigMap made"]


async def test_charts_are_inflated_in_a_copy(tmp_path: Path) -> None:
    inflating = "helmGlobals: {chartHome: charts}\nhelmCharts: [{name: web, releaseName: shop}]\n"
    files = {**a_chart("shop/charts/web"), "shop/kustomization.yaml": inflating}

    found = await names(tmp_path, files, KubernetesInput(kustomize_options={"enable-helm": ""}))

    # Kustomize makes plain objects of hooks, and what it makes is applied.
    assert {"Deployment shop", "Job migrate"} <= set(found)


@pytest.mark.parametrize(
    ("kustomization", "said"),
    [
        pytest.param("resources: [../../outside]\n", "names '../../outside', which leaves the repository", id="base"),
        pytest.param("resources: [/etc/hostname]\n", "names '/etc/hostname', which leaves", id="from the root"),
        pytest.param(
            "configMapGenerator: [{name: a, files: [x=/etc/hostname]}]\n", "'/etc/hostname'", id="a named file"
        ),
        pytest.param("configMapGenerator: [{name: a, envs: [link/x]}]\n", "names 'link/x', which leaves", id="a link"),
        pytest.param("generators: [gen.yaml]\n", "shop/kustomization.yaml names '/etc/passwd'", id="by a generator"),
        pytest.param(
            "resources: ['git::file:///srv/x//base']\n", "which is on the agent's machine", id="a local remote"
        ),
        pytest.param(
            "generators:\n- |\n  kind: ConfigMapGenerator\n  files: [a=/etc/passwd]\n",
            "'/etc/passwd'",
            id="written out",
        ),
        pytest.param(
            "transformers: ['{kind: ConfigMapGenerator, files: [/etc/passwd]}']\n", "'/etc/passwd'", id="in one line"
        ),
        pytest.param("generators: [gen]\n", "gen/kustomization.yaml names '/etc/passwd'", id="by a directory of them"),
        pytest.param("generators: ['{kind: ['\n", "shop/kustomization.yaml", id="what nobody can read"),
        pytest.param("helmGlobals: {configHome: /root}\n", "'/root', which leaves", id="a home for helm"),
        pytest.param("resources: [nothing.yaml]\n", "kustomize build of shop failed", id="nothing there"),
        pytest.param("resources: [\n", "shop/kustomization.yaml:2:1: error:", id="no YAML"),
    ],
)
async def test_what_cannot_be_built_is_told(kustomization: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    generator = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [/etc/passwd]\n"
    again = {"shop/gen/kustomization.yaml": "resources: [made.yaml]\n", "shop/gen/made.yaml": generator}
    files = a_repository(tmp_path, {"shop/kustomization.yaml": kustomization, "shop/gen.yaml": generator, **again})
    if "link" in kustomization:
        (files.application_directory / "link").symlink_to(tmp_path / "outside")

    with pytest.raises(FairwayError) as error:
        await manifests_of(tmp_path).load(files, KubernetesInput(), application_name="shop")

    assert said in str(error.value)


@pytest.mark.parametrize("option", ["enable-exec", "output", "helm-command", "enable_alpha_plugins", "x y"])
async def test_an_option_that_reaches_for_the_agent_is_refused(option: str, tmp_path: Path) -> None:
    files = {**BASE, "shop/kustomization.yaml": "resources: [../base]\n"}

    with pytest.raises(FairwayError, match="which is refused"):
        await names(tmp_path, files, KubernetesInput(kustomize_options={option: ""}))


@pytest.mark.parametrize(
    "kustomization",
    [
        pytest.param("generators: [gen.yaml]\n", id="a file"),
        pytest.param("generators: ['{kind: ConfigMapGenerator, name: a}']\n", id="written out"),
        pytest.param("resources: ['https://example.com/base.git']\n", id="from elsewhere"),
    ],
)
@pytest.mark.parametrize("option", ["load-restrictor", "load_restrictor"])
async def test_who_may_read_anything_is_told_what_by_nobody_who_cannot_be_read_beforehand(
    option: str, kustomization: str, tmp_path: Path
) -> None:
    files = {**BASE, "shop/kustomization.yaml": kustomization, "shop/gen.yaml": BASE["base/config.yaml"]}

    with pytest.raises(FairwayError, match="could read anything on the agent's machine"):
        await names(tmp_path, files, KubernetesInput(kustomize_options={option: "LoadRestrictionsNone"}))


async def test_generators_that_are_written_out_are_built(tmp_path: Path) -> None:
    generator = "apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: made}\n  files: [config.yaml]\n"
    files = {"shop/kustomization.yaml": f"generators:\n- |-\n  {generator}", "shop/config.yaml": "a: b\n"}

    (made,) = await names(tmp_path, files)

    assert made.startswith("ConfigMap made-")
