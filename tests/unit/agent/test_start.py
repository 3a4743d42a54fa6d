"""An agent's file made ready: secrets are masked for the report, and what is missing is said."""

import base64
from pathlib import Path

import pytest
import yaml

from fairway.agent.start import AgentStartError, Line, agent_settings, masked

FILE = """
spec:
  projectID: shop
  pipedKeyData: c2VjcmV0
  git:
    username: robot
    password: hush
    sshKeyData: a2V5
  chartRepositories:
    - name: charts
      password: hush
  secretManagement:
    type: KEY_PAIR
    config:
      privateKeyFile: /etc/private
      privateKeyData: a2V5
      publicKeyData: cHVibGlj
  notifications:
    receivers:
      - name: chat
        slack: {hookURL: https://example.com/hook, oauthToken: hush}
"""


def test_every_value_whose_name_sounds_secret_is_masked_and_no_other() -> None:
    shown = yaml.safe_load(masked(FILE.encode()))

    assert shown == {
        "spec": {
            "projectID": "shop",
            "pipedKeyData": "***",
            "git": {"username": "robot", "password": "***", "sshKeyData": "***"},
            "chartRepositories": [{"name": "charts", "password": "***"}],
            "secretManagement": {
                "type": "KEY_PAIR",
                "config": {"privateKeyFile": "/etc/private", "privateKeyData": "***", "publicKeyData": "***"},
            },
            "notifications": {"receivers": [{"name": "chat", "slack": {"hookURL": "***", "oauthToken": "***"}}]},
        }
    }


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param("pipedKeyFile: /nonexistent/key", "pipedKeyFile: /nonexistent/key cannot be read", id="no file"),
        pytest.param("pipedKeyData: '?'", "pipedKeyData is no base64", id="no base64"),
    ],
)
def test_a_key_that_cannot_be_read_is_said(key: str, said: str) -> None:
    spec = f"{{projectID: p, pipedID: a, apiAddress: 'h:1', {key}}}"
    text = f"apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: {spec}\n"

    with pytest.raises(AgentStartError, match=said.replace("?", r"\?")):
        agent_settings(text.encode(), "agent.yaml", Path("data"), Line(insecure=True))


async def test_a_data_directory_is_where_it_was_when_the_agent_started(monkeypatch: pytest.MonkeyPatch) -> None:
    # Scripts run in other directories and find their journal by this path.
    monkeypatch.chdir("/")
    text = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\n" + (
        "spec: {projectID: p, pipedID: a, apiAddress: 'h:1', pipedKeyData: c2VjcmV0}\n"
    )

    settings = agent_settings(text.encode(), "agent.yaml", Path("data"), Line(insecure=True))

    await settings.channel.close()
    assert settings.data == Path("/data")


def test_nothing_of_a_key_is_left_in_what_is_shown() -> None:
    key = base64.b64encode(b"the very secret").decode()

    assert key not in masked(f"spec: {{pipedKeyData: {key}, imageProviders: [{{token: {key}}}]}}".encode())
