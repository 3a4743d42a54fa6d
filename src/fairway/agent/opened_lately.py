"""Opens sealed values, and remembers what was opened lately.

What plugins write beside the logs of stages does not say of which deployment it is, so all of that is masked there.
"""

import threading
from typing import Final

from fairway.secrets.redact import RedactedStream, Redactor
from fairway.secrets.render import Unsealer
from fairway.secrets.secret import Secret

#: How many are remembered; more would take too long to be looked for.
_REMEMBERED: Final = 1000


class OpenedLately:
    """An unsealer. Any thread may use it."""

    def __init__(self, unsealer: Unsealer) -> None:
        self._unsealer = unsealer
        self._lock = threading.Lock()
        #: The one that was opened last comes last.
        self._secrets: dict[Secret, None] = {}
        self._redactor: Redactor | None = Redactor(())

    def unseal(self, text: str) -> Secret:
        """Open one sealed text."""
        secret = self._unsealer.unseal(text)
        with self._lock:
            if secret not in self._secrets:
                self._redactor = None
            self._secrets.pop(secret, None)
            self._secrets[secret] = None
            if len(self._secrets) > _REMEMBERED:
                del self._secrets[next(iter(self._secrets))]
        return secret

    def mask(self) -> RedactedStream:
        """Takes all of it out of lines."""
        with self._lock:
            if self._redactor is None:
                self._redactor = Redactor(self._secrets)
            return self._redactor.stream()
