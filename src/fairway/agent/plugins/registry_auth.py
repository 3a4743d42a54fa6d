"""Who pulls from a registry: as Docker and its kin have written it down, so that nothing has to be written twice.

The file that a plugin's entry names comes first, then the one of the user that the agent runs as. A helper that such a
file names is asked by its standard input. A password never stands in a command, a log or a message.
"""

import asyncio
import base64
import binascii
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fairway.config.plugin_source import BadPlugin
from fairway.errors import TemporaryError
from fairway.home import from_home
from fairway.secrets.secret import Secret

#: Under which helpers and old files know Docker's own registry.
_DOCKER_HUB = {"docker.io", "index.docker.io", "registry-1.docker.io"}
_HELPER_SECONDS = 30.0
#: What a helper says for a registry of which it knows nothing.
_UNKNOWN = "credentials not found"


class HelperFailed(TemporaryError):
    """A program that keeps passwords and did not give one."""


class Credential(msgspec.Struct, frozen=True):
    """Who pulls."""

    user: str
    password: Secret
    #: Whether the password is a token that is exchanged for others.
    is_token: bool = False


def auth_files(named: str) -> tuple[Path, ...]:
    """Where to look: the named file alone, or what the user of this process has."""
    if named:
        return (from_home(named),)
    docker = from_home(os.environ.get("DOCKER_CONFIG") or "~/.docker") / "config.json"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return (docker, Path(runtime) / "containers" / "auth.json") if runtime else (docker,)


async def credential(registry: str, named: str = "") -> Credential | None:
    """Who is to pull from a registry; None: anybody. BadPlugin when the named file cannot be used."""
    for path in auth_files(named):
        content = await asyncio.to_thread(_read, path, bool(named))
        found = await _of_registry(content, registry, path)
        if found is not None:
            return found
    return None


async def _of_registry(content: dict[str, Any], registry: str, path: Path) -> Credential | None:
    names = _names(registry)
    helpers = content.get("credHelpers") or {}
    for name in names:
        if name in helpers:
            return await _asked(str(helpers[name]), name)
    auths = content.get("auths") or {}
    entries = {_host(key): value for key, value in auths.items() if isinstance(value, dict)}
    for name in names:
        if (entry := entries.get(_host(name))) and (found := _written(entry, path)):
            return found
    store = content.get("credsStore")
    return await _asked(str(store), registry) if store else None


def _written(entry: dict[str, Any], path: Path) -> Credential | None:
    if token := entry.get("identitytoken"):
        return Credential(str(entry.get("username") or ""), Secret(str(token)), is_token=True)
    if entry.get("username") and entry.get("password"):
        return Credential(str(entry["username"]), Secret(str(entry["password"])))
    if not entry.get("auth"):
        return None
    try:
        user, colon, password = base64.b64decode(str(entry["auth"]), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        colon = ""
    if not colon:
        # Without the cause: it may show a part of the password.
        raise BadPlugin(f"{path} has an auth that is not the base64 of user:password") from None
    return Credential(user, Secret(password))


async def _asked(helper: str, registry: str) -> Credential | None:
    """What a helper knows of a registry, by the protocol that Docker has for them."""
    program = f"docker-credential-{helper}"
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            "get",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise BadPlugin(f"{program}, which is to know the password of {registry}, cannot be run ({error})") from error
    try:
        async with asyncio.timeout(_HELPER_SECONDS):
            output, _ = await process.communicate(registry.encode())
    except TimeoutError as error:
        raise HelperFailed(f"{program} did not answer within {_HELPER_SECONDS:g}s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        if _UNKNOWN in output.decode(errors="replace"):
            return None
        raise HelperFailed(f"{program} ended with status {process.returncode} when asked for {registry}")
    try:
        said = msgspec.json.decode(output, type=dict[str, str])
        user, secret = said["Username"], Secret(said["Secret"])
    except (msgspec.DecodeError, KeyError):
        raise HelperFailed(f"{program} did not answer as such programs do when asked for {registry}") from None
    return Credential(user, secret, is_token=user == "<token>")


def _read(path: Path, needed: bool) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        if needed:
            raise BadPlugin(f"registryAuthFile {path} cannot be read ({error.strerror})") from error
    except msgspec.DecodeError:
        raise BadPlugin(f"{path} is no file such as Docker's config.json") from None
    return {}


def _names(registry: str) -> Sequence[str]:
    return ("https://index.docker.io/v1/", *_DOCKER_HUB) if registry in _DOCKER_HUB else (registry,)


def _host(key: str) -> str:
    """The registry that an entry is for; old ones are whole addresses."""
    return key.rpartition("://")[2].partition("/")[0]
