"""An agent's file as its server may show it: with every secret masked, wherever in the file somebody has put one.

The server shows it to everybody who may look at the agent, so what may be a secret is taken for one: by the name of its
field, by the name beside it, and inside texts, such as addresses with a password and arguments. Plugins' settings are
free, so nothing is known of them but their names.
"""

import re
from typing import Any, Final

import yaml

from fairway.git.remote import redacted

#: What a masked value looks like.
MASK: Final = "***"
_WORDS: Final = (
    r"passw|passphrase|secret|token|credential|private|api[_-]?key|access[_-]?key|key_?data|hook_?url"
    r"|signature_?value|connection_?string|authorization|cookie|bearer"
)
_SECRET_NAME: Final = re.compile(_WORDS, re.I)
#: Names that sound secret and are none.
_HARMLESS: Final = frozenset({"secretManagement", "decryptServiceAccount", "encryptServiceAccount", "privateKeyFile"})
#: `?token=…`, `&token=…`, `--token=…`, `TOKEN=…`: the name and its sign are kept.
_GIVEN: Final = re.compile(rf"((?:^|[?&\s])-{{0,2}}[\w.-]*(?:{_WORDS})[\w.-]*=)[^&\s]+", re.I)
_PRIVATE_KEY: Final = "PRIVATE KEY-----"


def masked(text: bytes) -> str:
    """An agent's file with everything hidden that may be a secret."""
    return yaml.safe_dump(_masked(yaml.safe_load(text)), sort_keys=False, allow_unicode=True)


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _field(key, item, value) for key, item in value.items()}
    if isinstance(value, list):
        return [_item(item, before) for before, item in zip(["", *value], value, strict=False)]
    return _text(value) if isinstance(value, str) else value


def _field(key: Any, value: Any, beside: dict[Any, Any]) -> Any:
    if _sounds_secret(str(key)) or (key == "value" and _sounds_secret(str(beside.get("name", "")))):
        return _hidden(value)
    if key == "webhook" and isinstance(value, dict) and value.get("url"):
        # Whoever knows the address of a chat's webhook may write there.
        return {**_masked(value), "url": MASK}
    return _masked(value)


def _item(value: Any, before: Any) -> Any:
    """One of a list; in a list of arguments the one after `--token` is its value."""
    names_it = isinstance(before, str) and before.startswith("-") and "=" not in before and _sounds_secret(before)
    return _hidden(value) if names_it and isinstance(value, str) else _masked(value)


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _hidden(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    return MASK if value else value


def _text(text: str) -> str:
    if _PRIVATE_KEY in text:
        return MASK
    return _GIVEN.sub(rf"\g<1>{MASK}", redacted(text))


def _sounds_secret(name: str) -> bool:
    return name not in _HARMLESS and _SECRET_NAME.search(name) is not None
