"""Manifests as they are: the files that the application names, or those in its directory."""

from pathlib import Path
from typing import Final

from fairway.config.find import is_application_file
from fairway.config.problems import Position, Problem, in_order
from fairway.config.reader.document import too_large
from fairway.plugins.kubernetes.manifests.documents import LIMITS, BadManifests, Parsed, parse_file
from fairway.plugins.kubernetes.manifests.places import OutsideRepository, Place

_MANIFEST: Final = (".yaml", ".yml", ".json")
#: All files of an application together; more is somebody's mistake and would only be found by the memory it takes.
_MOST_BYTES: Final = 64 << 20
_CHART: Final = "Chart.yaml"
_PIPECD: Final = "pipecd.dev/"


def find_files(place: Place, named: tuple[str, ...], config_filename: str) -> list[tuple[str, Path]]:
    """The files with manifests, each with the name that people know; BadManifests for paths that cannot be used."""
    if not named:
        if (place.directory / _CHART).is_file():
            message = "this directory is a Helm chart; say so in the application's file: input.helmChart.path"
            raise BadManifests([Problem(file=place.shown_for(_CHART), position=Position(1, 1), message=message)])
        return [(place.shown(place.directory / path.name), path) for path in _in_directory(place, config_filename)]
    found: dict[Path, str] = {}
    problems: list[Problem] = []
    for index, written in enumerate(named):
        try:
            path = place.path(written, f"input.manifests[{index}]")
            if path.is_dir():
                raise OutsideRepository(f"input.manifests[{index}] is {written!r}, a directory; expected a file")
            found.setdefault(path, place.shown(path))
        except OutsideRepository as error:
            file = place.shown_for(config_filename)
            problems.append(Problem(file=file, position=Position(1, 1), message=str(error)))
    if problems:
        raise BadManifests(problems)
    return [(name, path) for path, name in found.items()]


def _in_directory(place: Place, config_filename: str) -> list[Path]:
    found: list[Path] = []
    for path in sorted(place.directory.iterdir()):
        if path.suffix not in _MANIFEST or path.name == config_filename or is_application_file(path.name):
            continue
        if path.is_symlink():
            path = place.directory / path.name
            place.path(path.name, "a file of the application's directory")
        if path.is_file():
            found.append(path)
    return found


def read_files(files: list[tuple[str, Path]]) -> list[tuple[str, bytes]]:
    """What stands in the files; BadManifests where it is too much."""
    sizes = [(name, path.stat().st_size) for name, path in files]
    problems = [too_large(size, name, LIMITS) for name, size in sizes if size > LIMITS.bytes]
    total = sum(size for _, size in sizes)
    if not problems and total > _MOST_BYTES:
        message = f"the manifests have {total / (1 << 20):.1f} MiB in all, expected at most {_MOST_BYTES >> 20} MiB"
        problems = [Problem(file=sizes[0][0], position=Position(1, 1), message=message)]
    if problems:
        raise BadManifests(problems)
    return [(name, path.read_bytes()) for name, path in files]


def parse_files(contents: list[tuple[str, bytes]], *, named: bool) -> Parsed:
    """The manifests of all files. What is Fairway's own configuration is no manifest; where files are found and not
    named it is passed over, whatever its file is called."""
    every = Parsed([], [])
    for name, data in contents:
        parsed = parse_file(data, name)
        every.problems.extend(parsed.problems)
        for manifest in parsed.manifests:
            if not manifest.api_version.startswith(_PIPECD):
                every.manifests.append(manifest)
            elif named:
                message = f"this is configuration ({manifest.kind}) and no manifest; take it out of input.manifests"
                position = Position(manifest.where.line, 1)
                every.problems.append(Problem(file=name, position=position, message=message))
    return Parsed(every.manifests, in_order(every.problems))
