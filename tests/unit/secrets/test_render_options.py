from typing import Any

import pytest

from fairway.secrets.render import render_options
from fairway.secrets.secret import Secret, SecretError
from fairway.secrets.template import TemplateValues

VALUES = TemplateValues(encrypted_secrets={"password": Secret("hunter2")}, attachment={})


def test_the_rfcs_script_gets_its_password_and_keeps_its_shell() -> None:
    options: dict[str, Any] = {
        "env": {"AWS_PROFILE": "default", "TOKEN": "{{ .encryptedSecrets.password }}"},
        "runs": ["echo {{ .encryptedSecrets.password }} | sudo -S su", "sam deploy -g --profile $AWS_PROFILE"],
        "onRollback": "docker ps --format '{{.Names}}'",
        "timeout": 5,
    }

    assert render_options(options, VALUES, "with") == {
        "env": {"AWS_PROFILE": "default", "TOKEN": "hunter2"},
        "runs": ["echo hunter2 | sudo -S su", "sam deploy -g --profile $AWS_PROFILE"],
        "onRollback": "docker ps --format '{{.Names}}'",
        "timeout": 5,
    }


def test_a_secret_that_is_not_there_is_named_with_its_place() -> None:
    with pytest.raises(SecretError, match=r'^with\.runs\[0\]:1:9: \.encryptedSecrets has no "pasword"'):
        render_options({"runs": ["echo {{ .encryptedSecrets.pasword }}"]}, VALUES, "with")
