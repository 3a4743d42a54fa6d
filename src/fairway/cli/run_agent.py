"""`fairway agent --config-file …`: run an agent.

Without a subcommand the group `fairway agent` runs one, so the options of running stand at the group. The process
becomes the launcher (`fairway.agent.launcher`), which calls `fairway agent` once more with the same options; that one
is the agent proper.
"""

import asyncio
import base64
import binascii
import logging
import os
import signal
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn

import typer

from fairway import __version__
from fairway.agent.launcher.link import Link
from fairway.cli.call import USAGE, ending, fail
from fairway.interpreter import give_memory_back, python_module

_CONFIG = "FAIRWAY_AGENT_CONFIG"
ConfigFile = Annotated[Path | None, typer.Option(help="The agent's file. Needed to run, or --config-data.")]
ConfigData = Annotated[str, typer.Option(envvar=_CONFIG, help="The same as base64.", show_envvar=True)]
Data = Annotated[Path | None, typer.Option(help="Where mirrors, trees and unsent reports are kept. Needed to run.")]
Insecure = Annotated[bool, typer.Option("--insecure", help="Call the server without TLS.")]
CertFile = Annotated[Path | None, typer.Option(help="A certificate to trust instead of the system's, in PEM.")]
NoLauncher = Annotated[
    bool,
    typer.Option("--no-launcher", help="Be the agent alone: somebody else starts it again and changes its version."),
]


class _Line(NamedTuple):
    """How the server is called."""

    insecure: bool
    cert_file: Path | None


def run(
    context: typer.Context,
    config_file: ConfigFile = None,
    config_data: ConfigData = "",
    data: Data = None,
    insecure: Insecure = False,
    cert_file: CertFile = None,
    no_launcher: NoLauncher = False,
) -> None:
    """Run an agent until Ctrl-C or SIGTERM; what is under way goes on, and is taken up by the next agent."""
    if context.invoked_subcommand is not None:
        return
    if config_file is None and not config_data:
        fail("--config-file is missing; expected the file that says what the agent works for", USAGE)
    if data is None:
        fail("--data is missing; expected the directory where the agent keeps what it needs again", USAGE)
    # Neither scripts nor plugins are to find the agent's key in their environment.
    os.environ.pop(_CONFIG, None)
    text, name = (_decoded(config_data), "--config-data") if config_file is None else _read(config_file)
    line = _Line(insecure, cert_file)
    link = Link.of(os.environ)
    if link.is_launched or no_launcher:
        ending(lambda: _run(text, name, data, line, link))
    else:
        _launch(data, config_file, config_data, line)


def _launch(data: Path, config_file: Path | None, config_data: str, line: _Line) -> NoReturn:
    """Become the launcher of an agent with the same options."""
    options: list[str | Path] = ["--data", data]
    if config_file is None:
        # Not among the arguments: a process list is everybody's to read.
        os.environ[_CONFIG] = config_data
    else:
        options += ["--config-file", config_file]
    if line.insecure:
        options.append("--insecure")
    if line.cert_file is not None:
        options += ["--cert-file", line.cert_file]
    command = [*python_module("fairway.agent.launcher"), str(data), "agent", *map(str, options)]
    os.execv(command[0], command)  # noqa: S606  # a list of arguments, without a shell


def _run(text: bytes, name: str, data: Path, line: _Line, link: Link) -> None:
    # gRPC need not prepare for forks: children are made by exec alone.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    give_memory_back()
    from fairway.agent.app import run_agent
    from fairway.agent.start import Line, agent_settings
    from fairway.clock import SystemClock

    async def main() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        settings = agent_settings(text, name, data, Line(insecure=line.insecure, certificate=line.cert_file), link)
        config = settings.config

        def announce() -> None:
            watched = ", ".join(each.repo_id for each in config.repositories) or "no repository"
            typer.echo(f"fairway agent {__version__} works for {config.api_address} as {config.agent_id}")
            typer.echo(f"  data: {data.absolute()}")
            typer.echo(f"  watches: {watched}")
            link.ready()

        await run_agent(settings, SystemClock(), announce, stop)
        if not stop.is_set():
            # It has ended because somebody asked for a restart.
            link.restart()

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(main())


def _read(path: Path) -> tuple[bytes, str]:
    try:
        return path.read_bytes(), str(path)
    except OSError as error:
        fail(f"{path} cannot be read ({error.strerror})", USAGE)


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        fail("--config-data is no base64 of an agent's file", USAGE)
