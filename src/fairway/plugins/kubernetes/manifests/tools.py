"""helm and kustomize in the version that is wanted: the one on the PATH when it fits, or installed by the agent.

An application pins a version by `input.helmVersion` or `input.kustomizeVersion`. One that pins none takes whatever the
PATH has, and without that the version below. What is installed is downloaded from the project's own releases and
compared with the checksums that it publishes; a machine without a network gets its tools by being put into the agent's
tools directory as NAME-VERSION.
"""

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import msgspec

from fairway.errors import FairwayError, TemporaryError, UserError
from fairway.plugins.kubernetes.manifests.command import Command, ToolFailed, run_tool

#: Name, version, script → where the tool is.
Install = Callable[[str, str, str], Awaitable[Path]]

_VERSION: Final = re.compile(r"\bv?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)")
_WRITTEN: Final = re.compile(r"v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)")


#: How long an installation is waited for at a time: less than an agent waits for the answer to a question.
_INSTALL_SECONDS: Final = 90.0


class NoTool(UserError):
    """A tool that is needed and cannot be had."""


class NoToolYet(TemporaryError):
    """The same, but it may be had later."""


class Tool(msgspec.Struct, frozen=True):
    """A tool on this machine."""

    name: str
    path: Path
    #: Empty when it does not say.
    version: str


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a tool."""

    default: str
    option: str
    says_version: tuple[str, ...]
    script: str


_DOWNLOAD: Final = """\
set -eu
cd {{ .TmpDir }}
get() {
  if command -v curl >/dev/null; then curl -fsSL --connect-timeout 10 --retry 2 --max-time 300 -o "$2" "$1"
  else wget -q -T 10 -t 3 -O "$2" "$1"; fi
}
check() { if command -v sha256sum >/dev/null; then sha256sum -c "$1"; else shasum -a 256 -c "$1"; fi; }
"""
_SOURCES: Final = {
    "helm": _Source(
        default="3.22.0",
        option="input.helmVersion",
        says_version=("version", "--short"),
        script=_DOWNLOAD
        + """\
archive=helm-v{{ .Version }}-{{ .Os }}-{{ .Arch }}.tar.gz
get "https://get.helm.sh/$archive" "$archive"
get "https://get.helm.sh/$archive.sha256sum" sums
check sums
tar -xzf "$archive"
mv "{{ .Os }}-{{ .Arch }}/helm" {{ .OutPath }}
""",
    ),
    "kustomize": _Source(
        default="5.8.1",
        option="input.kustomizeVersion",
        says_version=("version",),
        script=_DOWNLOAD
        + """\
archive=kustomize_v{{ .Version }}_{{ .Os }}_{{ .Arch }}.tar.gz
releases=https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv{{ .Version }}
get "$releases/$archive" "$archive"
get "$releases/checksums.txt" checksums.txt
grep " $archive\\$" checksums.txt > sums
check sums
tar -xzf "$archive"
mv kustomize {{ .OutPath }}
""",
    ),
}


class Tools:
    """Finds tools; what was found once is known."""

    def __init__(self, install: Install, seconds: float = _INSTALL_SECONDS) -> None:
        self._install = install
        self._seconds = seconds
        #: Path, inode and time of change → the version that it says it has.
        self._versions: dict[tuple[str, int, int], str] = {}
        self._installed: dict[tuple[str, str], Tool] = {}

    async def find(self, name: str, version: str) -> Tool:
        """A tool in a version, any version where that is empty; NoTool with everything that was tried."""
        source = _SOURCES[name]
        pinned = _WRITTEN.fullmatch(version.strip()) if version else None
        if version and pinned is None:
            raise NoTool(f"{source.option} is {version!r}; expected a version such as {source.default}")
        wanted = pinned[1] if pinned else ""
        on_path = await self._on_path(name)
        if on_path is not None and wanted in {"", on_path.version}:
            return on_path
        known = self._installed.get((name, wanted or source.default))
        if known is not None and await asyncio.to_thread(known.path.is_file):
            return known
        return await self._from_agent(name, wanted, on_path)

    async def _on_path(self, name: str) -> Tool | None:
        found = await asyncio.to_thread(shutil.which, name)
        if found is None:
            return None
        path = Path(found)
        status = await asyncio.to_thread(path.stat)
        identity = (found, status.st_ino, status.st_mtime_ns)
        if identity not in self._versions:
            self._versions[identity] = await _version(name, path)
        return Tool(name, path, self._versions[identity])

    async def _from_agent(self, name: str, wanted: str, on_path: Tool | None) -> Tool:
        source = _SOURCES[name]
        version = wanted or source.default
        asked = f"{source.option} asks for it" if wanted else f"{source.option} pins none"
        seen = "the PATH has none"
        if on_path is not None:
            seen = f"the PATH has {on_path.version or 'one that tells no version'} at {on_path.path}"
        needed = f"{name} {version} is needed ({asked}), but {seen}, and the agent"
        try:
            async with asyncio.timeout(self._seconds):
                path = await self._install(name, version, source.script)
        except TimeoutError as error:
            # It goes on there, and whoever asks again finds it further.
            raise NoToolYet(f"{needed} is still installing it") from error
        except FairwayError as error:
            kind = NoToolYet if error.retry else NoTool
            raise kind(f"{needed} could not install it: {error}") from error
        tool = self._installed[name, version] = Tool(name, path, version)
        return tool


async def _version(name: str, path: Path) -> str:
    arguments = (str(path), *_SOURCES[name].says_version)
    try:
        said = await run_tool(Command(name=f"{name} version", arguments=arguments, directory=path.parent))
    except ToolFailed:
        return ""
    found = _VERSION.search(said.decode("utf-8", "replace"))
    return found[1] if found else ""
