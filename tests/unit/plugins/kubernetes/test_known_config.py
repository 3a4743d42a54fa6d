"""When the API server need not be asked about configuration, and when it must."""

from typing import Any

import pytest

from fairway.plugins.kubernetes.known_config import is_config, needs_no_check
from fairway.plugins.kubernetes.marks import Owner, marked
from fairway.plugins.kubernetes.parts import with_part
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, an_object

BEFORE = Owner(agent_id="agent", application_id="app", commit="old")
NOW = Owner(agent_id="agent", application_id="app", commit="new")
OURS = [{"manager": "fairway", "operation": "Apply"}]


def live(body: Any = None, managers: Any = OURS) -> dict[str, Any]:
    """The object as the cluster has it."""
    manifest = marked(body or a_config_map(a="1"), BEFORE)
    return with_part(manifest.body, ("metadata", "managedFields"), managers)


def test_other_values_need_no_check() -> None:
    assert needs_no_check(marked(a_config_map(a="2", b="new"), NOW).body, live())


def test_a_secret_is_as_well_known() -> None:
    secret = an_object("v1", "Secret", "keys", data={"a": "eA=="}, type="Opaque")

    assert needs_no_check(marked(secret, NOW).body, live(secret))
    assert is_config(secret.body)
    assert not is_config(a_deployment().body)


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(a_config_map(**{"a b": "1"}), id="a key that cannot be"),
        pytest.param(an_object("v1", "ConfigMap", "settings", data={"a": 1}), id="a value that is no text"),
        pytest.param(an_object("v1", "ConfigMap", "settings", data=["a"]), id="data that are none"),
        pytest.param(an_object("v1", "ConfigMap", "settings", binaryData={"a": "?"}), id="another field"),
        pytest.param(an_object("v1", "ConfigMap", "settings", metadata={"labels": {"a": "b c"}}), id="a new label"),
        pytest.param(an_object("v1", "ConfigMap", "settings", metadata={"finalizers": ["x"]}), id="other metadata"),
        pytest.param(a_config_map(a="x" * 600_000), id="much"),
        pytest.param(
            an_object(
                "v1", "ConfigMap", "settings", metadata={"annotations": {"pipecd.dev/sync-by-replace": "enabled"}}
            ),
            id="an author who asks for something",
        ),
    ],
)
def test_whatever_might_be_refused_is_asked_about(now: Any) -> None:
    assert not needs_no_check(marked(now, NOW).body, live())


@pytest.mark.parametrize(
    "there",
    [
        pytest.param(live(managers=[*OURS, {"manager": "tuner", "operation": "Update"}]), id="another manager"),
        pytest.param(live(managers=[{"manager": "kubectl-client-side-apply", "operation": "Update"}]), id="kubectl's"),
        pytest.param(live(managers=[]), id="nobody's"),
        pytest.param({**live(), "immutable": True}, id="what cannot be changed"),
        pytest.param(with_part(live(), ("metadata", "deletionTimestamp"), "now"), id="what is going"),
    ],
)
def test_what_is_there_may_need_asking_too(there: dict[str, Any]) -> None:
    assert not needs_no_check(marked(a_config_map(a="2"), NOW).body, there)


def test_a_secret_that_is_no_base64_is_asked_about() -> None:
    secret = an_object("v1", "Secret", "keys", data={"a": "not base64"}, type="Opaque")

    assert not needs_no_check(marked(secret, NOW).body, live(secret))
