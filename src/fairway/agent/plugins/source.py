"""Where a plugin comes from, as its URL says: brought along, a Python class, or an executable to be fetched."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from fairway.agent.plugins.built_in import BUILT_IN
from fairway.config.agent import PluginConfig
from fairway.errors import UserError
from fairway.home import from_home

#: What a name may be made of: it names directories, and stands in process lists.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
#: What else lies where plugins keep their files.
_TAKEN: Final = frozenset({"bin", "tools", "running.json", "host"})


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


def source_of(plugin: PluginConfig) -> PluginSource:
    """Where the plugin comes from; BadPlugin when that cannot be told."""
    if not _NAME.fullmatch(plugin.name) or plugin.name in _TAKEN:
        raise BadPlugin(f"plugin {plugin.name!r}: a name is made of letters, digits, '-', '_' and '.', at most 63")
    try:
        parts = urlsplit(plugin.url)
        hostname, _port = parts.hostname, parts.port
    except ValueError as error:
        raise BadPlugin(f"plugin {plugin.name}: {plugin.url!r} is no address ({error})") from error
    scheme, colon, rest = plugin.url.partition(":")
    if not colon or "/" in scheme:
        return _local(plugin, plugin.url)
    if scheme == "builtin" and rest in BUILT_IN:
        return PythonClass(BUILT_IN[rest])
    if scheme == "python" and rest.count(":") == 1 and not rest.startswith(":") and not rest.endswith(":"):
        return PythonClass(rest)
    if scheme == "file":
        return _local(plugin, unquote(parts.path))
    if scheme in {"http", "https"} and hostname:
        return WebFile(plugin.url)
    if scheme == "oci":
        return _artifact(plugin, rest.removeprefix("//"))
    known = ", ".join(f"builtin:{name}" for name in BUILT_IN)
    raise BadPlugin(
        f"plugin {plugin.name}: {plugin.url!r} is no plugin that this agent can start; "
        f"expected file:, http:, https: or oci: with an executable, python:module:Class, or one of {known}"
    )


def is_foreign(plugin: PluginConfig) -> bool:
    """Whether a plugin knows only what PipeCD's plugins know, as far as its agent has been told."""
    return not isinstance(source_of(plugin), PythonClass) and plugin.handover == "arguments"


def shares_process(plugin: PluginConfig) -> bool:
    """Whether a plugin in Python shares a process with others: those that Fairway brings along do."""
    if plugin.isolation is None:
        return plugin.url.startswith("builtin:")
    return plugin.isolation == "shared"


def _local(plugin: PluginConfig, path: str) -> LocalFile:
    if not path.startswith(("/", "~", ".")):
        raise BadPlugin(f"plugin {plugin.name}: {plugin.url!r} names no file; write file:///its/whole/path")
    return LocalFile(from_home(path).absolute())


def _artifact(plugin: PluginConfig, rest: str) -> Artifact:
    registry, slash, named = rest.partition("/")
    repository, at, digest = named.partition("@")
    tag = ""
    if not at:
        repository, _, tag = named.partition(":")
    if not (registry and slash and repository):
        raise BadPlugin(f"plugin {plugin.name}: {plugin.url!r} is no artifact; write oci://registry/repository:tag")
    return Artifact(registry, repository, digest or tag or "latest")
