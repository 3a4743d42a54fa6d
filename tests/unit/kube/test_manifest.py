import pytest

from fairway.kube.manifest import Key, Manifest, Where, key_of


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}},
            Key("apps", "Deployment", "shop", "web"),
            id="a group",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
            Key("", "Namespace", "", "shop"),
            id="the core group, no namespace",
        ),
        pytest.param({"apiVersion": "v1", "kind": "Namespace"}, Key("", "Namespace", "", ""), id="no name"),
    ],
)
def test_an_object_is_known_by_group_kind_namespace_and_name(body: dict[str, object], expected: Key) -> None:
    assert key_of(body) == expected
    assert Manifest(body).key == expected


def test_a_key_and_a_place_read_as_people_say_them() -> None:
    assert str(Key("apps", "Deployment", "shop", "web")) == "Deployment shop/web"
    assert str(Key("", "Namespace", "", "shop")) == "Namespace shop"
    assert str(Where("shop/web.yaml", 12)) == "shop/web.yaml:12"
    assert str(Where("kustomize build")) == "kustomize build"


def test_metadata_that_is_missing_is_empty() -> None:
    bare = Manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": None}})

    assert (bare.namespace, bare.annotations, bare.labels) == ("", {}, {})
