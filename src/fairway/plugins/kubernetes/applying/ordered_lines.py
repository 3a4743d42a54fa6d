"""Log lines of objects that are applied side by side, in the order of the manifests."""

from collections.abc import Iterable

from fairway.kube.manifest import Key
from fairway.sdk.stage_log import StageLog


class OrderedLines:
    """Logs the line of an object once the objects before it have theirs."""

    def __init__(self, log: StageLog, keys: Iterable[Key]) -> None:
        self._log = log
        self._waiting = list(reversed(list(keys)))
        self._lines: dict[Key, str] = {}

    def say(self, key: Key, line: str) -> None:
        """What became of an object; an empty line where it failed."""
        self._lines[key] = line
        while self._waiting and self._waiting[-1] in self._lines:
            if line := self._lines.pop(self._waiting.pop()):
                self._log.info(line)
