"""`fairway up`: server, agent and a demo on this machine, until Ctrl-C.

Server and agent are processes of their own: either may be killed and is started again, and everything goes on from what
is stored. Nothing outside the data directory is touched, except that a profile named `up` lets the other commands find
the server.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fairway.cli.call import Call, UsageError, ending
from fairway.cli.options import Timeout, length_of_time
from fairway.cli.output import plain
from fairway.cli.up.agent_file import AgentFile, WatchedRepository
from fairway.cli.up.board import Signs, State
from fairway.cli.up.demo import Demo
from fairway.cli.up.follow import Aim, Follower
from fairway.cli.up.patience import Patience
from fairway.cli.up.places import Places, default_data
from fairway.cli.up.registration import register_applications
from fairway.cli.up.repositories import choose_repositories
from fairway.cli.up.rest import Expected, Rest
from fairway.cli.up.screens import a_screen
from fairway.cli.up.site import LISTEN, OwnCall, Site, choose_address, save_profile
from fairway.cli.watch import TimedOut
from fairway.errors import UserError

commands = typer.Typer(add_completion=False)
#: How long a screen stays empty for what may be found.
_TO_BE_SEEN = timedelta(seconds=5)


class NotAsExpected(UserError):
    """Something came to rest where it should not."""


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says."""

    places: Places
    repository: Path | None
    listen: str
    register: bool
    aim: Aim


@commands.command("up")
def up(
    data: Annotated[
        Path | None, typer.Option(help="Where everything is kept; without it, ~/.local/share/fairway/up.")
    ] = None,
    repo: Annotated[Path | None, typer.Option(help="A Git repository of your own to watch, bare or not.")] = None,
    register: Annotated[
        bool, typer.Option("--register", help="Register, and so deploy, every application that is found in Git.")
    ] = False,
    listen: Annotated[
        str, typer.Option(help=f"Where the server listens; without it, {LISTEN} or a free port.", show_default=False)
    ] = "",
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when nothing is left to do: 0 if all is as it should be.")
    ] = False,
    approve: Annotated[bool, typer.Option("--approve", help="Approve whatever waits for approval.")] = False,
    timeout: Timeout = "",
) -> None:
    """Run everything on this machine: server, agent and a demo to play with.

    Ctrl-C stops all that was started; the next `fairway up` goes on where this one was.
    """

    def work() -> None:
        give_up = length_of_time("timeout", timeout)
        if give_up and not until_idle:
            raise UsageError("--timeout is about waiting; give --until-idle as well")
        aim = Aim(until_idle=until_idle, approve=approve, timeout=give_up)
        places = Places((data or default_data(os.environ)).absolute())
        wishes = Wishes(places=places, repository=repo, listen=listen, register=register, aim=aim)
        with places.taken():
            _run(wishes)

    ending(work)


def _run(wishes: Wishes) -> None:
    patience = Patience()
    demo = Demo(wishes.places.demo)
    repositories = choose_repositories(wishes.places, demo, wishes.repository)
    site = Site(wishes.places, choose_address(wishes.listen, AgentFile(wishes.places).server))
    try:
        _work(wishes, site, demo, repositories)
    except KeyboardInterrupt:
        if wishes.aim.until_idle:
            raise
    finally:
        patience.begin()
        _say_if_heard("stopping: what is under way goes on at the next `fairway up`")
        site.stop(patience, _say_if_heard)


def _work(wishes: Wishes, site: Site, demo: Demo, repositories: Sequence[WatchedRepository]) -> None:
    with OwnCall(site.profile) as call:
        _say(f"starting the server at {site.profile.server}")
        site.start_server(call)
        signs = _signs(demo, save_profile(site.profile))
        _say(f"  API: {site.profile.server}/api/v1, its key: {_near(wishes.places.api_key)}")
        _say("starting the agent")
        before = {each.id: each.branch for each in AgentFile(wishes.places).repositories}
        for each in repositories:
            instead = _instead_of(before.get(each.id, ""), each.branch)
            _say(f"  watches {_near(each.path)}, branch {each.branch}{instead}")
        with a_screen(signs) as screen:
            follower = Follower(call, screen, _aim(wishes, call, demo, repositories))
            follower.begin()
            agent_id = site.start_agent(call, repositories)
            if demo.repository in repositories:
                register_applications(call, demo.applications(agent_id))
            _await_look(wishes, site, repositories)
            decision = follower.run()
        if decision.rest is Rest.OTHERWISE:
            raise NotAsExpected(decision.reason)
        _say(f"nothing is left to do: {decision.reason}")


