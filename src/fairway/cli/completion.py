"""`fairway completion SHELL`: the script that lets a shell complete commands, options, names and ids."""

from typing import Annotated, Literal

import typer

commands = typer.Typer(add_completion=False)


@commands.command("completion")
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Which shell.")],
) -> None:
    """Print the completion script of a shell.

    For bash:
    fairway completion bash > ~/.local/share/bash-completion/completions/fairway
    `fairway --install-completion` does the same for the shell it is called in.
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # imported there, not listed

    typer.echo(get_completion_script(prog_name="fairway", complete_var="_FAIRWAY_COMPLETE", shell=shell))
