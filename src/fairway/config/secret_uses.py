"""Sealed values against the scripts that name them: a name that is not sealed, a seal that nothing can open."""

import base64
import re
from collections.abc import Iterator
from typing import Any, Final

from fairway.config.application import Encryption
from fairway.config.problems import Path, Problem, did_you_mean
from fairway.config.reader.document import Document
from fairway.config.stages import StageEntry

#: How a script names a sealed value.
_ACTION: Final = re.compile(r"\{\{[^{}]*\}\}")
_SECRET: Final = re.compile(r"\.encryptedSecrets\.(\w+)")


def secret_problems(
    document: Document, entries: tuple[StageEntry, ...], encryption: Encryption | None, sealed: dict[str, str]
) -> Iterator[Problem]:
    """Sealed values that scripts name, against those that exist; and those that nothing could ever see."""
    if not sealed and "encryptedSecrets" not in document.text:
        return
    yield from _not_sealed(document, encryption, sealed)
    used = False
    for index, entry in enumerate(entries):
        beside = {"with": entry.options, "onRollback": entry.on_rollback, "env": entry.env}
        for path, text in _texts(beside, ("spec", "pipeline", "stages", index)):
            for name in (name for action in _ACTION.findall(text) for name in _SECRET.findall(action)):
                used = True
                if name not in sealed:
                    message = (
                        f"uses the secret {name!r}, which is not among the encryptedSecrets{did_you_mean(name, sealed)}"
                    )
                    yield document.problem(path, message)
    if encryption is not None and encryption.encrypted_secrets and not encryption.decryption_targets and not used:
        message = "is empty, and no script uses a secret; name the files the secrets are rendered into"
        yield document.problem(("spec", "encryption", "decryptionTargets"), message)


def _not_sealed(document: Document, encryption: Encryption | None, sealed: dict[str, str]) -> Iterator[Problem]:
    """Values that no key opens: `fairway encrypt` prints base64. The message shows nothing of the value."""
    inside = encryption.encrypted_secrets if encryption else {}
    for name, value in sealed.items():
        place: Path = ("spec", "encryption") if name in inside else ("spec",)
        if value and not _is_base64(value):
            message = "is not base64; write what `fairway encrypt` prints"
            yield document.later_rule((*place, "encryptedSecrets", name), message)


def _is_base64(text: str) -> bool:
    try:
        # YAML folds long values into lines.
        base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        return False
    return True


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
