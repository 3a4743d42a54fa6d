"""`fairway server`: run the control plane; `fairway server backup` and `restore` keep its data.

Without a subcommand it runs, so the options of running stand at the group. What a file of the control plane says is
taken where the command line says nothing.
"""

import asyncio
import os
import signal
import sys
import traceback
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn
from urllib.parse import urlsplit

import typer

from fairway import __version__
from fairway.cli.backup import backup, restore
from fairway.errors import FairwayError

if TYPE_CHECKING:
    # The server's libraries are loaded only by who runs one.
    from fairway.server.app import RunningServer, ServerSettings

_LISTEN, _HTTP_LISTEN = "127.0.0.1:9080", "127.0.0.1:9082"
_LEASE_SECONDS = 15.0
_STAGE_LOG_MIB, _AGENT_DAILY_GIB = 512, 20


class _Format(StrEnum):
    """How the log is written."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


class _Level(StrEnum):
    """What the log holds."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


commands = typer.Typer(
    name="server",
    help="Run the control plane: what agents report to and people ask.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
commands.command()(backup)
commands.command()(restore)


Data = Annotated[Path | None, typer.Option(help="Where database and logs are kept. Needed to run.")]
Database = Annotated[
    str, typer.Option(envvar="FAIRWAY_DATABASE", help="A PostgreSQL URL; without it, SQLite in --data.")
]
Logs = Annotated[
    str, typer.Option(help="A directory, s3://bucket/prefix or gs://bucket; without it, a directory in --data.")
]
Listen = Annotated[str, typer.Option(help="Where agents and programs call.")]
HttpListen = Annotated[str, typer.Option(help="Where people, probes and users of the JSON API call.")]
SinglePort = Annotated[bool, typer.Option("--single-port", help="gRPC and HTTP both at --listen.")]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option(metavar="CIDR", help="A proxy in front whose X-Forwarded headers are believed; may be repeated."),
]
WebUrl = Annotated[str, typer.Option(help="The address at which people reach this server, for links.")]
CertFile = Annotated[Path | None, typer.Option(help="A certificate in PEM, for TLS; read again when it changes.")]
KeyFile = Annotated[Path | None, typer.Option(help="The certificate's key, in PEM.")]
ConfigFile = Annotated[Path | None, typer.Option(help="PipeCD's file of kind ControlPlane; options win.")]
KeepDays = Annotated[
    int | None, typer.Option(min=1, help="Forget deployments that ended longer ago; without it, none.")
]
DrainSeconds = Annotated[
    float, typer.Option(min=0, help="How long /readyz says no before a stopping server sends anybody away.")
]
LeaseSeconds = Annotated[
    float,
    typer.Option(min=3, help="How long nothing is heard of an agent before one that stands by for it takes over."),
]
StageLogMib = Annotated[
    int, typer.Option(min=1, help="How many MiB of output are kept of each stage; the rest is dropped.")
]
AgentDailyGib = Annotated[
    int,
    typer.Option(min=1, help="How many GiB one agent may add in a day: logs, notes, objects and new deployments."),
]
OtlpEndpoint = Annotated[
    str, typer.Option(envvar="OTEL_EXPORTER_OTLP_ENDPOINT", help="A collector of traces, by OTLP over HTTP.")
]
Format = Annotated[_Format, typer.Option(help="auto: JSON unless stderr is a terminal.")]
Level = Annotated[_Level, typer.Option(help="debug has a line for each request.")]


