"""A server and an agent on this machine: started in order, called with our own key, stopped in order.

The agent stops first, because it has things to tell; then the server; then whatever they have left behind.
"""

import os
import random
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fairway.cli.call import Call, UsageError
from fairway.cli.profiles import Profile, Profiles, change_profiles, profiles_path
from fairway.cli.remote import Unreachable
from fairway.cli.up.agent_file import AgentFile, WatchedRepository
from fairway.cli.up.children import Child, bury_orphans, end_orphans, inherit_orphans, interrupt, orphans
from fairway.cli.up.first_key import api_key
from fairway.cli.up.log_files import keep_small
from fairway.cli.up.patience import Patience
from fairway.cli.up.places import Places
from fairway.cli.up.registration import agent_started_at, register_agent
from fairway.cli.up.repositories import newest_commit
from fairway.cli.watch import TimedOut
from fairway.errors import UserError

if TYPE_CHECKING:
    from fairway.cli.remote import Remote

#: The name of our profile.
PROFILE = "up"
LISTEN = "127.0.0.1:9080"
#: Below those that the system gives to whoever connects to something: while a server that was killed is started again,
#: one of these stays free.
_PORTS = range(10_000, 12_000)
_TRIES = 20
#: Seconds: for a server of ours that is just going away, between looks, for children to stop, for scripts, for what was
#: deployed, for the rest.
_PORT_PATIENCE = 2.0
_CONNECT = 0.5
_LOOK = 0.05
_STOP = 20.0
_SCRIPT_PATIENCE, _KEEPER_PATIENCE, _ORPHAN_GRACE = 10.0, 30.0, 15.0
#: What scripts of SCRIPT_RUN have among their arguments. They end by themselves; what was deployed does not.
_SCRIPT = b"fairway-script"
#: A child that ended so often in a row will not come to life.
_HOPELESS = 3
_FAIRWAY = (sys.executable, "-m", "fairway.cli")


class NotStarted(UserError):
    """A server or an agent that does not come to life."""


class OwnCall(Call):
    """A command that asks our own server, whatever profiles and environment say."""

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self._own = profile

    @cached_property
    def remote(self) -> "Remote":
        """Our server."""
        from fairway.cli.remote import Remote

        return self._to_close.enter_context(Remote(self._own))


class Site:
    """The server and the agent of one data directory."""

    def __init__(self, places: Places, address: str) -> None:
        self._places = places
        self.address = address
        self.profile = Profile(server=f"http://{address}", api_key=api_key(places))
        serve = (*_FAIRWAY, "server", "--data", places.server, "--single-port", "--listen", address)
        # Without its launcher, which would be one process more: we start it again ourselves.
        own = ("--no-launcher", "--config-file", places.agent_file, "--data", places.agent, "--insecure")
        work = (*_FAIRWAY, "agent", *own)
        self._server = Child("server", serve, places.log("server"))
        self._agent = Child("agent", work, places.log("agent"))

    def start_server(self, call: Call) -> None:
        """Start the server, and wait until it answers."""
        inherit_orphans()
        bury_orphans((self._server, self._agent))
        keep_small((self._server.log, self._agent.log))
        self._server.start()
        while True:
            try:
                call.remote.get_once("/session")
                return
            except Unreachable:
                _pause(self._server)

    def start_agent(self, call: Call, repositories: Sequence[WatchedRepository]) -> str:
        """Start the agent, and wait until it watches the repositories; its id."""
        file = AgentFile(self._places)
        id = register_agent(call, self._places, file.agent_id)
        before = agent_started_at(call, id)
        file.write(id, self.address, repositories)
        self._agent.start()
        while agent_started_at(call, id) == before:
            _pause(self._agent)
        return id

    def await_look(self, repositories: Sequence[WatchedRepository], timeout: timedelta | None) -> None:
        """Wait until the agent has begun what the newest commits ask for: no stream tells of a look that finds nothing.

        A repository that it cannot look at is not waited for.
        """
        deadline = time.monotonic() + (timeout.total_seconds() if timeout is not None else float("inf"))
        while waits_for := [each for each in repositories if not self._has_looked(each)]:
            if time.monotonic() > deadline:
                raise TimedOut(f"the agent has not looked at {waits_for[0].path} yet")
            _pause(self._agent)

    def _has_looked(self, repository: WatchedRepository) -> bool:
        # Loaded late, because an agent is a large thing.
        from fairway.agent.status import NoStatus, read_state

        try:
            told = read_state(self._places.agent)
        except NoStatus:
            return False
        if told.process is None or told.process.pid != self._agent.pid:
            # Of the agent before; what it has found may not be known any more.
            return False
        known = {each.id: each for each in told.repositories}
        state, newest = known.get(repository.id), newest_commit(repository)
        return state is not None and (bool(state.trouble) or state.looked_at == newest)

    def stop(self, patience: Patience, say: Callable[[str], None]) -> None:
        """Stop everything that was started, and what was deployed: the next agent brings that back."""
        # Loaded late, because it is needed last.
        from fairway.plugins.process.keeping import ask_all_to_end

        for child in (self._agent, self._server):
            child.ask_to_stop()
            child.ended(patience, _STOP)
        if orphans(_SCRIPT):
            # Before what was deployed goes: it may be looking at that.
            say(f"a script is still running: it gets {_SCRIPT_PATIENCE:.0f} seconds to end; Ctrl-C ends it at once")
            patience.wait_while(lambda: orphans(_SCRIPT), _SCRIPT_PATIENCE)
            # It did not end by itself; the next agent does with it as its `onInterrupted` says.
            interrupt(orphans(_SCRIPT))
        patience.wait_while(ask_all_to_end(self._places.agent / "plugins" / "process"), _KEEPER_PATIENCE)
        end_orphans(patience, _ORPHAN_GRACE)


