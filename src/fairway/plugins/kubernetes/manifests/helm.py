"""Manifests by helm: what it is told of an application's chart, and what of its output counts.

Hooks are not run, as PipeCD does not run them: a hook is a step of an installation, and steps are what the stages of a
pipeline are. They are not passed over in silence, though: whoever loads a chart is told which there are.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from fairway.config.platforms import HelmOptions
from fairway.config.reader.document import read_documents
from fairway.kube.manifest import Body, Manifest
from fairway.plugins.kubernetes.manifests.command import ToolFailed
from fairway.plugins.kubernetes.manifests.documents import LIMITS
from fairway.plugins.kubernetes.manifests.places import Place
from fairway.plugins.kubernetes.parts import part

_EXACT: Final = re.compile(r"v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
HOOK: Final = "helm.sh/hook"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One `helm template`."""

    release: str
    #: A directory, or what helm finds by itself.
    chart: str
    version: str = ""
    namespace: str = ""
    options: HelmOptions = HelmOptions()
    #: Values files and files of values, where they are.
    value_files: tuple[str, ...] = ()
    set_files: tuple[tuple[str, str], ...] = ()
    insecure: bool = False
    plain_http: bool = False


def arguments(template: Template) -> tuple[str, ...]:
    """What helm is told."""
    options = template.options
    _refuse_odd(template)
    flags = ["--include-crds", "--skip-tests"]
    flags += [f"--version={template.version}"] if template.version else []
    flags += ["--insecure-skip-tls-verify"] if template.insecure else []
    flags += ["--plain-http"] if template.plain_http else []
    flags += [f"--namespace={template.namespace}"] if template.namespace else []
    flags += [f"--set={key}={value}" for key, value in options.set_values.items()]
    flags += [f"--values={path}" for path in template.value_files]
    flags += [f"--set-file={key}={path}" for key, path in template.set_files]
    flags += [f"--api-versions={each}" for each in options.api_versions]
    flags += [f"--kube-version={options.kube_version}"] if options.kube_version else []
    return ("template", *flags, "--", template.release, template.chart)


def _refuse_odd(template: Template) -> None:
    if not template.release:
        raise ToolFailed("input.helmOptions.releaseName is empty, and the application has no name to take for it")
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,51}[a-z0-9])?", template.release):
        raise ToolFailed(
            f"the release would be called {template.release!r}, which helm refuses; expected at most 53 small letters, "
            "digits, '-' and '.'; set input.helmOptions.releaseName"
        )


def value_file(place: Place, written: str, what: str) -> str:
    """A values file as helm is told of it: an http address as it is, a path kept inside the repository."""
    scheme = urlsplit(written).scheme if "://" in written else ""
    if scheme in {"http", "https"}:
        return written
    if scheme:
        raise ToolFailed(f"{what} is {written!r}; expected a path, or an address that begins with http:// or https://")
    found = place.path(written, what)
    if "," in str(found):
        raise ToolFailed(f"{what} is {written!r}; helm takes a comma in a path for the end of it")
    return str(found)


def is_exact(version: str) -> bool:
    """Whether a version can never mean another one tomorrow."""
    return _EXACT.fullmatch(version) is not None


class Dependencies(msgspec.Struct, frozen=True):
    """What a chart in a directory needs beside itself."""

    #: Directories of this repository.
    directories: tuple[Path, ...] = ()
    #: Whether some are not in its `charts` and have to be fetched.
    missing: bool = False
    #: Whether what is fetched may be another version tomorrow.
    floating: bool = False


def dependencies(place: Place, chart: Path) -> Dependencies:
    """What the `Chart.yaml` of a directory says; nothing where there is none, which helm then tells."""
    directories: dict[Path, None] = {}
    missing = floating = False
    waiting = [chart]
    while waiting:
        folder = waiting.pop()
        for entry in _entries(place, folder):
            name, address = str(entry.get("name", "")), str(entry.get("repository") or "")
            if _is_there(folder / "charts", name):
                continue
            missing = True
            if address.startswith("file://"):
                what = f"the dependency {name!r} of {place.shown(folder)}"
                path = place.path(address.removeprefix("file://"), what, base=folder)
                if path not in directories:
                    directories[path] = None
                    waiting.append(path)
            else:
                floating = floating or not is_exact(str(entry.get("version", "")))
    return Dependencies(tuple(directories), missing, floating)


def _entries(place: Place, chart: Path) -> Iterable[dict[str, Any]]:
    for name in ("Chart.yaml", "requirements.yaml"):
        file = chart / name
        if file.is_file():
            documents, _ = read_documents(file.read_bytes(), place.shown(file), LIMITS)
            value = documents[0].value if documents else None
            found = value.get("dependencies") if isinstance(value, dict) else None
            yield from (each for each in found or () if isinstance(each, dict))


def _is_there(charts: Path, name: str) -> bool:
    return (charts / name).is_dir() or any(charts.glob(f"{name}-[0-9v]*.tgz"))


def is_hook(body: Body) -> bool:
    """Whether an object is a step of an installation by helm."""
    annotations = part(body, "metadata", "annotations")
    return isinstance(annotations, Mapping) and HOOK in annotations


def without_hooks(manifests: Iterable[Manifest]) -> tuple[list[Manifest], tuple[str, ...]]:
    """What belongs to the application, and a note for each hook, which does not."""
    kept: list[Manifest] = []
    notes: list[str] = []
    for each in manifests:
        if is_hook(each.body):
            name = each.name or each.metadata.get("generateName", "")
            notes.append(
                f"the chart's hook {each.body.get('kind')} {name} ({each.annotations[HOOK]}) is not run; a SCRIPT_RUN "
                "stage can do its work"
            )
        else:
            kept.append(each)
    return kept, tuple(notes)
