"""Which kinds a cluster serves, from answers that are not all of one age."""

from typing import Any

import msgspec
import pytest

from fairway.kube.calls import Call
from fairway.kube.discovery import Discovery
from fairway.kube.errors import UnknownKind

WIDGETS = {
    "metadata": {"name": "example.com"},
    "versions": [
        {
            "version": "v1",
            "resources": [
                {"resource": "widgets", "responseKind": {"kind": "Widget"}, "scope": "Namespaced", "verbs": ["get"]}
            ],
        }
    ],
}
#: The list of the version is behind.
ANSWERS: dict[str, dict[str, Any]] = {
    "/apis/example.com/v1": {"resources": []},
    "/api": {},
    "/apis": {"items": [WIDGETS]},
}


async def answered(call: Call) -> bytes:
    return msgspec.json.encode(ANSWERS[call.path])


async def test_a_kind_is_found_in_whichever_list_has_it_first() -> None:
    found = await Discovery("dev", answered).kind("example.com/v1", "Widget")

    assert (found.api_version, found.plural, found.namespaced) == ("example.com/v1", "widgets", True)


async def test_a_kind_that_neither_list_has_is_unknown() -> None:
    with pytest.raises(UnknownKind, match="Wodget"):
        await Discovery("dev", answered).kind("example.com/v1", "Wodget")
