"""Puts opened values where they are needed: into files of a materialised tree, and into the text of scripts.

Files come in two groups, as PipeCD has them: decryption targets and attachment targets. A decryption target that
is attached to other files is rendered first and sees secrets only; all others are rendered once, with secrets
and attached files, so that nothing is ever read as a template twice. Files are UTF-8 and keep their mode and
line ends. Everything is rendered in memory before anything is written, and every problem is told at once.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from fairway.errors import TemporaryError
from fairway.secrets.actions import SPACE, Action, find_actions
from fairway.secrets.renderer import RENDERER
from fairway.secrets.secret import Secret, SecretError
from fairway.secrets.template import MAX_CHARACTERS, MAX_TOTAL_CHARACTERS, TemplateValues, Text


class Unsealer(Protocol):
    """Whoever can open sealed values: a `PrivateKey`."""

    def unseal(self, text: str) -> Secret:
        """Open one sealed text."""
        ...


class TreeWriteError(TemporaryError):
    """The rendered files could not be written; the tree is to be made again."""


class RenderRequest(msgspec.Struct, frozen=True):
    """What to render in one application's part of a materialised tree."""

    #: The top of the tree; no file outside of it is read or written.
    root: Path
    #: The application's directory, at or below `root`; all paths below are relative to it.
    app_dir: Path
    #: Name → sealed text.
    encrypted_secrets: Mapping[str, str] = {}
    decryption_targets: tuple[str, ...] = ()
    #: Name → file.
    attachment_sources: Mapping[str, str] = {}
    attachment_targets: tuple[str, ...] = ()


def render_targets(request: RenderRequest, unsealer: Unsealer | None) -> TemplateValues:
    """Render every target in place and return the opened values, for scripts and for masking.

    `unsealer` may be missing when there is nothing to open.
    """
    problems: list[str] = []
    secrets = _unsealed(request.encrypted_secrets, unsealer, problems)
    tree = _Tree(request.root, request.app_dir)
    sources = tree.find(request.attachment_sources.values(), "attachment.sources", problems)
    decrypted = tree.find(request.decryption_targets, "encryption.decryptionTargets", problems)
    attached = tree.find(request.attachment_targets, "attachment.targets", problems)
    _stop_at(problems)

    first = [path for path in decrypted.values() if path in sources.values() and path not in attached.values()]
    tree.render(first, TemplateValues(secrets), problems)
    _stop_at(problems)
    attachment = {name: Secret(tree.texts[sources[file]]) for name, file in request.attachment_sources.items()}
    values = TemplateValues(secrets, attachment)
    then = [path for path in {**decrypted, **attached}.values() if path not in first]
    tree.render(then, values, problems)
    _stop_at(problems)
    tree.write()
    return values


def opened_values(request: RenderRequest, unsealer: Unsealer | None) -> TemplateValues:
    """The opened values of a tree whose targets have been rendered before; nothing is written."""
    problems: list[str] = []
    secrets = _unsealed(request.encrypted_secrets, unsealer, problems)
    tree = _Tree(request.root, request.app_dir)
    sources = tree.find(request.attachment_sources.values(), "attachment.sources", problems)
    _stop_at(problems)
    attachment = {name: Secret(tree.texts[sources[file]]) for name, file in request.attachment_sources.items()}
    return TemplateValues(secrets, attachment)


def why_unusable(root: Path, app_dir: Path, file: str) -> str:
    """Why a file that an application names could not be rendered, or attached; empty when it could."""
    try:
        _read(_real_path(root, app_dir, file))
    except SecretError as error:
        return str(error)
    return ""


def render_options(options: Any, values: TemplateValues, name: str) -> Any:
    """A stage's options with every text in them rendered: commands, `onRollback`, `env`, at any depth.

    Only the actions of ours are rendered (`actions.py` says which); the rest of a text stays as it is.
    """
    texts = [(text, find_actions(text.text, text.name)) for text in _texts(options, name)]
    templates = [
        msgspec.structs.replace(text, pieces=tuple((each.start, each.end) for each in actions))
        for text, actions in texts
        if actions
    ]
    if not templates:
        return options
    answers = RENDERER.render(templates, values.data())
    _stop_at([answer.problem for answer in answers if answer.problem])
    left = iter(answers)
    rendered = (_filled(text.text, actions, next(left).pieces) if actions else text.text for text, actions in texts)
    return _replaced(options, rendered)


def _texts(options: Any, name: str) -> Iterator[Text]:
    """Every text in the options, named by its place."""
    if isinstance(options, str):
        yield Text(name, options)
    elif isinstance(options, list):
        for index, item in enumerate(options):
            yield from _texts(item, f"{name}[{index}]")
    elif isinstance(options, dict):
        for key, item in options.items():
            yield from _texts(item, f"{name}.{key}")


def _replaced(options: Any, texts: Iterator[str]) -> Any:
    """The options with other texts, given in the order of `_texts`."""
    if isinstance(options, str):
        return next(texts)
    if isinstance(options, list):
        return [_replaced(item, texts) for item in options]
    if isinstance(options, dict):
        return {key: _replaced(item, texts) for key, item in options.items()}
    return options


