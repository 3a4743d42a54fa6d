"""Charts and bases from a real Git host, a real chart repository and a real registry, none of them for everybody."""

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from fairway.config.platforms import HelmChart, KubernetesInput
from fairway.errors import FairwayError
from fairway.kube.manifest import Manifest
from tests.cluster.charts import CHART, a_chart, a_repository, manifests_of, packed, tools_on_path
from tests.clusters.programs import program
from tests.patience import PATIENCE_SECONDS
from tests.peers.gitea import USER, Gitea, Hosted, SshKeys

__all__ = ["tools_on_path"]
pytestmark = pytest.mark.usefixtures("tools_on_path")

BASE = {
    "base/kustomization.yaml": "resources: [config.yaml]\n",
    "base/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: it}\n",
}
WRONG = "not-the-password"


@pytest.fixture(scope="module")
def hosted(gitea: Gitea) -> Hosted:
    return gitea.repository({**BASE, **a_chart("charts/web")})


@pytest.fixture
def key(gitea: Gitea, tmp_path: Path) -> Path:
    keys = SshKeys.new()
    gitea.allow(keys)
    return keys.write(tmp_path / "key")


def known(hosted: Hosted, way: str, key: Path, password: str) -> dict[str, Any]:
    """What an agent's file says of the remote."""
    if way == "ssh":
        return {"type": "GIT", "gitRemote": hosted.ssh, "sshKeyFile": str(key)}
    return {"type": "GIT", "gitRemote": hosted.http, "username": USER, "password": password}


async def load(
    folder: Path, wanted: KubernetesInput, files: dict[str, str] | None = None, **config: Any
) -> tuple[Manifest, ...]:
    repository = a_repository(folder, files or {})
    return await manifests_of(folder, config).load(repository, wanted, application_name="shop")


def kustomization(hosted: Hosted, way: str) -> dict[str, str]:
    return {"shop/kustomization.yaml": f"resources: ['{getattr(hosted, way)}//base?ref=main']\nnamePrefix: shop-\n"}


@pytest.mark.parametrize("way", ["http", "ssh"])
async def test_a_base_in_a_private_repository(
    gitea: Gitea, hosted: Hosted, key: Path, tmp_path: Path, way: str
) -> None:
    remotes = [known(hosted, way, key, gitea.token)]

    (loaded,) = await load(tmp_path, KubernetesInput(), kustomization(hosted, way), chartRepositories=remotes)

    assert (loaded.kind, loaded.name) == ("ConfigMap", "shop-it")


@pytest.mark.parametrize("way", ["http", "ssh"])
async def test_a_base_that_the_agent_has_no_key_for_is_not_had(
    gitea: Gitea, hosted: Hosted, key: Path, tmp_path: Path, way: str
) -> None:
    other = gitea.repository(BASE)
    remotes = [known(other, way, key, gitea.token)]

    with pytest.raises(FairwayError, match="kustomize build of shop failed") as refused:
        await load(tmp_path, KubernetesInput(), kustomization(hosted, way), chartRepositories=remotes)

    assert gitea.token not in str(refused.value)


@pytest.mark.parametrize("way", ["http", "ssh"])
async def test_a_chart_in_a_private_repository(
    gitea: Gitea, hosted: Hosted, key: Path, tmp_path: Path, way: str
) -> None:
    chart = HelmChart(git_remote=getattr(hosted, way), ref="main", path="charts/web")
    remotes = [known(hosted, way, key, gitea.token)]

    loaded = await load(tmp_path, KubernetesInput(helm_chart=chart), chartRepositories=remotes)

    assert [each.kind for each in loaded] == ["CustomResourceDefinition", "Deployment"]


async def test_a_chart_is_not_had_with_a_wrong_password(hosted: Hosted, tmp_path: Path) -> None:
    chart = HelmChart(git_remote=hosted.http, path="charts/web")
    remotes = [known(hosted, "http", tmp_path, WRONG)]

    with pytest.raises(FairwayError, match="the remote refused the login") as refused:
        await load(tmp_path, KubernetesInput(helm_chart=chart), chartRepositories=remotes)

    assert WRONG not in str(refused.value)


@pytest.fixture(scope="module")
def archive(gitea: Gitea) -> Path:
    """The chart as a file, which the chart repository and the registry of the host have."""
    file = gitea.folder / "web-1.2.3.tgz"
    file.write_bytes(packed(CHART))
    places = f"{gitea.url}/api/packages/{USER}/helm/api/charts"
    put = httpx.post(
        places, content=file.read_bytes(), auth=(USER, gitea.token), timeout=PATIENCE_SECONDS, trust_env=False
    )
    assert put.is_success, put.text
    auths = gitea.folder / "registry.json"
    auths.write_text(json.dumps({"auths": {gitea.address: {"auth": encoded(f"{USER}:{gitea.token}")}}}))
    command = [str(program("helm")), "push", str(file), f"oci://{gitea.address}/{USER}", "--plain-http"]
    environment = {**os.environ, "HELM_REGISTRY_CONFIG": str(auths), "HOME": str(gitea.folder)}
    pushed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert pushed.returncode == 0, pushed.stderr
    return file


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def of_repository(gitea: Gitea, password: str) -> tuple[HelmChart, dict[str, Any]]:
    address = f"{gitea.url}/api/packages/{USER}/helm"
    entry = {"name": "stable", "address": address, "username": USER, "password": password}
    return HelmChart(repository="stable", name="web", version="1.2.3"), {"chartRepositories": [entry]}


def of_registry(gitea: Gitea, password: str) -> tuple[HelmChart, dict[str, Any]]:
    chart = HelmChart(repository=f"oci://{gitea.address}/{USER}", name="web", version="1.2.3")
    return chart, {"chartRegistries": [{"address": gitea.url, "username": USER, "password": password}]}


@pytest.mark.parametrize("place", [of_repository, of_registry])
@pytest.mark.usefixtures("archive")
async def test_a_chart_of_a_place_for_those_with_a_password(gitea: Gitea, tmp_path: Path, place: Any) -> None:
    chart, config = place(gitea, gitea.token)

    loaded = await load(tmp_path, KubernetesInput(helm_chart=chart), **config)

    assert [each.kind for each in loaded] == ["CustomResourceDefinition", "Deployment"]


@pytest.mark.parametrize("place", [of_repository, of_registry])
@pytest.mark.usefixtures("archive")
async def test_a_chart_of_a_place_that_knows_another_password(gitea: Gitea, tmp_path: Path, place: Any) -> None:
    chart, config = place(gitea, WRONG)

    with pytest.raises(FairwayError, match=r"401|[Uu]nauthorized|denied") as refused:
        await load(tmp_path, KubernetesInput(helm_chart=chart), **config)

    assert WRONG not in str(refused.value)
