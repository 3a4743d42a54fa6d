"""Roles from files."""

import pytest

from fairway.cli.call import UsageError
from fairway.cli.role import read_permissions

PERMISSIONS = [{"resources": ["application"], "actions": ["read"]}]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("permissions:\n- resources: [application]\n  actions: [read]\n", id="YAML"),
        pytest.param(
            '{"name": "Shop", "permissions": [{"resources": ["application"], "actions": ["read"]}]}', id="JSON"
        ),
    ],
)
def test_permissions_are_sent_as_they_are_written(text: str) -> None:
    assert read_permissions(text, "Shop", "shop.yaml") == PERMISSIONS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: [", "neither YAML nor JSON", id="no YAML"),
        pytest.param("- a", "expected a list of `permissions`", id="a list"),
        pytest.param("permissions: []\nlabels: {}\n", "has labels; expected only", id="a field too many"),
        pytest.param("name: Bank\npermissions: []\n", "about the role 'Bank', not 'Shop'", id="another role"),
    ],
)
def test_a_file_that_is_no_role_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_permissions(text, "Shop", "shop.yaml")
