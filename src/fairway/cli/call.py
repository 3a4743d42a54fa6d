"""What every command that talks to a server has in common: which server, JSON or text, and how it ends.

`with_server` gives a command the options --json, --profile and --project and hands it a `Call`. Errors of ours end as
one sentence on stderr: exit code 1 when something was refused or failed, 2 when the command line is wrong.
"""

import functools
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NoReturn, ParamSpec, Self, TypeVar

import msgspec
import typer

from fairway.errors import FairwayError, UserError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from fairway.cli.remote import Query, Remote

P = ParamSpec("P")
T = TypeVar("T")

#: Ends of a command.
FAILED, USAGE = 1, 2


def noun(help: str) -> typer.Typer:
    """The commands about one sort of thing."""
    return typer.Typer(help=help, no_args_is_help=True, add_completion=False)


class NotWritten(UserError):
    """An output, or a file, that takes nothing."""


class UsageError(UserError):
    """A command line that cannot be meant."""


class Call:
    """One command under way: the server it asks and the terminal it answers on."""

    def __init__(self, *, as_json: bool = False, profile: str = "", project: str = "") -> None:
        self.as_json = as_json
        self._profile = profile
        self._project = project
        self._to_close = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._to_close.close()

    @functools.cached_property
    def remote(self) -> "Remote":
        """The server, by profile and environment."""
        from fairway.cli.profiles import choose, load_profiles, profiles_path
        from fairway.cli.remote import Remote

        saved = load_profiles(profiles_path(os.environ))
        return self._to_close.enter_context(Remote(choose(saved, os.environ, self._profile, self._project)))

    @functools.cached_property
    def console(self) -> "Console":
        """Where people read."""
        from fairway.cli.output import a_console

        return a_console()

    def get(self, kind: type[T], path: str, query: "Query | None" = None) -> T:
        """What the server has at a path."""
        return decode(self.remote.get(path, query), kind)

    def print_json(self, body: bytes) -> None:
        """The server's JSON as it came; on a terminal it is broken into lines."""
        sys.stdout.flush()
        if body:
            shown = msgspec.json.format(body, indent=2) if sys.stdout.isatty() else body
            sys.stdout.buffer.write(shown + b"\n")

    def answer(self, body: bytes, kind: type[T], make: "Callable[[T], RenderableType]") -> None:
        """The answer to the whole command: JSON for programs, or what `make` makes of it for people."""
        if self.as_json:
            self.print_json(body)
        else:
            self.show(make(decode(body, kind)))

    def answer_list(self, found: tuple[bytes, list[T]], make: "Callable[[list[T], datetime], RenderableType]") -> None:
        """The same for a list."""
        from fairway.cli.output import now

        body, items = found
        if self.as_json:
            self.print_json(body)
        else:
            self.show(make(items, now()))

    def show(self, renderable: "RenderableType") -> None:
        """Something for people."""
        from fairway.cli.output import show

        show(self.console, renderable)

    def done(self, body: bytes, sentence: "Callable[[], str]") -> None:
        """The answer to a command that changed something: JSON for programs, or a sentence for people."""
        if self.as_json:
            self.print_json(body)
        else:
            self.say(sentence())

    def say(self, sentence: str) -> None:
        """A sentence for people; programs read the JSON."""
        if not self.as_json:
            self.console.print(sentence, markup=False)


def decode(body: bytes, kind: type[T]) -> T:
    """The server's JSON in our words."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise FairwayError(
            f"the server's answer is not understood ({error}); is it older or newer than this?"
        ) from error


def with_server(command: Callable[Concatenate[Call, P], None]) -> Callable[..., None]:
    """The command with the shared options, for typer to register."""

    def run(
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print the server's JSON.")] = False,
        profile: Annotated[str, typer.Option(help="Which server.", autocompletion=_profile_names)] = "",
        project: Annotated[str, typer.Option(help="Which project.")] = "",
        **given: Any,
    ) -> None:
        with Call(as_json=as_json, profile=profile, project=project) as call:
            ending(lambda: _printing(lambda: command(call, **given)))  # type: ignore[call-arg]  # typer gives what is named

    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = [each for each in inspect.signature(run).parameters.values() if each.kind is not each.VAR_KEYWORD]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *shared)]
    functools.update_wrapper(run, command)
    del run.__wrapped__  # type: ignore[attr-defined]  # typer would look through it at the original signature
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by `inspect.signature`
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def ending(work: Callable[[], None]) -> None:
    """Do the work; an error of ours ends the process with one sentence."""
    try:
        work()
    except FairwayError as error:
        fail(str(error), USAGE if isinstance(error, UsageError) else FAILED)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _printing(work: Callable[[], None]) -> None:
    """Do work that prints; an output that takes nothing more is one sentence, and one that was closed is none."""
    if sys.stdout is None:
        # By whoever called us, who wants to know only how it ends.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is buffered would fail once more, at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f"{error.filename} cannot be used" if error.filename else "what was asked for cannot be written"
        raise NotWritten(f"{where} ({error.strerror or error})") from error


def fail(sentence: str, code: int = FAILED) -> NoReturn:
    """Say why, and end."""
    from fairway.cli.output import log_text

    typer.echo(f"fairway: {log_text(sentence)}", err=True)
    raise typer.Exit(code)


def _profile_names(start: str) -> list[str]:
    from fairway.cli.suggest import profile_names

    return profile_names(start)