def _instead_of(before: str, branch: str) -> str:
    return f" from now on, no longer {before}" if before not in ("", branch) else ""


def _await_look(wishes: Wishes, site: Site, repositories: Sequence[WatchedRepository]) -> None:
    """Give the agent time for its first look at Git: only then it is known what is left to do."""
    if wishes.aim.until_idle:
        site.await_look(repositories, wishes.aim.timeout)
    elif wishes.repository is not None:
        # Of what is found there no stream tells, and somebody waits to see it.
        with suppress(TimedOut):
            site.await_look(repositories, _TO_BE_SEEN)


def _aim(wishes: Wishes, call: Call, demo: Demo, repositories: Sequence[WatchedRepository]) -> Aim:
    """The wishes, with what is done at each look."""

    def play(state: State) -> bool:
        if demo.repository in repositories:
            demo.play(state.applications)
        # At each look, because more may be committed.
        return wishes.register and register_applications(call, state.suggestions)

    def expected(state: State) -> Expected:
        own = {each.id for each in repositories if each != demo.repository} if wishes.register else set()
        unusable = [each.reason for each in state.unusable if each.repository_id in own and not each.application_id]
        demos = demo.expected(state.applications, wishes.aim.approve)
        return msgspec.structs.replace(demos, unusable=unusable, nobody=_why_nobody(wishes, state, repositories))

    def plugins() -> tuple[str, ...]:
        from fairway.cli.up.plugin_troubles import plugin_troubles

        return plugin_troubles(wishes.places.agent)

    return msgspec.structs.replace(wishes.aim, play=play, expected=expected, plugins=plugins)


def _why_nobody(wishes: Wishes, state: State, repositories: Sequence[WatchedRepository]) -> str:
    """Why no application will be registered by itself, once the agent has looked; empty where one may still be."""
    if state.suggestions:
        names = ", ".join(plain(each.name) for each in state.suggestions)
        return "" if wishes.register else f"found {names}: add --register"
    if AgentFile(wishes.places).watches_elsewhere:
        # Nobody knows when the agent has looked at those.
        return ""
    places = (f"{_near(each.path)}, branch {each.branch}" for each in repositories)
    return f"none was found in {' and '.join(places)}"


def _signs(demo: Demo, profile: str) -> Signs:
    """What a person has to know to go on."""
    tries: list[tuple[str, str]] = []
    if address := demo.address("hello"):
        tries = [
            ("see hello", address),
            ("go there", f"cd {shlex.quote(_near(demo.place))}"),
            ("change it", "echo 'Hello again' > hello/greeting.txt && git commit -am Greet"),
            ("break it", "echo Oops > hello/greeting.txt && git commit -am Break"),
        ]
    command = _how_we_are_called()
    tries.append(("look at it", f"{command} deployment list{profile}"))
    return Signs(command=command, profile=profile, tries=tries)


def _how_we_are_called() -> str:
    """What to type to call this very `fairway`."""
    ours = Path(sys.executable).with_name("fairway")
    found = shutil.which("fairway")
    if found and ours.exists() and os.path.samefile(found, ours):
        return "fairway"
    return shlex.quote(str(ours)) if ours.exists() else f"{shlex.quote(sys.executable)} -m fairway.cli"


def _near(path: Path) -> str:
    """A path as short as it can be typed."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _say_if_heard(sentence: str) -> None:
    # The terminal may be what has gone; all that runs is stopped nevertheless.
    with suppress(OSError):
        _say(sentence)


def _say(sentence: str) -> None:
    typer.echo(sentence)
    sys.stdout.flush()
