"""`fairway`: the list of commands."""

from typing import Annotated

import typer

from fairway import __version__
from fairway.cli.backup import backup, restore
from fairway.cli.lint import lint
from fairway.cli.schema import schema
from fairway.cli.server import server

app = typer.Typer(
    name="fairway",
    help="One continuous-delivery system for every platform.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairway {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """One continuous-delivery system for every platform."""


app.command()(lint)
app.command()(schema)
app.command()(server)
app.command()(backup)
app.command()(restore)