@commands.callback()
def server(
    context: typer.Context,
    data: Data = None,
    database: Database = "",
    logs: Logs = "",
    listen: Listen = _LISTEN,
    http_listen: HttpListen = _HTTP_LISTEN,
    single_port: SinglePort = False,
    trusted_proxy: TrustedProxy = None,
    web_url: WebUrl = "",
    cert_file: CertFile = None,
    key_file: KeyFile = None,
    config_file: ConfigFile = None,
    keep_days: KeepDays = None,
    drain_seconds: DrainSeconds = 0.0,
    lease_seconds: LeaseSeconds = _LEASE_SECONDS,
    stage_log_mib: StageLogMib = _STAGE_LOG_MIB,
    agent_daily_gib: AgentDailyGib = _AGENT_DAILY_GIB,
    otlp_endpoint: OtlpEndpoint = "",
    log_format: Format = _Format.AUTO,
    log_level: Level = _Level.INFO,
) -> None:
    """Run the control plane: what agents report to and people ask.

    The first start makes a project, an API key and a link for the first administrator, and prints them. Ctrl-C or
    SIGTERM stops it: what is under way is finished; a second one ends it at once.
    """
    if context.invoked_subcommand is not None:
        return
    _warn_of_password(context, database)
    for option, address in (("--listen", listen), ("--http-listen", http_listen)):
        if not address.rpartition(":")[2].isdecimal() or ":" not in address:
            _refuse(f"{option} is {address!r}; expected HOST:PORT")
    if data is None:
        _refuse("--data is missing; expected the directory where database and logs are kept")
    if (cert_file is None) != (key_file is None):
        _refuse("--cert-file and --key-file belong together; give both or none")
    from fairway.server.agent_service.quotas import Quotas
    from fairway.server.app import ServerSettings
    from fairway.server.certificates import CertificateFiles
    from fairway.server.housekeeping import HousekeepingSettings
    from fairway.server.logging import LogFormat, LogLevel, set_up_logging
    from fairway.server.proxies import BadNetwork, TrustedProxies

    try:
        proxies = TrustedProxies.parse(trusted_proxy or ())
    except BadNetwork as error:
        _refuse(f"--trusted-proxy: {error}")
    set_up_logging(sys.stderr, LogFormat(log_format.value), LogLevel(log_level.value))
    settings = ServerSettings(
        data=data,
        database=database,
        logs=logs,
        listen=listen,
        http_listen=http_listen,
        single_port=single_port,
        trusted_proxies=proxies,
        certificate=CertificateFiles(cert_file, key_file) if cert_file and key_file else None,
        web_url=web_url.rstrip("/"),
        housekeeping=HousekeepingSettings(deployments_kept_for=timedelta(days=keep_days) if keep_days else None),
        drain_seconds=drain_seconds,
        lease_seconds=lease_seconds,
        quotas=Quotas(stage_log_bytes=stage_log_mib * 1024**2, agent_day_bytes=agent_daily_gib * 1024**3),
        otlp_endpoint=otlp_endpoint,
        log_requests=log_level is _Level.DEBUG,
    )
    _run(_with_file(settings, config_file) if config_file is not None else settings)


def _warn_of_password(context: typer.Context, database: str) -> None:
    """A process list is everybody's to read."""
    source = context.get_parameter_source("database")
    if urlsplit(database).password and source is not None and source.name == "COMMANDLINE":
        said = "everybody on this machine can read the password in --database; set FAIRWAY_DATABASE instead"
        typer.echo(f"fairway server: {said}", err=True)


def _run(settings: "ServerSettings") -> None:
    from fairway.clock import SystemClock
    from fairway.server.app import run_server

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def ask_to_stop() -> None:
            stop.set()
            # Whoever asks twice does not want to wait: the next signal ends the process at once.
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_DFL)

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ask_to_stop)
        await run_server(settings, SystemClock(), lambda running: _announce(settings, running), stop)

    # gRPC's handlers around fork are of no use to a server that forks nothing.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    try:
        asyncio.run(main())
    except FairwayError as error:
        typer.echo(f"fairway server: {error}", err=True)
        raise typer.Exit(1) from error
    except Exception as error:
        # A defect. To draw it in colours, as other commands do, takes seconds in which nobody restarts the server.
        traceback.print_exc()
        raise typer.Exit(1) from error


def _with_file(settings: "ServerSettings", path: Path) -> "ServerSettings":
    """The settings with what the file says where the command line says nothing.

    Everything that has no effect, or stands in the way, is printed as `fairway lint` does.
    """
    import msgspec

    from fairway.config.problems import ConfigError
    from fairway.server.control_plane_file import Given, load_control_plane

    try:
        said = load_control_plane(path, Given(database=bool(settings.database), logs=bool(settings.logs)))
    except ConfigError as error:
        for problem in error.problems:
            typer.echo(str(problem), err=True)
        _refuse(f"{path} cannot be used as it is; see above")
    for problem in said.warnings:
        typer.echo(str(problem), err=True)
    return msgspec.structs.replace(
        settings,
        logs=settings.logs or said.logs,
        log_options=said.log_options,
        web_url=settings.web_url or said.web_url,
        projects=said.projects,
        sign_in_providers=said.sign_in,
    )


def _announce(settings: "ServerSettings", running: "RunningServer") -> None:
    """Say where the server listens, and what nobody will see again."""
    tls = settings.certificate is not None
    host = settings.listen.rpartition(":")[0]
    http_host = host if settings.single_port else settings.http_listen.rpartition(":")[0]
    how = "gRPC over TLS" if tls else "gRPC, without TLS"
    address = f"{'https' if tls else 'http'}://{http_host}:{running.http_port}"
    typer.echo(f"fairway server {__version__} listens on {host}:{running.port} ({how})")
    typer.echo(f"  data: {settings.data.absolute()}")
    if running.first_start is not None:
        typer.echo(f"  project: {running.first_start.project_id}")
        typer.echo(f"  API key, shown this once: {running.first_start.api_key}")
    if running.administrator is not None:
        link = f"{settings.web_url or address}{running.administrator.path}"
        typer.echo(f"  set the password of {running.administrator.link.user_id!r} within a day: {link}")
        typer.echo("    (until then each start prints another link, and only the newest works)")
    typer.echo(f"  HTTP: {address}")


def _refuse(message: str) -> NoReturn:
    typer.echo(f"fairway server: {message}", err=True)
    raise typer.Exit(2)
