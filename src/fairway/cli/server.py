"""`fairway server`: run the control plane."""

import asyncio
import logging
import signal
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairway import __version__
from fairway.errors import FairwayError

if TYPE_CHECKING:
    # The server's libraries are loaded only by who runs one.
    from fairway.server.app import RunningServer, ServerSettings


def server(
    data: Annotated[Path, typer.Option(help="Where database and logs are kept.")],
    database: Annotated[str, typer.Option(help="A PostgreSQL URL; without it, SQLite in --data.")] = "",
    logs: Annotated[
        str, typer.Option(help="A directory or s3://bucket/prefix; without it, a directory in --data.")
    ] = "",
    listen: Annotated[str, typer.Option(help="Where agents and programs call.")] = "127.0.0.1:9080",
    http_listen: Annotated[str, typer.Option(help="Where probes and readers of the JSON API call.")] = "127.0.0.1:9082",
    cert_file: Annotated[
        Path | None, typer.Option(help="A certificate in PEM, for TLS; read again when it changes.")
    ] = None,
    key_file: Annotated[Path | None, typer.Option(help="The certificate's key, in PEM.")] = None,
    keep_days: Annotated[
        int | None, typer.Option(min=1, help="Forget deployments that ended longer ago; without it, none.")
    ] = None,
) -> None:
    """Run the control plane: what agents report to and `pipectl` asks.

    The first start makes a project and an API key, and prints the key once. Ctrl-C or SIGTERM stops it; calls that are
    under way are finished.
    """
    from fairway.clock import SystemClock
    from fairway.server.app import ServerSettings, run_server
    from fairway.server.certificates import CertificateFiles
    from fairway.server.housekeeping import HousekeepingSettings

    if (cert_file is None) != (key_file is None):
        typer.echo("fairway server: --cert-file and --key-file belong together; give both or none", err=True)
        raise typer.Exit(2)
    certificate = CertificateFiles(cert_file, key_file) if cert_file and key_file else None

    settings = ServerSettings(
        data=data,
        database=database,
        logs=logs,
        listen=listen,
        http_listen=http_listen,
        certificate=certificate,
        housekeeping=HousekeepingSettings(deployments_kept_for=timedelta(days=keep_days) if keep_days else None),
    )

    async def main() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await run_server(settings, SystemClock(), lambda running: _announce(settings, running), stop)

    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    try:
        asyncio.run(main())
    except FairwayError as error:
        typer.echo(f"fairway server: {error}", err=True)
        raise typer.Exit(1) from error


def _announce(settings: "ServerSettings", running: "RunningServer") -> None:
    """Say where the server listens, and on its first start the key that nobody will see again."""
    tls = settings.certificate is not None
    host, http_host = (address.rpartition(":")[0] for address in (settings.listen, settings.http_listen))
    how = "gRPC over TLS" if tls else "gRPC, without TLS"
    typer.echo(f"fairway server {__version__} listens on {host}:{running.port} ({how})")
    typer.echo(f"  data: {settings.data.absolute()}")
    if running.first_start is not None:
        typer.echo(f"  project: {running.first_start.project_id}")
        typer.echo(f"  API key, shown this once: {running.first_start.api_key}")
    typer.echo(f"  HTTP: {'https' if tls else 'http'}://{http_host}:{running.http_port}")
