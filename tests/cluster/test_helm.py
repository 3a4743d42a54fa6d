"""Charts, rendered by the real helm: from the repository itself, chart repositories, registries and Git remotes."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest

from fairway.config.platforms import HelmChart, HelmOptions, KubernetesInput
from fairway.errors import FairwayError
from fairway.kube.manifest import Manifest
from tests.cluster.charts import a_chart, a_remote, a_repository, manifests_of, served, tools_on_path
from tests.ports import a_free_port

__all__ = ["tools_on_path"]
pytestmark = pytest.mark.usefixtures("tools_on_path")

LOCAL = HelmChart(path="../charts/web")


def an_input(chart: HelmChart = LOCAL, namespace: str = "", **options: Any) -> KubernetesInput:
    return KubernetesInput(helm_chart=chart, helm_options=HelmOptions(**options), namespace=namespace)


async def load(root: Path, wanted: KubernetesInput, files: dict[str, str] | None = None, **config: Any) -> Any:
    repository = a_repository(root, a_chart("charts/web") if files is None else files)
    return await manifests_of(root, config).load(repository, wanted, application_name="shop")


def spec_of(manifests: tuple[Manifest, ...]) -> Any:
    return next(each.body["spec"] for each in manifests if each.kind == "Deployment")


async def refusal(root: Path, wanted: KubernetesInput, files: dict[str, str] | None = None, **config: Any) -> str:
    with pytest.raises(FairwayError) as error:
        await load(root, wanted, files, **config)
    return str(error.value)


async def test_a_chart_of_the_repository_with_all_that_can_be_told(tmp_path: Path) -> None:
    files = {**a_chart("charts/web"), "shop/values.yaml": "replicas: 3\n", "shared/note.txt": "from a file"}
    wanted = an_input(
        namespace="store", release_name="other", value_files=("values.yaml",), set_files={"note": "../shared/note.txt"}
    )

    crd, deployment = await load(tmp_path, wanted, files)

    assert (crd.kind, crd.namespace) == ("CustomResourceDefinition", "")
    assert deployment.body["metadata"] == {"name": "other", "namespace": "store"}
    assert deployment.body["spec"] == {"replicas": 3, "note": "from a file"}
    assert str(deployment.where) == "web/templates/deployment.yaml (helm template)"


async def test_the_release_has_the_name_of_the_application_and_values_can_be_set(tmp_path: Path) -> None:
    loaded = await load(tmp_path, an_input(set_values={"replicas": "4", "note": "x=y"}))

    assert spec_of(loaded) == {"replicas": 4, "note": "x=y"}
    assert loaded[-1].name == "shop"


async def test_hooks_are_told_of_and_not_run(tmp_path: Path) -> None:
    """Defect 29: PipeCD passes over them in silence."""
    nameless = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-, annotations: {helm.sh/hook: post-install}}\n"
    files = a_repository(tmp_path, a_chart("charts/web", **{"templates/nameless.yaml": nameless}))

    rendering = await manifests_of(tmp_path).render(files, an_input(), application_name="shop")

    assert [each.kind for each in rendering.manifests] == ["CustomResourceDefinition", "Deployment"]
    assert sorted(rendering.notes) == [
        "the chart's hook Job migrate (pre-install) is not run; a SCRIPT_RUN stage can do its work",
        "the chart's hook Pod x- (post-install) is not run; a SCRIPT_RUN stage can do its work",
    ]


async def test_a_chart_whose_output_is_no_manifest_is_told_with_the_line_of_the_output(tmp_path: Path) -> None:
    files = a_chart("charts/web", **{"templates/bad.yaml": "apiVersion: v1\nkind: Service\nmetadata: {}\n"})

    said = await refusal(tmp_path, an_input(), files)

    assert "helm template, its output:" in said
    assert "metadata: name is missing; expected the name of the object; it comes from web/templates/bad.yaml" in said


async def test_what_helm_says_of_a_broken_chart_is_told(tmp_path: Path) -> None:
    files = a_chart("charts/web", **{"templates/bad.yaml": "a: {{ .Values.missing.deep }}\n"})

    assert "helm template for shop failed" in (said := await refusal(tmp_path, an_input(), files))
    assert "nil pointer evaluating" in said


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        pytest.param(
            an_input(HelmChart(path="../../outside")), "helmChart.path is '../../outside', which leaves", id="chart"
        ),
        # Defect 25: a directory whose name only begins as the application's does.
        pytest.param(an_input(value_files=("../../outside/v.yaml",)), "valueFiles[0] is", id="values"),
        pytest.param(an_input(value_files=("link/v.yaml",)), "which leaves the repository", id="values through a link"),
        pytest.param(
            an_input(set_files={"note": "/etc/hostname"}), "setFiles.note is '/etc/hostname', which leaves", id="set"
        ),
        pytest.param(an_input(value_files=("file:///etc/hostname",)), "expected a path, or an address", id="scheme"),
        pytest.param(an_input(HelmChart()), "input.helmChart says of no chart", id="no chart"),
        pytest.param(
            an_input(HelmChart(repository="stabel", name="web")), "did you mean 'stable'?", id="no repository"
        ),
        pytest.param(an_input(HelmChart(repository="stable")), "but no chart; set its name", id="no name"),
        pytest.param(
            an_input(HelmChart(repository="stable", name="../../outside")), "expected the name of a chart", id="name"
        ),
        pytest.param(an_input(release_name="No Such"), "set input.helmOptions.releaseName", id="release"),
        pytest.param(an_input(HelmChart(git_remote="/tmp/x")), "a directory of the agent's machine", id="local remote"),
    ],
)
async def test_what_cannot_be_meant_is_refused(wanted: KubernetesInput, said: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "v.yaml").write_text("replicas: 9\n")
    files = a_repository(tmp_path, a_chart("charts/web"))
    (files.application_directory / "link").symlink_to(tmp_path / "outside")
    config = {"chartRepositories": [{"name": "stable", "address": "http://127.0.0.1:1"}]}

    with pytest.raises(FairwayError) as error:
        await manifests_of(tmp_path, config).load(files, wanted, application_name="shop")

    assert said in str(error.value)


async def test_a_link_in_a_chart_that_leaves_the_repository_is_refused(tmp_path: Path) -> None:
    files = a_repository(tmp_path, a_chart("charts/web"))
    (tmp_path / "repository/charts/web/secret").symlink_to("/etc/hostname")

    with pytest.raises(FairwayError, match="charts/web/secret is a symbolic link that leaves the repository"):
        await manifests_of(tmp_path).load(files, an_input(), application_name="shop")


async def test_dependencies_are_fetched_without_a_change_of_the_files(tmp_path: Path) -> None:
    parent = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n"
    parent += "- {name: part, version: 0.1.0, repository: file://../part}\n"
    part = {"Chart.yaml": "apiVersion: v2\nname: part\nversion: 0.1.0\n"}
    part["templates/a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: part}\n"
    files = a_chart("charts/web", **{"Chart.yaml": parent}) | {f"charts/part/{k}": v for k, v in part.items()}

    loaded = await load(tmp_path, an_input(), files)

    assert "part" in {each.name for each in loaded}
    assert not (tmp_path / "repository/charts/web/charts").exists()
    assert not (tmp_path / "repository/charts/web/Chart.lock").exists()


async def test_the_same_chart_is_rendered_once_and_a_changed_one_again(tmp_path: Path) -> None:
    files = a_repository(tmp_path, a_chart("charts/web"))
    manifests = manifests_of(tmp_path)

    first = await manifests.load(files, an_input(), application_name="shop")
    again = await manifests.load(files, an_input(), application_name="shop")
    (tmp_path / "repository/charts/web/values.yaml").write_text("replicas: 7\nnote: x\n")
    changed = await manifests.load(files, an_input(), application_name="shop")

    assert again[0] is first[0]
    assert spec_of(changed)["replicas"] == 7


async def test_a_chart_of_a_repository_with_a_password(tmp_path: Path) -> None:
    """Defect 32: the password is in a private file, not among the arguments."""
    with served() as pages:
        pages.put_repository("1.0.0", "1.2.3")
        pages.authorization = f"Basic {base64.b64encode(b'ann:s3cret').decode()}"
        entry = {"name": "stable", "address": f"http://{pages.address}", "username": "ann", "password": "s3cret"}
        wanted = an_input(HelmChart(repository="stable", name="web", version="1.0.0"))

        # What only looks like the chart is in the way.
        loaded = await load(tmp_path, wanted, {"shop/stable/web/Chart.yaml": ""}, chartRepositories=[entry])

    assert spec_of(loaded)["replicas"] == 1
    assert pages.asked == ["/index.yaml", "/web-1.0.0.tgz"]
    assert "s3cret" not in (tmp_path / "bin/told").read_text()
    private = tmp_path / "state/helm/config/repositories.yaml"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


async def test_a_version_that_is_newer_than_the_index_is_found(tmp_path: Path) -> None:
    files = a_repository(tmp_path, {})
    with served() as pages:
        pages.put_repository("1.0.0")
        manifests = manifests_of(
            tmp_path, {"chartRepositories": [{"name": "stable", "address": f"http://{pages.address}"}]}
        )
        old = an_input(HelmChart(repository="stable", name="web", version="1.0.0"))
        await manifests.load(files, old, application_name="shop")
        pages.put_repository("1.0.0", "2.0.0")
        new = an_input(HelmChart(repository="stable", name="web", version="2.0.0"))

        loaded = await manifests.load(files, new, application_name="shop")

    assert loaded[-1].kind == "Deployment"


async def test_a_chart_of_a_registry_with_a_password(tmp_path: Path) -> None:
    with served() as pages:
        pages.put_registry("1.2.3")
        pages.authorization = f"Basic {base64.b64encode(b'ann:s3cret').decode()}"
        registry = {"address": f"http://{pages.address}", "username": "ann", "password": "s3cret"}
        wanted = an_input(HelmChart(repository=f"oci://{pages.address}/charts", name="web", version="1.2.3"))

        loaded = await load(tmp_path, wanted, {}, chartRegistries=[registry])

    assert spec_of(loaded)["replicas"] == 1


async def test_a_repository_that_is_away_is_passing_trouble_without_its_password(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{a_free_port()}"
    entry = {"name": "stable", "address": address, "username": "ann", "password": "s3cret"}
    wanted = an_input(HelmChart(repository="stable", name="web", version="1.0.0"))

    with pytest.raises(FairwayError) as error:
        await load(tmp_path, wanted, {}, chartRepositories=[entry])

    assert error.value.retry
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("ref", ["main", "v1", ""])
async def test_a_chart_of_a_git_remote(ref: str, tmp_path: Path) -> None:
    remote = a_remote(tmp_path / "remote")
    wanted = an_input(HelmChart(git_remote=remote, ref=ref, path="deep"))

    loaded = await load(tmp_path, wanted, {}, chartRepositories=[{"type": "GIT", "gitRemote": remote}])

    assert spec_of(loaded)["replicas"] == 1
