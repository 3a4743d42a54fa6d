"""Which kinds webhooks and policies have a say in."""

from typing import Any

import pytest

from fairway.kube.kinds import Kind
from fairway.plugins.kubernetes.applying.admission import Admission, admission_of

DEPLOYMENTS = Kind("apps", "v1", "Deployment", "deployments", True)


def a_rule(*resources: str, operations: tuple[str, ...] = ("CREATE", "UPDATE")) -> dict[str, Any]:
    return {"apiGroups": ["*"], "operations": list(operations), "resources": list(resources)}


def a_webhook(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "ValidatingWebhookConfiguration", "webhooks": [{"name": "first"}, {"rules": list(rules)}]}


def a_policy(*rules: dict[str, Any]) -> dict[str, Any]:
    constraints = {"matchConstraints": {"resourceRules": list(rules)}}
    return {"kind": "ValidatingAdmissionPolicy", "spec": constraints}


@pytest.mark.parametrize(
    ("found", "has_a_say"),
    [
        pytest.param([], False, id="nobody"),
        pytest.param([a_webhook(a_rule("deployments"))], True, id="a webhook"),
        pytest.param([a_policy(a_rule("deployments"))], True, id="a policy"),
        pytest.param([a_webhook(a_rule("*"))], True, id="one for everything"),
        pytest.param([a_webhook(a_rule("*/*"))], True, id="one for everything, and parts of it"),
        pytest.param([a_webhook(a_rule("deployments/*"))], True, id="one for all of it"),
        pytest.param([a_webhook(a_rule("deployments", operations=("*",)))], True, id="whatever happens"),
        pytest.param([a_webhook(a_rule("deployments", operations=("CREATE",)))], False, id="for new ones only"),
        pytest.param([a_webhook(a_rule("ingresses", "deployments/status"))], False, id="for others"),
        pytest.param([{"kind": "ValidatingAdmissionPolicy", "spec": {}}], False, id="without rules"),
    ],
)
def test_whoever_is_asked_about_a_kind_has_a_say_in_it(found: list[dict[str, Any]], has_a_say: bool) -> None:
    assert admission_of(found).has_a_say(DEPLOYMENTS) is has_a_say


def test_who_cannot_be_seen_may_have_a_say_in_anything() -> None:
    assert Admission(is_known=False).has_a_say(DEPLOYMENTS)
