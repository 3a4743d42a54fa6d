"""Commands whose modules are loaded when they are called, so that `fairway --help` is quick.

The list of commands shows a name and a sentence for each; the rest of a command stands in its module. A word that is
misspelt, a command's or one of a choice, is told what was probably meant. Options are shown with words for people, not
with Python's names of types.
"""

import difflib
import enum
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

#: How typer refuses a word that is none of a choice.
_CHOICE = re.compile(r"(?:Value error, )?(?P<said>'(?P<found>[^']*)' is not one of (?P<known>.*)\.)", re.DOTALL)


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
        _say_for_people(loaded, ctx)
        return loaded

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known = args[0], self.list_commands(ctx)
        near = _near(name, known)
        if near and name not in known:
            ctx.fail(f"No such command {name!r}.{near}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            if refused := _CHOICE.fullmatch(error.message):
                error.message = refused["said"] + _near(refused["found"], re.findall(r"'([^']*)'", refused["known"]))
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _say_for_people(self, ctx)
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


#: Python's name of a type → what stands behind an option; a choice shows its words.
_WORDS = {"str": "TEXT", "int": "NUMBER", "float": "NUMBER", "Path": "PATH"}


def _say_for_people(command: Any, ctx: Any) -> None:
    """Tell in a command's help what an option takes; one that takes nothing shows nothing."""
    for parameter in command.get_params(ctx) if ctx else command.params:
        if not isinstance(parameter, TyperOption) or parameter.metavar is not None:
            continue
        if parameter.is_flag:
            parameter.metavar = ""
        elif parameter.type_descriptor.is_choice:
            # Without the empty word, by which a choice may be left out.
            parameter.metavar = f"<{'|'.join(filter(None, map(_word, parameter.type_descriptor.choices or ())))}>"
        elif word := _WORDS.get(parameter.bare_type().removeprefix("list[").removesuffix("]")):
            parameter.metavar = word
    for below in getattr(command, "commands", {}).values():
        _say_for_people(below, ctx)


def _word(choice: Any) -> str:
    return str(choice.value if isinstance(choice, enum.Enum) else choice)


def _near(found: str, known: Iterable[str]) -> str:
    """A sentence with the word that was probably meant, whatever its case: a near one, or what begins so."""
    by_lower = {word.lower(): word for word in known}
    near = difflib.get_close_matches(found.lower(), by_lower, n=1)
    begun = [word for word in by_lower if len(found) > 1 and word.startswith(found.lower())]
    return "".join(f" Did you mean {by_lower[word]!r}?" for word in (near or begun)[:1])
