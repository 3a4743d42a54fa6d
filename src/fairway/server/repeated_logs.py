"""Limits lines that repeat: a caller without a key must not be able to fill the disk with the server's log.

Out of file descriptors, asyncio writes a traceback for each attempt to accept a connection, thousands in a second. Of
warnings and errors with the same text, a few are written in each window of time, and then one line with the number of
the others.
"""

import logging
import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

import msgspec

_WINDOW_SECONDS: Final = 10.0
#: Lines with the same text that are written in each window.
_WRITTEN: Final = 10
#: Texts that are counted at the same time.
_MOST_TEXTS: Final = 1000

_Key = tuple[str, int, str]


class _Window(msgspec.Struct):
    ends: float
    seen: int = 0


class RepeatedLines(logging.Filter):
    """Keeps lines that repeat out of a handler, and says how many there were."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._now = now
        self._lock = threading.Lock()
        #: The window that ends first is first.
        self._windows: dict[_Key, _Window] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        if record.name == __name__:
            return True
        with self._lock:
            ended = self._ended()
            is_written = record.levelno < logging.WARNING or self._is_written(_key(record))
        for (logger, _, text), window in ended:
            if window.seen > _WRITTEN:
                count = {"of": logger, "line": text, "suppressed": window.seen - _WRITTEN}
                logging.getLogger(__name__).warning("repeated lines were not written", extra=count)
        return is_written

    def _is_written(self, key: _Key) -> bool:
        window = self._windows.setdefault(key, _Window(self._now() + _WINDOW_SECONDS))
        window.seen += 1
        return window.seen <= _WRITTEN

    def _ended(self) -> list[tuple[_Key, _Window]]:
        ended: list[tuple[_Key, _Window]] = []
        for key, window in self._windows.items():
            if window.ends > self._now() and len(self._windows) - len(ended) < _MOST_TEXTS:
                break
            ended.append((key, window))
        for key, _ in ended:
            del self._windows[key]
        return ended


def _key(record: logging.LogRecord) -> _Key:
    text = record.msg.get("event", "") if isinstance(record.msg, dict) else record.msg
    # The lines after the first one show objects, each of which is another.
    return record.name, record.levelno, str(text).partition("\n")[0][:200]
