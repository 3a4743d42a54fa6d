"""`fairway schema KIND`: the JSON Schema of a kind of file, for editors."""

import json
from typing import Annotated

import typer

from fairway.config.problems import did_you_mean
from fairway.config.read import KIND_TYPES
from fairway.config.schema import file_schema

commands = typer.Typer(add_completion=False)


def _complete_kind(start: str) -> list[str]:
    return [kind for kind in KIND_TYPES if kind.startswith(start)]


@commands.command("schema")
def schema(
    kind: Annotated[str, typer.Argument(help=f"One of {', '.join(KIND_TYPES)}.", autocompletion=_complete_kind)],
) -> None:
    """Print the JSON Schema of a kind of configuration file.

    Point an editor at it with a first line such as
    `# yaml-language-server: $schema=kubernetes-app.schema.json`.
    """
    if kind not in KIND_TYPES:
        typer.echo(f"There is no kind {kind!r}{did_you_mean(kind, KIND_TYPES)}", err=True)
        typer.echo(f"Known kinds: {', '.join(KIND_TYPES)}", err=True)
        raise typer.Exit(2)
    typer.echo(json.dumps(file_schema(kind), indent=2))
