"""What goes over the wire when a secret is sealed: never the secret."""

import base64
import os
import subprocess
import sys
from pathlib import Path

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
