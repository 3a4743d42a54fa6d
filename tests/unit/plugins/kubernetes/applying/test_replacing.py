from typing import Any

import pytest

from fairway.kube.errors import Invalid, NotAllowed
from fairway.plugins.kubernetes.applying.replacing import holds_for_any_name

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "web"}}


@pytest.mark.parametrize(
    ("body", "error", "holds"),
    [
        pytest.param(SERVICE, NotAllowed("The agent is not allowed to create services"), True, id="a right"),
        pytest.param(SERVICE, NotAllowed("refuses to create services: exceeded quota"), False, id="a quota"),
        pytest.param(SERVICE, Invalid("cannot be handled as a Service: json"), True, id="not to be read"),
        pytest.param(WIDGET, Invalid("", causes=(("spec.a", "there is no such field"),)), True, id="no such field"),
        pytest.param(WIDGET, Invalid("", causes=(("spec.a", "must be the name"),)), False, id="a rule of people's"),
        pytest.param(SERVICE, Invalid("", causes=(("spec.type", "Unsupported value"),)), True, id="a value"),
        pytest.param(SERVICE, Invalid("", causes=(("metadata.name", "must be a.b"),)), False, id="the name"),
        pytest.param(
            SERVICE,
            Invalid("", causes=(("spec.ports[0].nodePort", "provided port is already allocated"),)),
            False,
            id="what only one can have",
        ),
        pytest.param(SERVICE, Invalid("admission webhook x denied the request"), False, id="a webhook"),
        pytest.param(SERVICE, Invalid("policy x denied", causes=(("", "no"),)), False, id="a policy"),
    ],
)
def test_of_what_is_refused_under_another_name_only_that_is_believed_which_no_name_mends(
    body: dict[str, Any], error: Invalid | NotAllowed, holds: bool
) -> None:
    assert holds_for_any_name(body, error) is holds
