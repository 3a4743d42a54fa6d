"""Answers of an API server: each becomes an error that names what is missing, who else is there, or what is wrong."""

import msgspec
import pytest

from fairway.errors import FairwayError
from fairway.kube.errors import (
    AlreadyThere,
    ClusterAway,
    Conflict,
    CredentialsRefused,
    Expired,
    Invalid,
    NotAllowed,
    NotThere,
    WebhookAway,
)
from fairway.kube.statuses import Asked, refusal

ASKED = Asked(cluster="dev", verb="patch", resource="deployments.apps", namespace="shop", name="web")


def a_status(message: str = "no", **fields: object) -> bytes:
    return msgspec.json.encode({"kind": "Status", "apiVersion": "v1", "message": message, **fields})


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        pytest.param(401, a_status("Unauthorized"), CredentialsRefused, id="credentials"),
        pytest.param(403, a_status("exceeded quota"), NotAllowed, id="quota"),
        pytest.param(
            403, a_status('forbidden: User "system:anonymous" cannot get path "/api"'), CredentialsRefused, id="nobody"
        ),
        pytest.param(404, a_status('namespaces "shop" not found'), NotThere, id="namespace"),
        pytest.param(409, a_status(reason="AlreadyExists"), AlreadyThere, id="exists"),
        pytest.param(409, a_status(reason="Conflict"), Conflict, id="changed"),
        pytest.param(410, a_status(reason="Expired"), Expired, id="too old"),
        pytest.param(422, a_status(reason="Invalid"), Invalid, id="invalid"),
        pytest.param(429, a_status(), ClusterAway, id="busy"),
        pytest.param(
            429,
            a_status("storage is (re)initializing: failed to list x: conversion webhook for x failed"),
            WebhookAway,
            id="what nobody converts",
        ),
        pytest.param(500, a_status("etcdserver: request timed out"), ClusterAway, id="fault"),
        pytest.param(500, a_status('failed calling webhook "a.b": connection refused'), WebhookAway, id="webhook"),
        pytest.param(500, a_status("failed to create typed patch object (a/b): .dat: x"), Invalid, id="typed"),
        pytest.param(
            500,
            a_status(
                "failed to convert new object (a/b) to proper version: unable to convert unstructured object to x: y"
            ),
            Invalid,
            id="converted",
        ),
        pytest.param(
            500,
            a_status("failed to convert new object (a/b) to proper version: conversion webhook for x failed"),
            WebhookAway,
            id="who converts is away",
        ),
        pytest.param(502, b"<html>Bad Gateway</html>", ClusterAway, id="a proxy"),
        pytest.param(503, b"\xff\xfe", ClusterAway, id="garbage"),
        pytest.param(302, b"", ClusterAway, id="elsewhere"),
    ],
)
def test_each_answer_has_its_error(code: int, body: bytes, expected: type[FairwayError]) -> None:
    assert type(refusal(code, body, ASKED)) is expected


def test_a_missing_permission_names_verb_resource_and_namespace() -> None:
    said = (
        'deployments.apps "web" is forbidden: User "system:serviceaccount:ci:agent" cannot patch resource '
        '"deployments" in API group "apps" in the namespace "shop"'
    )

    error = refusal(403, a_status(said, reason="Forbidden"), ASKED)

    assert isinstance(error, NotAllowed)
    assert (error.verb, error.resource, error.namespace) == ("patch", "deployments.apps", "shop")
    assert str(error) == (
        "system:serviceaccount:ci:agent is not allowed to patch deployments.apps in namespace shop of the cluster dev; "
        "grant it by a Role"
    )


def test_a_permission_for_the_whole_cluster_asks_for_a_cluster_role() -> None:
    said = 'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope'

    error = refusal(403, a_status(said), ASKED)

    assert str(error) == ("u is not allowed to list pods in all of the cluster dev; grant it by a ClusterRole")


def test_a_permission_for_a_namespace_itself_asks_for_a_cluster_role() -> None:
    """Of namespaces the server says that they were in themselves."""
    said = (
        'namespaces "shop" is forbidden: User "u" cannot patch resource "namespaces" in API group "" '
        'in the namespace "shop"'
    )

    error = refusal(403, a_status(said), ASKED)

    assert isinstance(error, NotAllowed)
    assert (error.resource, error.namespace) == ("namespaces", "")
    assert str(error) == "u is not allowed to patch namespaces in all of the cluster dev; grant it by a ClusterRole"


