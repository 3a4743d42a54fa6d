"""From a field as an API server names it to the line on which somebody has written it.

A server that refuses an object knows nothing of files; whoever has to mend it does not want to count. The file is read
again for that, which costs nothing as long as nothing is refused.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from fairway.config.problems import Path, shown
from fairway.config.reader.document import read_documents
from fairway.kube.manifest import Manifest, Where
from fairway.plugins.kubernetes.manifests.documents import LIMITS, written_out
from fairway.plugins.kubernetes.manifests.places import Place
from fairway.sdk import Files

_STEP: Final = re.compile(r'\[(?P<entry>(?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]|(?P<name>[^.\[\]]+)')
#: An entry of a list by some of its fields; without a name, by its value.
_PAIR: Final = re.compile(r'(?P<key>[\w./-]*)=(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<plain>[^,]*))')


def where_written(manifest: Manifest, field: str, loaded: Iterable[Files]) -> Where:
    """Where a field of a manifest stands in the first of the commits that has the manifest's file as it was read."""
    for files in loaded:
        try:
            data = (Place.of(files).root / manifest.where.file).read_bytes()
        except OSError:
            continue
        if line := line_of(data, manifest, field):
            return Where(manifest.where.file, line)
    return manifest.where


def line_of(data: bytes, manifest: Manifest, field: str) -> int:
    """The line of a field of a manifest, or of the nearest thing around it; 0 when the file is not the manifest's."""
    if not manifest.where.line:
        # A tool has rendered it.
        return 0
    documents, _ = read_documents(data, manifest.where.file, LIMITS)
    for document in documents:
        for path, body in written_out(document, document.value, (), []):
            is_there = document.position(path).line == manifest.where.line
            if is_there and (body.get("kind"), body.get("metadata", {}).get("name")) == (manifest.kind, manifest.name):
                return document.position((*path, *path_of(field, body)), of_key=True).line
    return 0


def path_of(field: str, body: Any) -> Path:
    """The path of a field in a body, as far as it leads: `spec.ports[0]`, `.containers[name="web"]`, `data[a.b]`."""
    return tuple(_steps(field, body))


def _steps(field: str, value: Any) -> Iterator[str | int]:
    pending = ""
    for found in _STEP.finditer(field):
        entry, name = found["entry"], found["name"]
        step: str | int | None
        if entry is not None and isinstance(value, list):
            step = _index(entry, value)
        else:
            # A name with dots is written like several names.
            pending = f"{pending}.{name}" if pending and name else entry if name is None else name
            step = pending if isinstance(value, dict) and pending in value else None
            if step is None and name is not None:
                continue
        if step is None:
            return
        yield step
        value, pending = value[step], ""


def _index(entry: str, among: list[Any]) -> int | None:
    if entry.isdecimal():
        return int(entry) if int(entry) < len(among) else None
    pairs = [(each["key"], each["plain"] if each["text"] is None else each["text"]) for each in _PAIR.finditer(entry)]
    for index, value in enumerate(among):
        # What the server has filled in, nobody has written.
        if all(_is(value.get(key) if isinstance(value, dict) else value, wanted) for key, wanted in pairs):
            return index
    return None


def _is(value: Any, wanted: str) -> bool:
    return value is None or (shown(value) if isinstance(value, bool) else str(value)) == wanted
