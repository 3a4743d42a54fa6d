"""What the pods of a canary cannot do without."""

from typing import Any

import pytest

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.shaping.needed import needed
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, an_object

RBAC = "rbac.authorization.k8s.io/v1"


def in_shop(api_version: str, kind: str, name: str, **rest: Any) -> Manifest:
    return an_object(api_version, kind, name, namespace="shop", **rest)


def a_binding(name: str, account: str, role: str, namespace: str = "shop") -> Manifest:
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": namespace}]
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}
    return in_shop(RBAC, "RoleBinding", name, subjects=subjects, roleRef=ref)


def names(found: tuple[Manifest, ...]) -> list[str]:
    return [str(each.key) for each in found]


@pytest.mark.parametrize(
    ("pod", "manifest"),
    [
        pytest.param({"serviceAccountName": "web"}, in_shop("v1", "ServiceAccount", "web"), id="an account"),
        pytest.param({"serviceAccount": "web"}, in_shop("v1", "ServiceAccount", "web"), id="by its older name"),
        pytest.param(
            {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
            in_shop("v1", "PersistentVolumeClaim", "data"),
            id="a claim",
        ),
        pytest.param(
            {"priorityClassName": "high"}, an_object("scheduling.k8s.io/v1", "PriorityClass", "high"), id="a priority"
        ),
        pytest.param(
            {"runtimeClassName": "gvisor"}, an_object("node.k8s.io/v1", "RuntimeClass", "gvisor"), id="a runtime"
        ),
        pytest.param(
            {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]},
            in_shop("resource.k8s.io/v1", "ResourceClaimTemplate", "gpu"),
            id="a device",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "csi": {"volumeAttributes": {"secretProviderClass": "vault"}}}]},
            in_shop("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass", "vault"),
            id="where a driver has secrets from",
        ),
        pytest.param({}, an_object("v1", "Namespace", "shop"), id="a namespace"),
    ],
)
def test_what_pods_name_is_needed_and_nothing_else(pod: dict[str, Any], manifest: Manifest) -> None:
    copy = a_deployment("web-canary", namespace="shop", **pod)
    others = (in_shop("v1", "ServiceAccount", "other"), in_shop("v1", "PersistentVolumeClaim", "web"), a_config_map())

    assert needed([copy], [*others, manifest]) == (manifest,)


def test_what_an_account_may_and_pulls_with_comes_along() -> None:
    account = in_shop("v1", "ServiceAccount", "web", imagePullSecrets=[{"name": "registry"}])
    manifests = [
        in_shop("v1", "Secret", "registry"),
        in_shop("v1", "Secret", "other"),
        account,
        in_shop(RBAC, "Role", "reads"),
        in_shop(RBAC, "Role", "writes"),
        a_binding("web-reads", "web", "reads"),
        a_binding("other-writes", "other", "writes"),
        a_binding("web-elsewhere-writes", "web", "writes", namespace="elsewhere"),
    ]
    copy = a_deployment("web-canary", namespace="shop", serviceAccountName="web")

    assert names(needed([copy], manifests)) == [
        "Secret shop/registry",
        "ServiceAccount shop/web",
        "Role shop/reads",
        "RoleBinding shop/web-reads",
    ]


def test_what_the_account_may_that_is_always_there_comes_along() -> None:
    manifests = [in_shop(RBAC, "Role", "reads"), a_binding("reads", "default", "reads")]

    assert needed([a_deployment("web-canary", namespace="shop")], manifests) == tuple(manifests)


def test_a_claim_comes_with_its_volume_and_class() -> None:
    claim = in_shop("v1", "PersistentVolumeClaim", "data", spec={"volumeName": "disk", "storageClassName": "fast"})
    manifests = [
        an_object("storage.k8s.io/v1", "StorageClass", "fast"),
        an_object("v1", "PersistentVolume", "disk"),
        claim,
    ]
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}

    assert needed([a_deployment(namespace="shop", volumes=[volume])], manifests) == tuple(manifests)
