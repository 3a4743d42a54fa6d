"""`fairway server backup` and `fairway server restore`: the data of an embedded server as one file, and back."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from fairway.errors import FairwayError

_ELSEWHERE = (
    "PostgreSQL has tools of its own: pg_dump --format=custom and pg_restore for the database; copy the directory or "
    "bucket of the logs after the dump"
)
_Data = Annotated[Path, typer.Option(help="The server's directory, as in `fairway server --data`.")]
_Database = Annotated[str, typer.Option(help="Names the tools to use instead, for a server on PostgreSQL.")]
_Logs = Annotated[str, typer.Option(help="The same as the server has; a directory is part of the backup.")]


def backup(
    file: Annotated[Path, typer.Argument(help="The archive to write; one that is there is replaced.")],
    data: _Data,
    database: _Database = "",
    logs: _Logs = "",
) -> None:
    """Copy database and logs of a server into one tar file, while it runs or not."""
    from fairway.server.backup import back_up

    _refuse(database, "backup")
    in_bucket = "://" in logs and not logs.startswith("file://")
    directory = Path(logs.removeprefix("file://")) if logs and not in_bucket else None
    try:
        made = back_up(data, file, directory)
    except FairwayError as error:
        _fail("backup", error)
    typer.echo(f"{file}: the database and {made.log_files} files of logs")
    if in_bucket:
        typer.echo(f"not in it: the logs in {logs}; copy the bucket now, with the tools of its provider")
    elif not made.log_files:
        typer.echo("it has no logs; if the server keeps them elsewhere, give the same --logs")


def restore(
    file: Annotated[Path, typer.Argument(help="An archive that `fairway server backup` wrote.")],
    data: _Data,
    database: _Database = "",
) -> None:
    """Put a backup into an empty directory, for a server to be started on."""
    from fairway.server.backup import restore as put_back

    _refuse(database, "restore")
    try:
        found = put_back(file, data)
    except FairwayError as error:
        _fail("restore", error)
    typer.echo(f"{data.absolute()}: the database and {found.log_files} files of logs")


def _refuse(database: str, command: str) -> None:
    if database:
        typer.echo(f"fairway server {command}: {_ELSEWHERE}", err=True)
        raise typer.Exit(2)


def _fail(command: str, error: FairwayError) -> NoReturn:
    typer.echo(f"fairway server {command}: {error}", err=True)
    raise typer.Exit(1) from error
