"""Commands whose modules are loaded when they are called, so that `fairway --help` is quick.

The list of commands shows a name and a sentence for each; the rest of a command stands in its module.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class OnDemand(NamedTuple):
    """Where a command is, and what the list says about it."""

    #: A module with a `commands`: the typer of a noun.
    module: str
    help: str
    panel: str


class GroupOnDemand(TyperGroup):
    """A group that has more commands than have been loaded."""

    #: By name, in the order they are listed.
    on_demand: dict[str, OnDemand] = {}
    _only_listed = False

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *self.on_demand]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        wanted = self.on_demand.get(cmd_name)
        if wanted is None:
            return super().get_command(ctx, cmd_name)
        if self._only_listed:
            return TyperCommand(cmd_name, help=wanted.help, rich_help_panel=wanted.panel)
        loaded = typer.main.get_command(import_module(wanted.module).commands)
        loaded.name = cmd_name
        return loaded

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._listing():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        with self._listing():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listing(self) -> Iterator[None]:
        self._only_listed = True
        try:
            yield
        finally:
            self._only_listed = False
