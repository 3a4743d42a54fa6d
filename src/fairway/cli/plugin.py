"""`fairway plugin …`: start a plugin under an agent of any maker; begin one of your own."""

from pathlib import Path
from typing import Annotated

import typer

from fairway.cli.call import USAGE, ending, fail, noun

commands = noun("Plugins: start one under an agent, begin one of your own.")

_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@commands.command("new")
def new_plugin(
    name: Annotated[str, typer.Argument(help="What the plugin is to be called, such as 'greet'.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where to write it; a new folder of that name if left out.")
    ] = None,
) -> None:
    """Write a plugin that works, with its project file and a test that passes."""
    from fairway.cli.new_plugin import bad_name, write_plugin

    if wrong := bad_name(name):
        fail(wrong, USAGE)
    where = folder or Path(name)
    if where.exists() and any(where.iterdir()):
        fail(f"{where} is there already and not empty; choose another folder", USAGE)
    for path in write_plugin(name, where):
        typer.echo(f"  {path}")
    typer.echo(f"try it:  cd {where} && pip install -e '.[test]' && python -m pytest")


@commands.command("run", context_settings=_PASSED_ON)
def run_plugin(context: typer.Context, entry: Annotated[str, typer.Argument(help="module:Class.")]) -> None:
    """Start a plugin of yours: `run module:Class start --piped-plugin-service HOST:PORT --config JSON`."""
    _start(entry, context.args, f"{context.command_path} {entry}")


def _start(entry: str, arguments: list[str], program: str) -> None:
    from fairway.sdk.host import plugin_class
    from fairway.sdk.start import main

    ending(lambda: main(plugin_class(entry), arguments, program=program))


def _add(name: str, entry: str) -> None:
    help = f"Start it: `{name} start --piped-plugin-service HOST:PORT --config JSON`."

    @commands.command(name, help=help, context_settings=_PASSED_ON, rich_help_panel="Brought along")
    def start(context: typer.Context) -> None:
        _start(entry, context.args, context.command_path)


def _add_built_in() -> None:
    from fairway.config.built_in import BUILT_IN

    for name, entry in BUILT_IN.items():
        _add(name, entry)


_add_built_in()
