"""What only shows with the rest of its repository in view: files that an application wants rendered and that are not
there, and a name that another application has."""

from collections.abc import Iterator
from pathlib import Path

from fairway.config.application import ApplicationConfig
from fairway.config.problems import Path as FieldPath
from fairway.config.problems import Problem, Severity
from fairway.config.reader.document import Document


class Applications:
    """The applications that have been looked at."""

    def __init__(self) -> None:
        #: By repository and name.
        self._files: dict[tuple[Path, str], Path] = {}

    def problems(self, file: Path, document: Document, config: ApplicationConfig) -> list[Problem]:
        """What is wrong with one more of them, which the file describes."""
        root = _repository(file)
        found = [
            _problem(document, path, f"is {name!r}, which {why}")
            for path, name in _rendered(config)
            if (why := _unusable(root, file.parent, name))
        ]
        first = file if root is None or not config.name else self._files.setdefault((root, config.name), file)
        if first.resolve() != file.resolve():
            message = f"is {config.name!r}, the name of the application in {first} too; lists show both by that name"
            found.append(_problem(document, ("spec", "name"), message, Severity.WARNING))
        return [*found, *_unnamed(document, config)]


def _unnamed(document: Document, config: ApplicationConfig) -> Iterator[Problem]:
    """The names that a file leaves to the registration of its application."""
    if not config.name:
        message = "is missing; agents suggest and register no application without a name"
        yield _problem(document, ("spec", "name"), message, Severity.WARNING)
    if not config.plugins and not config.stages:
        message = (
            "names no plugin: write the plugin's settings under spec.plugins, or a pipeline; "
            "else each deployment fails, unless the application is registered with a deploy target"
        )
        yield _problem(document, ("spec",), message, Severity.WARNING)


def _rendered(config: ApplicationConfig) -> Iterator[tuple[FieldPath, str]]:
    """Every file that rendering reads, and where the application names it."""
    for number, target in enumerate(config.encryption.decryption_targets):
        yield ("spec", "encryption", "decryptionTargets", number), target
    for name, source in config.attachment.sources.items():
        yield ("spec", "attachment", "sources", name), source
    for number, target in enumerate(config.attachment.targets):
        yield ("spec", "attachment", "targets", number), target


def _unusable(root: Path | None, directory: Path, file: str) -> str:
    # Only for those who have something to render: templates take a while to load.
    from fairway.secrets.render import why_unusable

    # Without a repository, nothing is outside of it.
    return why_unusable(root or Path(directory.resolve().anchor), directory, file)


def _repository(file: Path) -> Path | None:
    return next((each for each in file.resolve().parents if (each / ".git").exists()), None)


def _problem(document: Document, path: FieldPath, message: str, severity: Severity = Severity.ERROR) -> Problem:
    # Not by the document itself, which gives up when there are hundreds.
    position = document.position(path)
    return Problem(file=document.file, position=position, path=path, message=message, severity=severity)
