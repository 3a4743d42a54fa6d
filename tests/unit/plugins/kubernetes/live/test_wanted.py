"""Which objects of an application are there only for a while, or beside those in Git."""

import msgspec
import pytest

from fairway.config.read import read_application
from fairway.kube.kinds import Kind
from fairway.plugins.kubernetes.live.objects import Seen, keeper
from fairway.plugins.kubernetes.live.wanted import Variants, is_passing
from fairway.plugins.kubernetes.settings import ApplicationSettings

SERVICES = Kind(group="", version="v1", kind="Service", plural="services", namespaced=True)
DEPLOYMENTS = Kind(group="apps", version="v1", kind="Deployment", plural="deployments", namespaced=True)
FILE = """
apiVersion: pipecd.dev/v1beta1
kind: KubernetesApp
spec:
  pipeline:
    stages:
      - name: K8S_PRIMARY_ROLLOUT
        with: {createService: true}
"""


def seen(name: str, variant: str, commit: str = "new", kind: Kind = SERVICES) -> Seen:
    marks = {
        "pipecd.dev/managed-by": "piped",
        "pipecd.dev/application": "app",
        "pipecd.dev/variant": variant,
        "pipecd.dev/commit-hash": commit,
    }
    found = keeper(kind)(msgspec.json.encode({"metadata": {"name": name, "uid": name, "annotations": marks}}))
    assert found is not None
    return found


def variants(under_way: bool | None, *roots: Seen) -> Variants:
    config = read_application(FILE.encode(), "app.pipecd.yaml")
    settings = ApplicationSettings(config.plugins["kubernetes"], config)
    return Variants(settings=settings, services=frozenset({"web"}), roots=roots, under_way=under_way)


@pytest.mark.parametrize(
    ("variant", "under_way", "passing"),
    [
        pytest.param("canary", True, True, id="a canary of the deployment"),
        pytest.param("canary", False, False, id="a canary that was left"),
        pytest.param("baseline", True, True, id="a baseline"),
        pytest.param("primary", True, False, id="the primary"),
        pytest.param("", True, False, id="of no variant"),
    ],
)
def test_variants_are_there_while_a_deployment_is_under_way(variant: str, under_way: bool, passing: bool) -> None:
    assert is_passing(seen("other", variant), variants(under_way)) is passing


@pytest.mark.parametrize(
    ("primary_commit", "passing"),
    [
        pytest.param("old", True, id="the primary is of another commit"),
        pytest.param("new", False, id="the primary has followed"),
    ],
)
def test_where_nobody_says_whether_a_deployment_is_under_way_commits_tell(primary_commit: str, passing: bool) -> None:
    brought = seen("web", "primary", "new")
    among = variants(None, brought, seen("web", "primary", primary_commit, DEPLOYMENTS))

    assert is_passing(seen("web-canary", "canary", "new"), among) is passing


def test_the_service_that_the_primary_gets_beside_the_one_in_git_is_no_orphan() -> None:
    among = variants(False)

    found = [is_passing(seen(name, "primary"), among) for name in ("web-primary", "web", "old-primary")]

    assert found == [True, False, False]
