"""`fairway agent --config-file …`: run an agent."""

import asyncio
import base64
import binascii
import logging
import os
import signal
from pathlib import Path

import typer

from fairway import __version__
from fairway.errors import FairwayError


def run(config_file: Path | None, data: Path, insecure: bool, cert_file: Path | None) -> None:
    """Run until Ctrl-C or SIGTERM; what is under way goes on, and is taken up by the next agent."""
    # gRPC need not prepare for forks: children are made by exec alone.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    from fairway.agent.app import run_agent
    from fairway.agent.start import Line, agent_settings
    from fairway.clock import SystemClock

    async def main() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        text, name = _text(config_file)
        settings = agent_settings(text, name, data, Line(insecure=insecure, certificate=cert_file))
        config = settings.config

        def announce() -> None:
            watched = ", ".join(each.repo_id for each in config.repositories) or "no repository"
            typer.echo(f"fairway agent {__version__} works for {config.api_address} as {config.agent_id}")
            typer.echo(f"  data: {data.absolute()}")
            typer.echo(f"  watches: {watched}")

        await run_agent(settings, SystemClock(), announce, stop)

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    try:
        asyncio.run(main())
    except FairwayError as error:
        typer.echo(f"fairway agent: {error}", err=True)
        raise typer.Exit(1) from error


def _text(config_file: Path | None) -> tuple[bytes, str]:
    """The agent's file: by its path, or from the environment as base64."""
    if config_file is not None:
        try:
            return config_file.read_bytes(), str(config_file)
        except OSError as error:
            typer.echo(f"fairway agent: {config_file} cannot be read ({error.strerror})", err=True)
            raise typer.Exit(2) from error
    given = os.environ.get("FAIRWAY_AGENT_CONFIG", "")
    try:
        return base64.b64decode(given, validate=True), "FAIRWAY_AGENT_CONFIG"
    except binascii.Error as error:
        typer.echo("fairway agent: FAIRWAY_AGENT_CONFIG is no base64 of an agent's file", err=True)
        raise typer.Exit(2) from error
