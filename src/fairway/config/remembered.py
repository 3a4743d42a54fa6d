"""Readings by the hash of their text: a file that was read once is not read again.

An agent looks at every application of a repository for every commit, and a commit changes a handful of them. The hash
is Git's own, so that whoever asks here has not even fetched the text yet. Files of one repository are much alike; what
two that were read one after the other say in the same way is kept once.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from fairway.config.read import Reading, read_application_file
from fairway.config.terms import UNKNOWN_AGENT, Terms


class RememberedReadings:
    """The readings of the files seen last."""

    def __init__(self, terms: Terms = UNKNOWN_AGENT, most: int = 20_000) -> None:
        self._terms = terms
        self._most = most
        self._readings: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        #: What each sort of file said last, by the name of the field.
        self._said: dict[type, dict[str, Any]] = {}

    def unknown(self, blobs: Mapping[str, str]) -> dict[str, str]:
        """Those of these files (path → blob hash) that have to be fetched and read."""
        return {path: blob for path, blob in blobs.items() if (path, blob) not in self._readings}

    def read(self, blobs: Mapping[str, str], contents: Mapping[str, bytes]) -> dict[str, Reading]:
        """The verdict on every file; `contents` (blob hash → text) has what `unknown` asked for."""
        for path, blob in self.unknown(blobs).items():
            self._readings[path, blob] = found = read_application_file(contents[blob], path, self._terms)
            self._share(found.config)
        readings = {path: self._readings[path, blob] for path, blob in blobs.items()}
        self._forget(blobs.items())
        return readings

    def _share(self, config: object) -> None:
        """Have the parts of a file that are as they were in the last one be the very same."""
        if isinstance(config, msgspec.Struct):
            said = self._said.setdefault(type(config), {})
            for name in config.__struct_fields__:
                value, last = getattr(config, name), said.get(name)
                # Not by equality alone: to Python the options {a: 1} and {a: true} are equal.
                if value == last and repr(value) == repr(last):
                    msgspec.structs.force_setattr(config, name, last)
                else:
                    said[name] = value

    def _forget(self, used: Iterable[tuple[str, str]]) -> None:
        for key in used:
            self._readings.move_to_end(key)
        while len(self._readings) > self._most:
            self._readings.popitem(last=False)
