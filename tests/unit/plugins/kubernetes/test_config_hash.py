"""The hash of what a workload is configured with: the same as PipeCD's for the same manifests."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.config_hash import CONFIG_HASH, hash_of, with_config_hash
from fairway.plugins.kubernetes.parts import part
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, a_service, an_object, manifests


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "{apiVersion: v1, kind: ConfigMap, data: {}, binaryData: {}}", "42745tchd9", id="an empty ConfigMap"
        ),
        pytest.param("{apiVersion: v1, kind: ConfigMap, data: {one: ''}}", "9g67k2htb6", id="one empty entry"),
        pytest.param(
            "{apiVersion: v1, kind: ConfigMap, data: {two: '2', one: '', three: '3'}}", "f5h7t85m9b", id="in any order"
        ),
        pytest.param("{apiVersion: v1, kind: Secret, type: my-type, data: {}}", "t75bgf6ctb", id="an empty Secret"),
        pytest.param(
            "{apiVersion: v1, kind: Secret, type: my-type, data: {two: Mg==, one: '', three: Mw==}}",
            "dgcb6h9tmk",
            id="a Secret in any order",
        ),
        pytest.param(
            "{apiVersion: v1, kind: ConfigMap, data: {two: '2', three: '3'}}\n---\n"
            "{apiVersion: v1, kind: Secret, type: my-type, data: {one: '', three: Mw==}}",
            "57hhd7795k",
            id="several",
        ),
    ],
)
def test_the_hash_is_what_pipecd_computes(text: str, expected: str) -> None:
    assert hash_of(manifests(text)) == expected


def test_go_escapes_count_as_go_writes_them() -> None:
    # As by Go: json.Marshal of data {"a": "<&>\u2028"}, kind, name; SHA-256; the first ten digits.
    escaped = hash_of([an_object("v1", "ConfigMap", "m", data={"a": "<&>\u2028é"})])

    text = '{"data":{"a":"\\u003c\\u0026\\u003e\\u2028é"},"kind":"ConfigMap","name":"m"}'
    digits = hashlib.sha256(text.encode()).hexdigest()[:10]
    assert escaped == digits.translate(str.maketrans("013ae", "ghkmt"))


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param({"volumes": [{"name": "v", "configMap": {"name": "settings"}}]}, id="volume"),
        pytest.param({"container": {"envFrom": [{"configMapRef": {"name": "settings"}}]}}, id="envFrom"),
        pytest.param(
            {"container": {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}]}},
            id="env",
        ),
        pytest.param(
            {"initContainers": [{"name": "i", "envFrom": [{"configMapRef": {"name": "settings"}}]}]},
            id="init container",
        ),
    ],
)
def test_a_workload_gets_the_hash_of_what_it_uses(pod: dict[str, Any]) -> None:
    config = a_config_map(a="1")

    made = with_config_hash([config, a_config_map("unused"), a_deployment(**pod)])

    assert part(made[2].body, "spec", "template", "metadata", "annotations") == {CONFIG_HASH: hash_of([config])}


def test_nothing_is_written_where_nothing_of_the_manifests_is_used() -> None:
    given_manifests = (
        a_config_map(),
        a_service(),
        a_deployment(container={"envFrom": [{"configMapRef": {"name": "x"}}]}),
    )

    assert with_config_hash(given_manifests) == given_manifests


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=4))
def test_another_configuration_has_another_hash_and_the_same_has_the_same(data: dict[str, str]) -> None:
    one = Manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data})
    again = Manifest(
        {"kind": "ConfigMap", "metadata": {"name": "m"}, "data": dict(reversed(data.items())), "apiVersion": "v1"}
    )
    other = Manifest({**one.body, "data": {**data, "another": "entry"}})

    assert hash_of([one]) == hash_of([again]) != hash_of([other])
