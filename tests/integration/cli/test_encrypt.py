"""What goes over the wire when a secret is sealed: never the secret."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairway.cli.call import UsageError
from fairway.cli.encrypt import as_text
from fairway.secrets.sealed import generate_key_pair
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server

FAIRWAY = Path(sys.executable).with_name("fairway")
SECRET = "correct horse battery staple"


def test_no_request_has_the_secret_in_any_form(tmp_path: Path) -> None:
    public_key = generate_key_pair().public_key_pem

    def answer(asked: Asked) -> Answer:
        if asked.path.startswith("/api/v1/agents/a-1/public-key"):
            return Answer(200, {"kind": "key_pair", "public_key": public_key})
        return Answer(200, {"id": "a-1", "name": "near"})

    with a_scripted_server(answer) as server:
        environment = {**os.environ, "HOME": str(tmp_path), "FAIRWAY_SERVER": server.url, "FAIRWAY_API_KEY": "k"}
        command = [str(FAIRWAY), "encrypt", "--agent", "a-1"]
        done = subprocess.run(command, input=SECRET, capture_output=True, text=True, env=environment, check=True)
        sealed = done.stdout.strip()

    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("GET", "/api/v1/agents/a-1"),
        ("GET", "/api/v1/agents/a-1/public-key"),
    ]
    sent = "".join(f"{asked.path}{asked.headers}{asked.body!r}" for asked in server.asked)
    hidden = [SECRET, base64.b64encode(SECRET.encode()).decode(), SECRET.encode().hex(), sealed, "staple"]
    assert [form for form in hidden if form in sent] == []
    assert len(sealed) > 300


@pytest.mark.parametrize("secret", [b"", b"\n", b" \t\r\n"])
@pytest.mark.parametrize("as_base64", [False, True])
def test_an_empty_secret_is_refused(secret: bytes, as_base64: bool) -> None:
    with pytest.raises(UsageError, match="the secret is empty"):
        as_text(secret, as_base64)


def test_an_empty_input_ends_with_2_and_prints_nothing(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        key = {"kind": "key_pair", "public_key": generate_key_pair().public_key_pem}
        return Answer(200, key if asked.path.endswith("public-key") else {"id": "a-1", "name": "near"})

    with a_scripted_server(answer) as server:
        environment = {**os.environ, "HOME": str(tmp_path), "FAIRWAY_SERVER": server.url, "FAIRWAY_API_KEY": "k"}
        command = [str(FAIRWAY), "encrypt", "--agent", "a-1"]
        done = subprocess.run(command, check=False, input="", capture_output=True, text=True, env=environment)

    assert (done.returncode, done.stdout) == (2, "")
    assert "the secret is empty" in done.stderr
