"""Plain calls to a cluster's API as its administrator, with nothing of Fairway's own client in between."""

import json
import ssl
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from tests.patience import PATIENCE_SECONDS


class Refused(Exception):
    """The API server answered, and the answer was no."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Api:
    """One cluster, called by whom the certificate in the folder names."""

    def __init__(self, url: str, pki: Path, user: str = "admin") -> None:
        trusted = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        trusted.load_cert_chain(pki / f"{user}.crt", pki / f"{user}.key")
        self._url = url
        self._opener = build_opener(ProxyHandler({}), HTTPSHandler(context=trusted))

    def text(self, path: str) -> str:
        """What a GET of the path says."""
        return self._said("GET", path, None, "").decode()

    def get(self, path: str) -> dict[str, Any]:
        """One object, or a list of them."""
        return _object(self._said("GET", path, None, ""))

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The object as it was made."""
        return _object(self._said("POST", path, body, "application/json"))

    def merge(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The object as a merge patch left it."""
        return _object(self._said("PATCH", path, body, "application/merge-patch+json"))

    def _said(self, method: str, path: str, body: Mapping[str, Any] | None, content_type: str) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": content_type}
        request = Request(self._url + path, data, headers, method=method)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with self._opener.open(request, timeout=PATIENCE_SECONDS) as answer:
                    said: bytes = answer.read()
                    return said
            except HTTPError as error:
                with error:
                    # A busy server, and one that prepares the storage of a kind, ask to be asked again.
                    if error.code != HTTPStatus.TOO_MANY_REQUESTS or time.monotonic() > deadline:
                        raise Refused(error.code, error.read().decode(errors="replace")) from error
            time.sleep(0.1)


def _object(said: bytes) -> dict[str, Any]:
    found = json.loads(said)
    assert isinstance(found, dict), found
    return found
