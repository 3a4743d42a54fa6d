"""The gate for everything that callers, YAML files and webhooks hand to git: hashes, branches, paths.

A name that passes here cannot be read as an option, climb out of the tree, break a line protocol or be expanded as
a revision expression. Every module of this package calls these checks before it builds a command; none repeats them.
"""

import re
from collections.abc import Iterable

from fairway.git.errors import GitInputError

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HASHES = re.compile(r"(?:[0-9a-f]{40}(?:[0-9a-f]{24})? )*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FORBIDDEN_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_TRAILER_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_PERSON = re.compile(r"[\x00-\x1f\x7f<>]")


def checked_hash(text: str) -> str:
    """A whole object hash; abbreviations and revision expressions are refused."""
    if not _HASH.fullmatch(text):
        raise GitInputError(f"{text!r} is not a commit hash; expected all 40 (or 64) lower-case hexadecimal digits")
    return text


def checked_hashes(texts: Iterable[str]) -> list[str]:
    """Whole object hashes, each once, in order; thousands are checked in one go."""
    unique = list(dict.fromkeys(texts))
    if not _HASHES.fullmatch(" ".join([*unique, ""])):
        return [checked_hash(text) for text in unique]
    return unique


def checked_branch(text: str) -> str:
    """A branch name that git itself would accept, without `refs/heads/`."""
    problem = _branch_problem(text)
    if problem:
        raise GitInputError(f"{text!r} is not a branch name: it {problem}")
    return text


def _branch_problem(text: str) -> str | None:
    if not text or text == "@":
        return "is empty or a lone '@'"
    if text.startswith(("-", "/")):
        return f"starts with {text[0]!r}"
    if text.startswith("refs/"):
        return "starts with 'refs/'; give the short name, such as 'main'"
    if bad := _FORBIDDEN_IN_REFS.search(text):
        return f"contains {bad[0]!r}"
    if text.endswith(("/", ".")):
        return f"ends with {text[-1]!r}"
    if any(part.startswith(".") or part.endswith(".lock") for part in text.split("/")):
        return "has a part that starts with '.' or ends with '.lock'"
    if not _encodes(text):
        return "holds characters that are not text"
    return None


def checked_path(text: str) -> str:
    """A file or directory inside the repository, written with `/` and relative to its root."""
    problem = _path_problem(text)
    if problem:
        raise GitInputError(
            f"{text!r} is not a path inside the repository: it {problem}; expected something like 'apps/web/app.yaml'"
        )
    return text


def _path_problem(text: str) -> str | None:
    if not text:
        return "is empty"
    if text.startswith("/"):
        return "is absolute"
    if text.startswith("-"):
        return "starts with '-'"
    if bad := _CONTROL.search(text):
        return f"contains the control character {bad[0]!r}"
    if (odd := odd_component(text)) is not None:
        return f"has the component {odd!r}"
    if not _encodes(text, "surrogateescape"):
        return "holds characters that no file system can store"
    return None


def odd_component(path: str) -> str | None:
    """The first component that must never reach a file system: '', '.', '..' or any spelling of '.git'."""
    for component in path.split("/"):
        if component in {"", ".", ".."} or component.lower() == ".git":
            return component
    return None


def _encodes(text: str, errors: str = "strict") -> bool:
    try:
        text.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True


def checked_person(name: str, email: str) -> tuple[str, str]:
    """A name and an e-mail address that fit into a commit's author line."""
    for what, text in (("name", name), ("e-mail address", email)):
        if not text.strip() or _PERSON.search(text):
            raise GitInputError(
                f"{text!r} is not the {what} of a commit author; expected one line, not empty, without '<' and '>'"
            )
    return name.strip(), email.strip()


def checked_trailer(key: str, value: str) -> tuple[str, str]:
    """One `Key: value` line at the end of a commit message."""
    if not _TRAILER_KEY.fullmatch(key):
        raise GitInputError(f"{key!r} is not the key of a commit trailer; expected letters, digits and '-'")
    if not value.strip() or _CONTROL.search(value):
        raise GitInputError(f"the commit trailer {key} has the value {value!r}; expected one line, not empty")
    return key, value.strip()


def to_bytes(path: str) -> bytes:
    """A path as git stores it; names that are not UTF-8 travel as surrogates (see `to_text`)."""
    return path.encode("utf-8", "surrogateescape")


def to_text(path: bytes) -> str:
    """A path from git as text, so that `to_bytes` gives the same bytes back."""
    return path.decode("utf-8", "surrogateescape")
