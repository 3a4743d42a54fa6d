"""Whether the plain manifests of an application can be deployed, as far as that can be told without a cluster.

What charts and kustomizations make is known only when their tools have run; a plan preview does that.
"""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.config.platforms import KubernetesInput, KubernetesSpec
from fairway.config.problems import Position, Problem
from fairway.config.reader.document import read_documents
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.manifests.documents import BadManifests
from fairway.plugins.kubernetes.manifests.kustomize import kustomization_in
from fairway.plugins.kubernetes.manifests.places import OutsideRepository, Place
from fairway.plugins.kubernetes.manifests.plain import find_files, parse_files, read_files
from fairway.plugins.kubernetes.manifests.scope import in_namespace
from fairway.plugins.kubernetes.manifests.together import described_twice, nothing_at_all
from fairway.plugins.kubernetes.shaping.names import too_long_names


class Linted(NamedTuple):
    """Which files there are, by the paths that lead to them from here, and what is wrong with them."""

    files: tuple[str, ...]
    problems: tuple[Problem, ...]


def lint_manifests(config_file: Path, spec: KubernetesSpec, config: ApplicationConfig, *, are_needed: bool) -> Linted:
    """Check the plain manifests of the application that the file describes; `are_needed` where no deployment of it can
    do without."""
    # The files that secrets and attachments are rendered into.
    rendered = config.encryption.decryption_targets + config.attachment.targets
    if spec.input.helm_chart is not None or kustomization_in(config_file.parent):
        return Linted((), ())
    directory = config_file.parent.resolve()
    place = Place(_root(directory), directory)
    files: dict[str, None] = {}
    problems: dict[Problem, None] = {}
    for wanted in _inputs(spec.input):
        try:
            found = find_files(place, wanted.manifests, config_file.name)
            files |= dict.fromkeys(_from_here(place, config_file, name) for name, _ in found)
            parsed = parse_files(read_files(found), named=bool(wanted.manifests))
            wrong = parsed.problems + _wrong_together(parsed.manifests, wanted.namespace)
            wrong += too_long_names(parsed.manifests, spec, config)
            if are_needed and not parsed.manifests and not wrong:
                wrong = [nothing_at_all(place.shown_for(config_file.name))]
        except BadManifests as error:
            wrong = list(error.problems)
        except OutsideRepository as error:
            file = place.shown_for(config_file.name)
            wrong = [Problem(file=file, position=Position(1, 1), message=str(error))]
        for each in wrong:
            if _is_rendered_later(each, place, rendered):
                continue
            problems[msgspec.structs.replace(each, file=_from_here(place, config_file, each.file))] = None
    return Linted(tuple(files), tuple(problems))


def _is_rendered_later(problem: Problem, place: Place, rendered: Collection[str]) -> bool:
    """Whether a problem is about a template, whose text is known only when the agent has rendered it."""
    file = place.root / problem.file
    if file.resolve() not in {(place.directory / each).resolve() for each in rendered}:
        return False
    data = file.read_bytes()
    if not problem.path:
        # The text becomes YAML only when it is rendered.
        return b"{{" in data and not read_documents(data, problem.file)[0]
    lines = data.splitlines()
    return problem.position.line <= len(lines) and b"{{" in lines[problem.position.line - 1]


def _wrong_together(manifests: Sequence[Manifest], namespace: str) -> list[Problem]:
    """What a deployment would find. It asks its cluster which custom kinds have namespaces; not knowing that hides at
    most a double, and makes none: two of a name and a namespace are one object in either case."""
    return described_twice(asyncio.run(in_namespace(manifests, namespace)))


def _inputs(given: KubernetesInput) -> list[KubernetesInput]:
    """What each of several clusters gets, but for what kustomize makes; one input where there is but one."""
    if not given.multi_targets:
        return [given]
    return [
        msgspec.structs.replace(given, manifests=each.manifests or given.manifests)
        for each in given.multi_targets
        if not each.kustomize_dir
    ]


def _root(directory: Path) -> Path:
    """The repository that a directory is in; without one, nothing is outside."""
    return next((each for each in (directory, *directory.parents) if (each / ".git").exists()), Path(directory.anchor))


def _from_here(place: Place, config_file: Path, name: str) -> str:
    path = place.root / name
    near = path.is_relative_to(place.directory)
    return str(config_file.parent / path.relative_to(place.directory) if near else path)
