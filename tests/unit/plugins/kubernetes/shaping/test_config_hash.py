"""The hash of what a workload is configured with: the same as PipeCD's for the same manifests."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.config_hash import (
    CONFIG_HASH,
    MORE_CONFIG_HASH,
    Started,
    hash_of,
    hashed,
    same_content,
    with_config_hash,
)
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


#: How a pod may use a ConfigMap or Secret of the name `settings`.
USES: dict[str, Any] = {
    "ConfigMap volume": ("ConfigMap", {"volumes": [{"name": "v", "configMap": {"name": "settings"}}]}),
    "ConfigMap envFrom": ("ConfigMap", {"container": {"envFrom": [{"configMapRef": {"name": "settings"}}]}}),
    "Secret volume": ("Secret", {"volumes": [{"name": "v", "secret": {"secretName": "settings"}}]}),
    "Secret of an init container": (
        "Secret",
        {
            "initContainers": [
                {"name": "i", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "settings", "key": "a"}}}]}
            ]
        },
    ),
    "projected ConfigMap": (
        "ConfigMap",
        {"volumes": [{"name": "v", "projected": {"sources": [{"configMap": {"name": "settings"}}]}}]},
    ),
    "projected Secret": (
        "Secret",
        {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "settings"}}]}}]},
    ),
}
_CONTENTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "MQ==", "Mg=="]), max_size=3)


@given(st.sampled_from(sorted(USES)), st.fixed_dictionaries({"data": _CONTENTS, "more": _CONTENTS}), st.booleans())
def test_any_change_of_what_is_used_is_another_hash_and_pipecds_stays_pipecds(
    use: str, contents: dict[str, dict[str, str]], elsewhere: bool
) -> None:
    kind, pod = USES[use]
    field = "stringData" if kind == "Secret" else "binaryData"
    namespace = "shop" if elsewhere else ""
    workload = a_deployment(**pod, namespace=namespace)

    def config(data: dict[str, str], more: dict[str, str]) -> Manifest:
        written: dict[str, Any] = {"data": data, **({field: more} if more else {})}
        return an_object("v1", kind, "settings", namespace=namespace, **written)

    def hashes(data: dict[str, str], more: dict[str, str]) -> dict[str, str]:
        return {key: value for each in hashed([config(data, more), workload]) for key, value in each.hashes.items()}

    found = hashes(contents["data"], contents["more"])
    others = [hashes({**contents["data"], "new": "MQ=="}, contents["more"])]
    others.append(hashes(contents["data"], {**contents["more"], "new": "MQ=="}))

    assert found not in others
    seen_by_pipecd = "projected" not in use
    assert (CONFIG_HASH in found) is seen_by_pipecd
    assert found.get(CONFIG_HASH) == (hash_of([config(**contents)]) if seen_by_pipecd else None)
    assert (MORE_CONFIG_HASH in found) is (not seen_by_pipecd or (kind == "Secret" and bool(contents["more"])))


def test_of_two_of_the_same_name_the_one_in_the_workloads_namespace_counts() -> None:
    def hashes(text: str) -> object:
        here = an_object("v1", "ConfigMap", "settings", namespace="here", data={"a": text})
        elsewhere = an_object("v1", "ConfigMap", "settings", namespace="elsewhere", data={"a": "1"})
        workload = a_deployment(namespace="here", container={"envFrom": [{"configMapRef": {"name": "settings"}}]})
        return hashed([here, elsewhere, workload])[0].hashes

    assert hashes("1") != hashes("2")


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_what_reads_its_configuration_with_each_run_needs_no_hash(kind: str) -> None:
    given_manifests = (a_config_map(), Manifest({**a_deployment(**USES["ConfigMap volume"][1]).body, "kind": kind}))

    assert with_config_hash(given_manifests) == given_manifests


@pytest.mark.parametrize(
    ("started", "in_template"),
    [
        pytest.param(None, True, id="nothing runs"),
        pytest.param(Started(template={CONFIG_HASH: "old"}, noted={}, unchanged=True), True, id="pods know of it"),
        pytest.param(Started(template={}, noted={}, unchanged=True), False, id="others have started just that"),
        pytest.param(Started(template={}, noted={}), True, id="others have started something else"),
        pytest.param(Started(template={}, noted={CONFIG_HASH: "same"}), False, id="still just that"),
        pytest.param(Started(template={}, noted={CONFIG_HASH: "old"}, unchanged=True), True, id="another by now"),
    ],
)
def test_pods_that_others_have_started_roll_with_the_first_change_only(
    started: Started | None, in_template: bool
) -> None:
    config, workload = a_config_map(a="1"), a_deployment(**USES["ConfigMap volume"][1])
    value = hash_of([config])
    if started is not None and started.noted == {CONFIG_HASH: "same"}:
        started = Started(template={}, noted={CONFIG_HASH: value})

    made = with_config_hash([config, workload], {workload.key: started} if started else {})[1].body

    assert (part(made, "spec", "template", "metadata", "annotations") == {CONFIG_HASH: value}) is in_template
    assert (part(made, "metadata", "annotations") == {CONFIG_HASH: value}) is not in_template


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param({"stringData": {"a": "1"}}, {"data": {"a": "MQ=="}}, True, id="texts are what the cluster keeps"),
        pytest.param({"data": {"a": "MQ==\n"}}, {"data": {"a": "MQ=="}}, True, id="line breaks do not count"),
        pytest.param({"data": {"a": "MQ=="}}, {"data": {"a": "Mg=="}}, False, id="another value"),
        pytest.param({}, {"data": {"a": "Mg=="}}, False, id="one more"),
    ],
)
def test_contents_are_compared_in_whichever_form_they_are(
    one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    assert same_content({"kind": "Secret", **one}, {"kind": "Secret", **other}) is same
