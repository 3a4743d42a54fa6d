"""Readings by the hash of their text: a file that was read once is not read again.

An agent looks at every application of a repository for every commit, and a commit changes a handful of them. The hash
is Git's own, so that whoever asks here has not even fetched the text yet.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from fairway.config.read import Reading, read_file


class RememberedReadings:
    """The readings of the files seen last."""

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._readings: OrderedDict[tuple[str, str], list[Reading]] = OrderedDict()

    def unknown(self, blobs: Mapping[str, str]) -> dict[str, str]:
        """Those of these files (path → blob hash) that have to be fetched and read."""
        return {path: blob for path, blob in blobs.items() if (path, blob) not in self._readings}

    def read(self, blobs: Mapping[str, str], contents: Mapping[str, bytes]) -> dict[str, list[Reading]]:
        """Every file's readings; `contents` (blob hash → text) has what `unknown` asked for."""
        for path, blob in self.unknown(blobs).items():
            self._readings[path, blob] = read_file(contents[blob], path)
        readings = {path: self._readings[path, blob] for path, blob in blobs.items()}
        self._forget(blobs.items())
        return readings

    def _forget(self, used: Iterable[tuple[str, str]]) -> None:
        for key in used:
            self._readings.move_to_end(key)
        while len(self._readings) > self._most:
            self._readings.popitem(last=False)
