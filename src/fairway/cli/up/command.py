"""`fairway up`: server, agent and a demo on this machine, until Ctrl-C.

Server and agent are processes of their own: either may be killed and is started again, and everything goes on from what
is stored. Nothing outside the data directory is touched, except that a profile named `up` lets the other commands find
the server.
"""

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fairway.cli.call import UsageError, ending
from fairway.cli.options import Timeout, length_of_time
from fairway.cli.up.board import Signs
from fairway.cli.up.demo import ENDS, demo_applications
from fairway.cli.up.demo import ID as DEMO
from fairway.cli.up.follow import Aim, Follower
from fairway.cli.up.places import Places, default_data
from fairway.cli.up.registration import WatchedRepository, register_applications
from fairway.cli.up.repositories import choose_repositories
from fairway.cli.up.rest import Expected, Rest
from fairway.cli.up.screens import a_screen
from fairway.cli.up.site import LISTEN, OwnCall, Site, choose_address, save_profile
from fairway.errors import UserError
from fairway.model.application import Application

commands = typer.Typer(add_completion=False)


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
        aim = Aim(until_idle=until_idle, approve=approve, timeout=give_up, expected=_expected(approve))
        places = Places((data or default_data(os.environ)).absolute())
        wishes = Wishes(places=places, repository=repo, listen=listen, register=register, aim=aim)
        with places.taken():
            _run(wishes)

    ending(work)


def _run(wishes: Wishes) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # All of them mean the same to us, also where a shell in the background lets nobody be interrupted.
        signal.signal(number, signal.default_int_handler)
    repositories = choose_repositories(wishes.places, wishes.repository)
    site = Site(wishes.places, choose_address(wishes.listen))
    try:
        _work(wishes, site, repositories)
    except KeyboardInterrupt:
        if wishes.aim.until_idle:
            raise
    finally:
        _say("stopping: what is under way goes on at the next `fairway up`")
        site.stop()


def _work(wishes: Wishes, site: Site, repositories: Sequence[WatchedRepository]) -> None:
    aim = wishes.aim
    with OwnCall(site.profile) as call:
        _say(f"starting the server at {site.profile.server}")
        site.start_server(call)
        signs = Signs(command=_how_we_are_called(), profile=save_profile(site.profile), tries=())
        _say("starting the agent")
        with a_screen(signs) as screen:
            if wishes.register:
                # Whenever something is found, because the agent reads Git after it has said that it is there.
                aim = msgspec.structs.replace(aim, play=lambda state: register_applications(call, state.suggestions))
            follower = Follower(call, screen, aim)
            follower.begin()
            agent_id = site.start_agent(call, repositories)
            if any(each.id == DEMO for each in repositories):
                register_applications(call, demo_applications(agent_id))
            decision = follower.run()
        if decision.rest is Rest.OTHERWISE:
            raise NotAsExpected(decision.reason)
        _say(f"nothing is left to do: {decision.reason}")


def _expected(approved: bool) -> Callable[[Sequence[Application]], Expected]:
    def expected(applications: Sequence[Application]) -> Expected:
        demo = [each for each in applications if each.git_path.repository.id == DEMO]
        ends = {each.id: ENDS[each.git_path.path] for each in demo if each.git_path.path in ENDS}
        return Expected(ends=ends, approved=approved)

    return expected


def _how_we_are_called() -> str:
    """What to type to call this very `fairway`."""
    ours = Path(sys.executable).with_name("fairway")
    found = shutil.which("fairway")
    if found and ours.exists() and os.path.samefile(found, ours):
        return "fairway"
    with_name = os.path.relpath(ours) if ours.is_relative_to(Path.cwd()) else str(ours)
    return shlex.quote(with_name) if ours.exists() else f"{shlex.quote(sys.executable)} -m fairway.cli"


def _say(sentence: str) -> None:
    typer.echo(sentence)
    sys.stdout.flush()