def test_a_conflict_names_the_other_managers_and_their_fields() -> None:
    causes = [
        {"reason": "FieldManagerConflict", "message": 'conflict with "hpa" using apps/v1', "field": ".spec.replicas"},
        {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": ".spec.paused"},
        {"reason": "FieldManagerConflict", "message": 'conflict with "hpa"', "field": ".spec.minReadySeconds"},
    ]

    error = refusal(409, a_status("Apply failed", reason="Conflict", details={"causes": causes}), ASKED)

    assert isinstance(error, Conflict)
    assert error.managers == ("hpa", "kubectl")
    assert error.fields == (".spec.replicas", ".spec.minReadySeconds", ".spec.paused")
    assert "hpa manages .spec.replicas, .spec.minReadySeconds; kubectl manages .spec.paused" in str(error)


def test_what_is_wrong_with_an_object_as_a_whole_is_told_in_words() -> None:
    causes = [{"field": "[]", "message": "Too long: must have at most 1048576 bytes", "reason": "FieldValueTooLong"}]

    error = refusal(422, a_status("long", reason="Invalid", details={"causes": causes}), ASKED)

    assert str(error) == (
        "The cluster dev does not accept deployments.apps 'web' in namespace shop: "
        "all of it together: Too long: must have at most 1048576 bytes"
    )


def test_what_is_invalid_is_told_field_by_field() -> None:
    causes = [
        {"field": "spec.selector", "message": "Required value", "reason": "FieldValueRequired"},
        {"field": "spec.replicas", "message": "must be greater than or equal to 0", "reason": "FieldValueInvalid"},
    ]

    error = refusal(422, a_status("long", reason="Invalid", details={"causes": causes}), ASKED)

    assert str(error) == (
        "The cluster dev does not accept deployments.apps 'web' in namespace shop: spec.selector: Required value; "
        "spec.replicas: must be greater than or equal to 0"
    )


def test_a_long_page_of_a_proxy_is_shortened() -> None:
    error = refusal(502, b"<html> " + b"x" * 5000, ASKED)

    assert len(str(error)) < 400


_TYPED = "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): "
_CONVERTED = (
    "failed to convert new object (shop/s; /v1, Kind=Secret) to proper version: "
    "unable to convert unstructured object to /v1, Kind=Secret: "
)


@pytest.mark.parametrize(
    ("said", "causes", "told"),
    [
        pytest.param(
            f"{_TYPED}.spec.contianers: field not declared in schema",
            (("spec.contianers", "there is no such field"),),
            "spec.contianers: there is no such field",
            id="no such field",
        ),
        pytest.param(
            f"{_TYPED}.data.a: expected string, got &value.valueUnstructured{{Value:1}}",
            (("data.a", "expected string, got 1"),),
            "data.a: expected string, got 1",
            id="of another type",
        ),
        pytest.param(
            f'{_TYPED}errors:\n  .a[name="b c"].x: field not declared in schema\n  .b: expected list, got &{{x}}',
            (('a[name="b c"].x', "there is no such field"), ("b", "expected list, got x")),
            'a[name="b c"].x: there is no such field; b: expected list, got x',
            id="several",
        ),
        pytest.param(
            f"{_CONVERTED}error decoding from json: illegal base64 data at input byte 3",
            (),
            "error decoding from json: illegal base64 data at input byte 3",
            id="without a field",
        ),
    ],
)
def test_an_object_that_is_not_of_its_kind_is_told_in_short(
    said: str, causes: tuple[tuple[str, str], ...], told: str
) -> None:
    error = refusal(500, a_status(said), ASKED)

    assert isinstance(error, Invalid)
    assert error.causes == causes
    assert str(error) == f"The cluster dev does not accept deployments.apps 'web' in namespace shop: {told}"


def test_of_a_long_value_only_the_beginning_is_shown() -> None:
    template = '{"Spec":{"Containers":[' + '{"Name":"main"},' * 200 + "]}}"
    cause = {"field": "spec.template", "message": f"Invalid value: {template}: field is immutable"}

    said = str(refusal(422, a_status(reason="Invalid", details={"causes": [cause]}), ASKED))

    assert len(said) < 400
    assert said.endswith("…: field is immutable")


def test_fields_that_do_not_exist_are_told_one_by_one_to_whoever_writes_an_object_as_a_whole() -> None:
    said = 'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
    said += 'unknown field "spec.contianers", unknown field "spec.x[0].y"'

    error = refusal(400, a_status(said, reason="BadRequest"), ASKED)

    assert isinstance(error, Invalid)
    assert error.causes == (
        ("spec.contianers", "there is no such field"),
        ("spec.x[0].y", "there is no such field"),
    )