def choose_address(listen: str, before: str = "") -> str:
    """Where to listen: as asked; without a wish where it was before, on the usual port, or on any that is free."""
    usual, _, _ = LISTEN.rpartition(":")
    if not listen and before.rpartition(":")[0] == usual:
        # So that whoever has its address finds it again.
        with suppress(UserError):
            return choose_address(before)
    host, _, port = (listen or LISTEN).rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"--listen is {listen!r}; expected HOST:PORT")
    deadline = time.monotonic() + _PORT_PATIENCE
    while True:
        with suppress(OSError):
            return f"{host}:{_free_port(host, int(port))}"
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK)
    if listen:
        raise UserError(f"nothing can listen on {listen}; is it in use? choose another with --listen")
    return f"{host}:{_free_port(host, 0)}"


def save_profile(profile: Profile) -> str:
    """Let other commands find our server; how they name it: nothing when it is the current one."""
    chosen = ""

    def with_ours(saved: Profiles) -> Profiles:
        nonlocal chosen
        names = (PROFILE if number == 1 else f"{PROFILE}-{number}" for number in count(1))
        # Another `up` may be at work at the same time; its commands go on finding it.
        chosen = next(each for each in names if not _is_at_work(saved.profiles.get(each), profile))
        # Somebody who works with another server goes on with that one.
        return Profiles(current=saved.current or chosen, profiles={**saved.profiles, chosen: profile})

    current = change_profiles(profiles_path(os.environ), with_ours).current
    return "" if current == chosen else f" --profile {chosen}"


def _is_at_work(other: Profile | None, own: Profile) -> bool:
    """Whether a profile is that of another server which somebody runs now."""
    if other is None or other.server == own.server:
        return False
    address = urlsplit(other.server)
    try:
        with socket.create_connection((address.hostname or "", address.port or 0), _CONNECT):
            return True
    except OSError:
        return False


def _free_port(host: str, port: int) -> int:
    """The port, or any of ours for 0; OSError when nobody can listen there."""
    if port:
        return _free(host, port)
    first, *others = random.sample(_PORTS, _TRIES)
    for each in others:
        with suppress(OSError):
            return _free(host, each)
    return _free(host, first)


def _free(host: str, port: int) -> int:
    """The port, if nobody listens there and no other `up` is about to."""
    promise = socket.socket(socket.AF_UNIX)
    try:
        promise.bind(f"\0fairway-up-{host}-{port}")
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind((host.strip("[]"), port))
    except OSError:
        promise.close()
        raise
    # The name stays taken until this process ends, however it ends: also while our server is started again.
    promise.detach()
    return port


def _pause(child: Child) -> None:
    """Wait a little; give up on a child that does not come to life."""
    if child.failures >= _HOPELESS:
        raise NotStarted(f"the {child.name} does not start; {child.log} ends with:\n{child.last_words()}")
    time.sleep(_LOOK)