def _filled(text: str, actions: list[Action], rendered: Iterable[str]) -> str:
    """The text with each action replaced; trim markers take white space away."""
    out: list[str] = []
    position = 0
    trims = False
    for action, piece in zip(actions, rendered, strict=True):
        before = text[position : action.start]
        before = before.lstrip(SPACE) if trims else before
        out += [before.rstrip(SPACE) if action.trims_before else before, piece]
        position, trims = action.end, action.trims_after
    rest = text[position:]
    return "".join([*out, rest.lstrip(SPACE) if trims else rest])


def _unsealed(sealed: Mapping[str, str], unsealer: Unsealer | None, problems: list[str]) -> dict[str, Secret]:
    if unsealer is None:
        if sealed:
            problems.append(
                "encryption.encryptedSecrets: this agent has no private key to open sealed values with; "
                "give it one under secretManagement"
            )
        return {}
    secrets: dict[str, Secret] = {}
    for name, text in sealed.items():
        with _told(f"encryption.encryptedSecrets.{name}: ", problems):
            secrets[name] = unsealer.unseal(text)
    return secrets


def _stop_at(problems: list[str]) -> None:
    if problems:
        raise SecretError(list(dict.fromkeys(problems)))


@contextlib.contextmanager
def _told(prefix: str, problems: list[str]) -> Iterator[None]:
    """Note a problem and go on, so that all of them are told at once."""
    try:
        yield
    except SecretError as error:
        problems += [f"{prefix}{problem}" for problem in error.problems]


_TOTAL_LIMIT = f"; the limit for the rendered and attached files of an application is {MAX_TOTAL_CHARACTERS} bytes"


class _Tree:
    """The files of one tree that take part, as they will be."""

    def __init__(self, root: Path, app_dir: Path) -> None:
        self._root = root.resolve(strict=True)
        self._app_dir = app_dir
        #: Real path → text; rendering replaces it here, `write` in the tree.
        self.texts: dict[Path, str] = {}
        self._rendered: dict[Path, bytes] = {}
        self._names: dict[Path, str] = {}
        #: Bytes of the files that were read.
        self._total = 0

    def find(self, files: Iterable[str], key: str, problems: list[str]) -> dict[str, Path]:
        """Read files by the names they have in the configuration."""
        found: dict[str, Path] = {}
        for file in files:
            with _told(f"{key}: {file!r} ", problems):
                path = _real_path(self._root, self._app_dir, file)
                if path not in self.texts:
                    self._total += path.stat().st_size
                    if self._total > MAX_TOTAL_CHARACTERS:
                        raise SecretError(f"makes {self._total} bytes with the files before it{_TOTAL_LIMIT}")
                    self.texts[path] = _read(path)
                found[file] = path
                self._names.setdefault(path, file)
        return found

    def render(self, paths: Iterable[Path], values: TemplateValues, problems: list[str]) -> None:
        """Render files in memory."""
        files = list(dict.fromkeys(paths))
        texts = [Text(self._names[path], self.texts[path]) for path in files]
        for path, answer in zip(files, RENDERER.render(texts, values.data()), strict=True):
            if answer.problem:
                problems.append(answer.problem)
                continue
            (self.texts[path],) = answer.pieces
            self._rendered[path] = self.texts[path].encode()

    def write(self) -> None:
        """Put the rendered files in place: first all of them beside their targets, then each by one rename."""
        staged: dict[Path, Path] = {}
        try:
            for path, content in self._rendered.items():
                staged[path] = _stage(path, content)
            for path in list(staged):
                os.replace(staged[path], path)
                del staged[path]
        except OSError as error:
            raise TreeWriteError(f"a rendered file could not be written: {error.strerror}") from error
        finally:
            for leftover in staged.values():
                leftover.unlink(missing_ok=True)


def _stage(path: Path, content: bytes) -> Path:
    """Write a file that only we can read beside its target, then give it the target's mode."""
    handle, name = tempfile.mkstemp(prefix=".fairway-", dir=path.parent)
    staged = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
    except OSError:
        staged.unlink(missing_ok=True)
        raise
    return staged


def _real_path(root: Path, app_dir: Path, file: str) -> Path:
    """Where a file of the configuration really is, after `..` and links; never outside of the tree."""
    if not file or Path(file).is_absolute() or "\0" in file:
        raise SecretError("is not a relative path; write it from the application's directory")
    try:
        path = (app_dir / file).resolve(strict=True)
    except FileNotFoundError as error:
        raise SecretError("does not exist in the application's directory") from error
    except (OSError, RuntimeError) as error:
        raise SecretError("cannot be reached: its path has a loop or a file where a directory should be") from error
    if not path.is_relative_to(root):
        raise SecretError("leads out of the repository; only files of the repository are rendered")
    if ".git" in path.relative_to(root).parts:
        raise SecretError("is inside .git, which is not rendered")
    if not path.is_file():
        raise SecretError("is not a regular file")
    return path


def _read(path: Path) -> str:
    size = path.stat().st_size
    if size > MAX_CHARACTERS:
        raise SecretError(f"has {size} bytes, more than the {MAX_CHARACTERS} that are rendered")
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        # Not chained: that error carries the file.
        raise SecretError(
            f"is not UTF-8 text (byte {error.start} does not fit); only text files are rendered"
        ) from None
