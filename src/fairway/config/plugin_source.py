"""The source of a plugin, read from its URL: built in, a Python class, or an executable to fetch."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from fairway.config.built_in import BUILT_IN
from fairway.config.problems import did_you_mean
from fairway.errors import UserError
from fairway.home import from_home

#: What a name may be made of: it names directories, and stands in process lists.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
#: What else lies where plugins keep their files.
_TAKEN: Final = frozenset({"bin", "tools", "running.json", "stages.json", "host"})
#: What the URL of a plugin may begin with, beside a path.
_SCHEMES: Final = ("builtin", "python", "file", "http", "https", "oci")


class BadPlugin(UserError):
    """A plugin that this agent cannot have as its file says."""


class PythonClass(msgspec.Struct, frozen=True):
    """A plugin made with the SDK, to be served by the agent's own plugin host."""

    #: `module:Class`.
    entry: str


class LocalFile(msgspec.Struct, frozen=True):
    """An executable on this machine."""

    path: Path


class WebFile(msgspec.Struct, frozen=True):
    """An executable to be downloaded."""

    url: str


class Artifact(msgspec.Struct, frozen=True):
    """An executable in an OCI registry."""

    #: Host, and port where it is not the usual one.
    registry: str
    repository: str
    #: A tag, or a digest such as `sha256:…`.
    reference: str


PluginSource = PythonClass | LocalFile | WebFile | Artifact


def source_of(name: str, url: str) -> PluginSource:
    """Where the plugin comes from; BadPlugin when an agent cannot start it."""
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise BadPlugin(f"plugin {name!r}: a name is made of letters, digits, '-', '_' and '.', at most 63")
    try:
        parts = urlsplit(url)
        hostname, _port = parts.hostname, parts.port
    except ValueError as error:
        raise BadPlugin(f"plugin {name}: {url!r} is no address ({error})") from error
    scheme, colon, rest = url.partition(":")
    if not colon or "/" in scheme:
        return _local(name, url, url)
    if scheme == "builtin":
        return _built_in(name, rest)
    if scheme == "python" and rest.count(":") == 1 and not rest.startswith(":") and not rest.endswith(":"):
        return PythonClass(rest)
    if scheme == "file":
        return _local(name, url, unquote(parts.path))
    if scheme in {"http", "https"} and hostname:
        return WebFile(url)
    if scheme == "oci":
        return _artifact(name, url, rest.removeprefix("//"))
    raise BadPlugin(
        f"plugin {name}: {url!r} is no source of a plugin; expected file:, http:, https: or oci: with an executable, "
        f"python:module:Class, or builtin:NAME{did_you_mean(scheme, _SCHEMES)}"
    )


def _built_in(name: str, wanted: str) -> PythonClass:
    if wanted not in BUILT_IN:
        near = did_you_mean(wanted, BUILT_IN)
        raise BadPlugin(f"plugin {name}: Fairway has no built-in plugin {wanted!r}, it has {', '.join(BUILT_IN)}{near}")
    return PythonClass(BUILT_IN[wanted])


def _local(name: str, url: str, path: str) -> LocalFile:
    if not path.startswith(("/", "~", ".")):
        raise BadPlugin(f"plugin {name}: {url!r} names no file; write file:///its/whole/path")
    return LocalFile(from_home(path).absolute())


def _artifact(name: str, url: str, rest: str) -> Artifact:
    registry, slash, named = rest.partition("/")
    repository, at, digest = named.partition("@")
    tag = ""
    if not at:
        repository, _, tag = named.partition(":")
    if not (registry and slash and repository):
        raise BadPlugin(f"plugin {name}: {url!r} is no artifact; write oci://registry/repository:tag")
    return Artifact(registry, repository, digest or tag or "latest")
