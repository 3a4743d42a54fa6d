"""Values that a cluster refuses: told with their place, before anybody asks the cluster."""

import base64
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.manifests.documents import parse_file
from fairway.plugins.kubernetes.manifests.values import wrong_values

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
POD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n"


def problems(text: str) -> list[str]:
    return [str(each) for each in parse_file(text.encode(), "web.yaml").problems]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            f"{CONFIG}data:\n  a: 08\n",
            'web.yaml:5:6: error: data.a: found the number 8.0, expected a text; put it in quotes: "08"',
            id="a number in a ConfigMap",
        ),
        pytest.param(
            f"{CONFIG}data:\n  a: yes\n",
            'web.yaml:5:6: error: data.a: found true, expected a text; put it in quotes: "yes"',
            id="a word that means true",
        ),
        pytest.param(
            f"{CONFIG}data: [a]\n", "web.yaml:4:7: error: data: found a list, expected a mapping of texts", id="a list"
        ),
        pytest.param(
            f"{CONFIG}binaryData:\n  a: a text\n",
            "web.yaml:5:6: error: binaryData.a: is not base64; put texts that are not encoded into data",
            id="a text for bytes",
        ),
        pytest.param(
            f"{SECRET}data:\n  a: hunter2!\n",
            "web.yaml:5:6: error: data.a: is not base64; put texts that are not encoded into stringData",
            id="a text in a Secret",
        ),
        pytest.param(
            f"{SECRET}stringData:\n  a: 4711\n",
            "web.yaml:5:6: error: stringData.a: found a number, expected a text",
            id="a number in a Secret",
        ),
        pytest.param(
            f"{POD}    metadata:\n      labels: {{app: 1}}\n",
            "web.yaml:7:21: error: spec.template.metadata.labels.app: found the number 1, expected a text; "
            'put it in quotes: "1"',
            id="a number for a label of pods",
        ),
        pytest.param(
            f"{POD}    spec:\n      containers:\n      - env: [{{name: A, value: true}}]\n",
            "web.yaml:8:32: error: spec.template.spec.containers[0].env[0].value: found true, expected a text; "
            'put it in quotes: "true"',
            id="a value in the environment",
        ),
        pytest.param(
            f"{POD}    spec:\n      initContainers:\n      - resources: {{limits: {{memory: 12Megs}}}}\n",
            "web.yaml:8:38: error: spec.template.spec.initContainers[0].resources.limits.memory: "
            'found "12Megs", expected a quantity such as "500m" or "128Mi"',
            id="no quantity",
        ),
        pytest.param(
            f"{POD}    spec:\n      containers:\n      - resources: {{requests: {{cpu: true}}}}\n",
            "web.yaml:8:37: error: spec.template.spec.containers[0].resources.requests.cpu: "
            'found true, expected a quantity such as "500m" or "128Mi"',
            id="neither a text nor a number",
        ),
        pytest.param(
            f"{POD}    spec:\n      volumes:\n      - {{name: a, emptyDir: {{sizeLimit: 1 GB}}}}\n",
            "web.yaml:8:41: error: spec.template.spec.volumes[0].emptyDir.sizeLimit: "
            'found "1 GB", expected a quantity such as "500m" or "128Mi"',
            id="no size of a volume",
        ),
        pytest.param(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec:\n  volumeClaimTemplates:\n"
            "  - spec: {resources: {requests: {storage: 1GB}}}\n",
            "web.yaml:6:44: error: spec.volumeClaimTemplates[0].spec.resources.requests.storage: "
            'found "1GB", expected a quantity such as "500m" or "128Mi"',
            id="no size of a claim",
        ),
        pytest.param(
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec:\n  hard: {pods: 3, cpu: many}\n",
            'web.yaml:5:24: error: spec.hard.cpu: found "many", expected a quantity such as "500m" or "128Mi"',
            id="no quota",
        ),
    ],
)
def test_a_value_that_no_cluster_takes_is_told_with_its_place(text: str, said: str) -> None:
    assert problems(text) == [said]


def test_values_of_secrets_are_never_shown() -> None:
    text = (
        f"{SECRET}data:\n  a: hunter2!\n  b: 12345678\n  c: [hunter2]\nstringData: {{a: 47114711, b: {{c: hunter2}}}}\n"
    )

    said = " ".join(problems(text))

    assert said.count("error") == 5
    assert not any(each in said for each in ("hunter2", "12345678", "47114711"))


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
_ANYTHING = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
_KINDS = st.sampled_from([("v1", "ConfigMap"), ("v1", "Secret"), ("apps/v1", "Deployment"), ("batch/v1", "CronJob")])
_FIELDS = st.sampled_from(["data", "stringData", "binaryData", "spec", "template", "metadata", "labels", "containers"])


@given(_KINDS, st.dictionaries(_FIELDS, st.dictionaries(_FIELDS, _ANYTHING, max_size=3) | _ANYTHING, max_size=3))
def test_no_shape_of_an_object_is_too_strange_to_be_looked_at(kind: tuple[str, str], fields: dict[str, Any]) -> None:
    body = {"metadata": {"name": "a"}, **fields, "apiVersion": kind[0], "kind": kind[1]}

    assert all(each.message for each in wrong_values(body))


@given(st.dictionaries(st.text("abc.-_", min_size=1, max_size=4), st.binary(max_size=20), max_size=3), st.booleans())
def test_what_is_right_is_left_alone(data: dict[str, bytes], wrapped: bool) -> None:
    encoded = {key: base64.b64encode(value).decode() + ("\n" if wrapped else "") for key, value in data.items()}
    bodies = [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": encoded, "stringData": encoded},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": encoded, "binaryData": encoded},
    ]

    assert parse_file(yaml.safe_dump_all(bodies).encode(), "a.yaml").problems == []


@pytest.mark.parametrize("quantity", ["1", "500m", "128Mi", "1.5Gi", "12e6", "1E", ".5", "5k", "100n", "+1", 2, 0.5])
def test_quantities_are_left_alone(quantity: object) -> None:
    container = {"resources": {"limits": {"memory": quantity}, "requests": {"memory": quantity}}}
    spec = {"template": {"spec": {"containers": [container]}}}

    assert list(wrong_values({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec})) == []
