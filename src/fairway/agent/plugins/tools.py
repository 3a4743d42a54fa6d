"""Command-line tools that plugins ask for: installed once by the script that the plugin gives, kept for all.

The script is a Go template with Name, Version, OutPath, TmpDir, Arch and Os. It runs in a directory of its own and
leaves the tool at OutPath; only what is whole gets its place, so a script that was killed leaves nothing behind.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from fairway.agent.plugins.machine import this_platform
from fairway.errors import TemporaryError, UserError
from fairway.in_thread import in_thread
from fairway.secrets.renderer import RENDERER
from fairway.secrets.secret import SecretError
from fairway.secrets.template import Text

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,126}")
#: How long an installation may take; it downloads something, as a rule.
INSTALL_SECONDS = 600.0
_SHOWN = 2000


class BadTool(UserError):
    """A tool that cannot be installed as the plugin asks for it."""


class InstallFailed(TemporaryError):
    """The script of a tool did not bring it; it may another time."""


class Tools:
    """The tools of one agent, in one directory."""

    def __init__(self, directory: Path, seconds: float = INSTALL_SECONDS) -> None:
        self._directory = directory
        self._seconds = seconds
        #: File name → its installation that is under way.
        self._installing: dict[str, asyncio.Task[None]] = {}

    async def install(self, name: str, version: str, script: str) -> Path:
        """Where the tool is, once it is there; many may ask for the same at once."""
        for word, what in ((name, "name"), (version, "version")):
            if not _PLAIN.fullmatch(word):
                raise BadTool(f"{word!r} is no {what} of a tool; expected letters, digits, '.', '_', '+' and '-'")
        path = self._directory / f"{name}-{version}"
        if not await asyncio.to_thread(path.is_file):
            if (installing := self._installing.get(path.name)) is None:
                installing = asyncio.create_task(
                    self._installed(path, name, version, script), name=f"install {path.name}"
                )
                self._installing[path.name] = installing
                installing.add_done_callback(lambda _ended: self._installing.pop(path.name))
            # It goes on when whoever asked has no more time: they ask again, and a slow download would never end.
            await asyncio.shield(installing)
        return path

    async def _installed(self, path: Path, name: str, version: str, script: str) -> None:
        try:
            # Somebody may have brought it in this very moment.
            if not await asyncio.to_thread(path.is_file):
                await self._run(path, name, version, script)
        except OSError as error:
            why = error.strerror or error
            raise InstallFailed(f"tool {path.name} cannot be written to {self._directory} ({why})") from error

    async def _run(self, path: Path, name: str, version: str, script: str) -> None:
        await asyncio.to_thread(self._directory.mkdir, parents=True, exist_ok=True)
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=".unfinished-", dir=self._directory))
        try:
            made = folder / "out"
            system, architecture = this_platform()
            words = {"Name": name, "Version": version, "OutPath": str(made), "TmpDir": str(folder)}
            words |= {"Arch": architecture, "Os": system}
            text = await in_thread(_rendered, script, words, path.name)
            said, status = await self._shell(text, folder)
            if status != 0:
                raise InstallFailed(f"tool {path.name}: its script ended with status {status}: {said[-_SHOWN:]}")
            await asyncio.to_thread(_keep, made, path)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _shell(self, text: str, folder: Path) -> tuple[str, int]:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            text,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._seconds):
                output, _ = await process.communicate()
        except TimeoutError as error:
            raise InstallFailed(f"a tool's script did not end within {self._seconds:g}s") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return output.decode(errors="replace").strip(), process.returncode or 0


def _rendered(script: str, words: dict[str, str], tool: str) -> str:
    try:
        (answer,) = RENDERER.render([Text(f"script of tool {tool}", script)], words)
    except SecretError as error:
        raise BadTool(str(error)) from error
    if answer.problem:
        raise BadTool(answer.problem)
    (text,) = answer.pieces
    return text


def _keep(made: Path, path: Path) -> None:
    if not made.is_file():
        raise InstallFailed(f"tool {path.name}: its script ended well but left nothing at {{{{ .OutPath }}}}")
    made.chmod(0o755)
    made.rename(path)
