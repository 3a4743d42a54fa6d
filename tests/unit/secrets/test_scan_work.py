"""Hostile texts must take time in proportion to their length.

The kernel counts the work: a child process gets twenty seconds of CPU time. A quadratic scan takes minutes.
"""

import resource
import subprocess
import sys

import msgspec
import pytest

_CPU_SECONDS = 20
_CHARACTERS = 200_000

_SCAN = """
import sys
from contextlib import suppress
import msgspec
from fairway.secrets.actions import find_actions
from fairway.secrets.secret import SecretError
for text in msgspec.json.decode(sys.stdin.read()):
    with suppress(SecretError):
        find_actions(".attachment" + text, "script")
"""
_USES = """
import sys
import msgspec
from fairway.config.application import Encryption
from fairway.config.reader.document import read_documents
from fairway.config.secret_uses import secret_problems
from fairway.config.stages import StageEntry
(document,), _ = read_documents(b"a: encryptedSecrets", "app.pipecd.yaml")
for text in msgspec.json.decode(sys.stdin.read()):
    entry = StageEntry(name="SCRIPT_RUN", options={"run": "{{" + text})
    list(secret_problems(document, (entry,), Encryption(), {}))
"""
_SYNTAX = """
import sys
import msgspec
from fairway.config.reader.document import read_documents
for text in msgspec.json.decode(sys.stdin.read()):
    read_documents(b"a: " + text.encode(), "app.pipecd.yaml")
"""
_MASK = """
import sys
import msgspec
from fairway.secrets.redact import Redactor
from fairway.secrets.secret import MASK, Secret
for text in msgspec.json.decode(sys.stdin.read()):
    assert Redactor([Secret(text)]).redact(text * 5) == MASK
"""


@pytest.mark.parametrize(
    ("program", "fragments"),
    [
        pytest.param(
            _SCAN, ["{{/*", '{{"\\"', '{{\\"', "{{'\\'", "`{{", '{{ "', "{{- ", "{{\"{{'"], id="the actions of a script"
        ),
        pytest.param(_USES, ["{{.encryptedSecrets.a ", ".encryptedSecrets.a", "{{ "], id="names of secrets"),
        pytest.param(_MASK, ["a"], id="a long secret in a long text"),
        pytest.param(_SYNTAX, ["{{ "], id="advice on a value that starts with braces"),
    ],
)
def test_a_scan_takes_linear_time(program: str, fragments: list[str]) -> None:
    texts = [fragment * (_CHARACTERS // len(fragment)) for fragment in fragments]
    limits = (_CPU_SECONDS, _CPU_SECONDS)
    found = subprocess.run(
        [sys.executable, "-c", program],
        input=msgspec.json.encode(texts),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits),
        check=False,
    )

    assert found.returncode == 0
