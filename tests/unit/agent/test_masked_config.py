"""What the server is shown of an agent's file: everything but secrets, wherever in it somebody has put one."""

import base64

import pytest
import yaml

from fairway.agent.masked_config import masked

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
    ("written", "shown"),
    [
        pytest.param(
            {"remote": "https://bob:hush@example.com/a.git"},
            {"remote": "https://***@example.com/a.git"},
            id="a password in an address",
        ),
        pytest.param(
            {"connect": "postgresql://bob:hush@db:5432/shop?sslmode=require"},
            {"connect": "postgresql://***@db:5432/shop?sslmode=require"},
            id="a database",
        ),
        pytest.param(
            {"remote": "ssh://git@example.com/a.git"}, {"remote": "ssh://git@example.com/a.git"}, id="ssh has a user"
        ),
        pytest.param(
            {"at": "https://example.com/x?team=a&access_token=hush&v=2"},
            {"at": "https://example.com/x?team=a&access_token=***&v=2"},
            id="a token in a query",
        ),
        pytest.param(
            {"webhook": {"url": "https://chat/T0/hush", "signatureKey": "X-Sign", "signatureValue": "hush"}},
            {"webhook": {"url": "***", "signatureKey": "X-Sign", "signatureValue": "***"}},
            id="a webhook's address is its secret",
        ),
        pytest.param({"arguments": ["-v", "--password=hush"]}, {"arguments": ["-v", "--password=***"]}, id="argument"),
        pytest.param(
            {"arguments": ["--token", "hush", "-v"]}, {"arguments": ["--token", "***", "-v"]}, id="two arguments"
        ),
        pytest.param(
            {"env": [{"name": "DB_PASSWORD", "value": "hush"}, {"name": "LANG", "value": "C"}]},
            {"env": [{"name": "DB_PASSWORD", "value": "***"}, {"name": "LANG", "value": "C"}]},
            id="a name beside its value",
        ),
        pytest.param({"passwd": "hush", "accessKey": "hush"}, {"passwd": "***", "accessKey": "***"}, id="other names"),
        pytest.param(
            {"extra": "-----BEGIN RSA PRIVATE KEY-----\nhush\n"}, {"extra": "***"}, id="a private key under any name"
        ),
        pytest.param({"secrets": {"first": "hush"}}, {"secrets": {"first": "***"}}, id="all below a name"),
    ],
)
def test_a_secret_is_masked_where_its_name_does_not_tell(written: object, shown: object) -> None:
    assert yaml.safe_load(masked(yaml.safe_dump(written).encode())) == shown


def test_nothing_of_a_key_is_left_in_what_is_shown() -> None:
    key = base64.b64encode(b"the very secret").decode()

    assert key not in masked(f"spec: {{pipedKeyData: {key}, imageProviders: [{{token: {key}}}]}}".encode())
