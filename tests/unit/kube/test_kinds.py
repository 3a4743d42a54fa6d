"""Kinds: where their objects are found, and which one was meant."""

import pytest

from fairway.kube.kinds import Kind, unknown_kind

CONFIG_MAP = Kind(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)
DEPLOYMENT = Kind(group="apps", version="v1", kind="Deployment", plural="deployments", namespaced=True)
ROLE = Kind(
    group="rbac.authorization.k8s.io", version="v1", kind="ClusterRole", plural="clusterroles", namespaced=False
)


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "path"),
    [
        pytest.param(CONFIG_MAP, "", "", "/api/v1/configmaps", id="all namespaces"),
        pytest.param(CONFIG_MAP, "a", "b", "/api/v1/namespaces/a/configmaps/b", id="one of the core group"),
        pytest.param(DEPLOYMENT, "a", "", "/apis/apps/v1/namespaces/a/deployments", id="one namespace"),
        pytest.param(
            ROLE,
            "a",
            "system:node/x?",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode%2Fx%3F",
            id="of no namespace, with a name that would lead elsewhere",
        ),
    ],
)
def test_objects_have_a_path(kind: Kind, namespace: str, name: str, path: str) -> None:
    assert kind.path(namespace, name) == path


@pytest.mark.parametrize(
    ("api_version", "kind", "hint"),
    [
        pytest.param("apps/v1", "Deploymint", "; did you mean Deployment (apps/v1)?", id="a slip"),
        pytest.param("extensions/v1beta1", "Deployment", "; it serves Deployment in apps/v1", id="another version"),
        pytest.param(
            "example.com/v1",
            "Zzz",
            "; is the CustomResourceDefinition of example.com installed?",
            id="somebody else's",
        ),
        pytest.param("v1", "Zzz", "", id="nothing near"),
    ],
)
def test_an_unknown_kind_says_which_may_be_meant(api_version: str, kind: str, hint: str) -> None:
    error = unknown_kind(api_version, kind, [CONFIG_MAP, DEPLOYMENT, ROLE], "dev")

    assert str(error) == f"The cluster dev has no kind {kind} in {api_version}{hint}"
