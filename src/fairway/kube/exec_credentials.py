"""Credentials that another program hands out, such as a cloud's own command.

The program is run when nothing is known or what is known is over, and once more when the cluster does not take what it
gave. It may take a minute and no more; what it says on stderr is part of the error when it fails.
"""

import asyncio
import errno
import os
import signal
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from fairway.clock import Clock
from fairway.kube.errors import BadAccess, CredentialsRefused
from fairway.kube.kubeconfig import Reach

_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"
LIMIT_SECONDS = 60.0
#: Credentials that are over so soon are not used any more.
_SPARE = timedelta(seconds=10)
_SHOWN_CHARACTERS = 1000
#: With these a machine says that it can run no program for now, or not one that is just being replaced.
_BUSY = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY)


class Handed(msgspec.Struct, frozen=True, rename="camel"):
    """What a program hands out."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _Answer(msgspec.Struct, frozen=True):
    status: Handed | None = None


class ExecCredentials:
    """The program of one user, and what it handed out last."""

    def __init__(self, reach: Reach, clock: Clock, limit_seconds: float = LIMIT_SECONDS) -> None:
        if reach.user.exec is None:
            raise AssertionError("only a user with a program has these credentials")
        self._reach = reach
        self._exec = reach.user.exec
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._held: Handed | None = None
        self._turn = asyncio.Lock()

    async def get(self) -> Handed:
        """What holds now; the program is run at most once for all who wait."""
        async with self._turn:
            if self._held is None or self._is_over(self._held):
                self._held = self._read(await self._run())
            return self._held

    def _is_over(self, handed: Handed) -> bool:
        until = handed.expiration_timestamp
        return until is not None and until <= self._clock.now() + _SPARE

    async def _run(self) -> bytes:
        command = self._exec.command
        if os.sep in command:
            command = str(self._reach.directory / command)
        try:
            process = await asyncio.create_subprocess_exec(
                command,
                *(self._exec.args or ()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment(),
                start_new_session=True,
            )
        except OSError as error:
            words = f"{self._what} cannot be run: {error.strerror or error}"
            if error.errno in _BUSY:
                raise CredentialsRefused(words) from error
            hint = f"; {' '.join(self._exec.install_hint.split())}" if self._exec.install_hint else ""
            raise BadAccess(f"{words}{hint}") from error
        try:
            async with asyncio.timeout(self._limit_seconds):
                out, said = await process.communicate()
        except TimeoutError as error:
            raise CredentialsRefused(f"{self._what} gave nothing in {self._limit_seconds:g} seconds") from error
        finally:
            if process.returncode is None:
                # It may have ended by itself, and nobody has told us yet.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            words = " ".join(said.decode("utf-8", errors="replace").split())[-_SHOWN_CHARACTERS:]
            raise CredentialsRefused(
                f"{self._what} failed with exit status {process.returncode}: {words or '(silent)'}"
            )
        return out

    def _read(self, out: bytes) -> Handed:
        try:
            handed = msgspec.json.decode(out, type=_Answer).status
        except msgspec.DecodeError as error:
            raise CredentialsRefused(f"{self._what} gave what is no ExecCredential: {error}") from error
        if handed is None or not (handed.token or handed.client_certificate_data):
            raise CredentialsRefused(f"{self._what} gave neither a token nor a certificate")
        return handed

    @property
    def _what(self) -> str:
        return f"{self._reach.source}: the credential plugin {Path(self._exec.command).name}"

    def _environment(self) -> dict[str, str]:
        if self._exec.api_version not in _VERSIONS:
            expected = " or ".join(_VERSIONS)
            raise BadAccess(f"{self._what} wants {self._exec.api_version}; expected {expected}")
        spec: dict[str, Any] = {"interactive": False}
        if self._exec.provide_cluster_info:
            spec["cluster"] = self._cluster()
        info = {"kind": "ExecCredential", "apiVersion": self._exec.api_version, "spec": spec}
        own = {each.name: each.value for each in self._exec.env or ()}
        return {**os.environ, **own, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}

    def _cluster(self) -> dict[str, Any]:
        written = self._reach.cluster
        told: dict[str, Any] = {
            "server": written.server,
            "tls-server-name": written.tls_server_name,
            "insecure-skip-tls-verify": written.insecure_skip_tls_verify,
            "certificate-authority-data": written.certificate_authority_data,
            "proxy-url": written.proxy_url,
            "config": next((e.get("extension") for e in written.extensions if e.get("name") == _EXEC_EXTENSION), None),
        }
        return {key: value for key, value in told.items() if value}
