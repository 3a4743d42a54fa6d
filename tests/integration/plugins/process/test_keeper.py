"""A keeper by itself: what it makes of its wishes, whom it takes over, and whom it leaves alone."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from fairway.plugins.process.decide import what_is_missing
from fairway.plugins.process.identity import find_marked, identity_of, is_alive
from fairway.plugins.process.keeper import Keeper
from fairway.plugins.process.keeping import ask_all_to_end, told_keeper
from fairway.plugins.process.records import SEEN, WANTED, Group, Identity, Seen, Version, Wanted, load, save
from fairway.plugins.process.release import keep_release
from tests.integration.agent.running import until
from tests.integration.plugins.process.applications import SERVER, nothing_left
from tests.ports import a_free_port


def an_application(folder: Path, command: tuple[str, ...] = (sys.executable, "server.py")) -> tuple[Path, Wanted]:
    """An application with two processes, kept but not yet started."""
    files, directory = folder / "files", folder / "state" / "apps" / "a-1"
    files.mkdir()
    (files / "server.py").write_text(SERVER)
    (files / "version").write_text("one")
    version = Version(commit="c1", files="f1", command=command, health_interval=0.1)
    keep_release(directory, files, version.release)
    group = Group(variant="primary", version=version, replicas=2, share=100.0)
    wanted = Wanted(port=a_free_port(), stop_timeout=3.0, groups=(group,))
    save(directory, WANTED, wanted)
    return directory, wanted


async def made(directory: Path, wanted: Wanted) -> Seen:
    """What there is, once it is as wanted."""

    async def look() -> Seen | None:
        seen = await told_keeper(directory, wanted)
        return None if what_is_missing(wanted, seen) else seen

    return await until(look)


@contextmanager
def somebody() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is nobody's of ours."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def killed(seen: Seen) -> None:
    """Kill the keeper, and see it gone."""
    assert seen.keeper is not None
    os.kill(seen.keeper.pid, signal.SIGKILL)
    while is_alive(seen.keeper):
        pass


async def test_processes_that_were_started_but_not_written_down_are_found_by_their_mark(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path)
    with nothing_left(tmp_path):
        before = await made(directory, wanted)
        killed(before)
        forgotten = tuple(msgspec.structs.replace(each, process=None, ready=False) for each in before.instances)
        save(directory, SEEN, msgspec.structs.replace(before, instances=forgotten))

        after = await made(directory, wanted)

        assert [each.process for each in after.instances] == [each.process for each in before.instances]
        assert after.keeper != before.keeper


@contextmanager
def a_disk_that_takes_nothing_of(pid: int, directory: Path) -> Iterator[None]:
    """For what that keeper notes; it stands in for a full one."""
    in_its_place = directory / f"{SEEN}.{pid}"
    in_its_place.mkdir()
    try:
        yield
    finally:
        in_its_place.rmdir()


async def test_a_keeper_goes_on_while_the_disk_is_full_and_notes_it_all_when_there_is_room(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path)
    with nothing_left(tmp_path):
        before = await made(directory, wanted)
        keeper, (killed, other) = before.keeper, before.instances
        assert keeper is not None
        assert killed.process is not None
        with a_disk_that_takes_nothing_of(keeper.pid, directory):
            os.kill(killed.process.pid, signal.SIGKILL)

            async def started_again() -> Identity | None:
                assert is_alive(keeper), (directory / "keeper.log").read_text()
                found = find_marked(killed.id)
                return None if found == killed.process else found

            new = await until(started_again)

        async def noted() -> Seen | None:
            seen = await told_keeper(directory, wanted)
            return seen if seen != before and not what_is_missing(wanted, seen) else None

        after = await until(noted)
        assert after.keeper == keeper
        assert {each.id: each.process for each in after.instances} == {killed.id: new, other.id: other.process}
        assert (directory / "keeper.log").read_text().count("cannot be noted") == 1


async def test_a_process_is_not_started_before_it_is_noted(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path, ("no-such-program",))
    keeper = Keeper(directory)
    with a_disk_that_takes_nothing_of(os.getpid(), directory):
        await keeper._step(wanted)
        begun = list(keeper._tasks)
    await keeper._step(wanted)
    later, noted = list(keeper._tasks), load(directory, SEEN, Seen) or Seen()
    for task in keeper._tasks.values():
        task.cancel()
    await keeper._splitter.close()

    assert (begun, later) == ([], [each.id for each in noted.instances])
    assert len(later) == 2


async def test_a_stranger_who_has_the_number_of_a_process_is_left_alone(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path)
    with nothing_left(tmp_path), somebody() as stranger:
        before = await made(directory, wanted)
        killed(before)
        process = before.instances[0].process
        assert process is not None
        os.killpg(process.pid, signal.SIGKILL)
        taken = msgspec.structs.replace(before.instances[0], process=msgspec.structs.replace(process, pid=stranger.pid))
        save(directory, SEEN, msgspec.structs.replace(before, instances=(taken, before.instances[1])))
        gone = Wanted(port=wanted.port, stop_timeout=1.0)
        save(directory, WANTED, gone)

        after = await made(directory, gone)

        assert (after.instances, stranger.poll()) == ((), None)


async def test_a_process_that_does_not_listen_to_a_polite_signal_is_made_to_end(tmp_path: Path) -> None:
    # The shell stays, ignores the signal, and has a child.
    line = f"trap '' TERM; {sys.executable} server.py & wait; wait"
    directory, wanted = an_application(tmp_path, ("/bin/sh", "-c", line))
    with nothing_left(tmp_path):
        before = await made(directory, wanted)
        gone = Wanted(port=wanted.port, stop_timeout=0.3)
        save(directory, WANTED, gone)

        await made(directory, gone)

        assert [is_alive(each.process) for each in before.instances] == [False, False]


async def test_a_program_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path, ("no-such-program",))
    with nothing_left(tmp_path):

        async def told() -> str | None:
            missing = what_is_missing(wanted, await told_keeper(directory, wanted))
            return missing if "no-such-program" in missing else None

        problem = "no-such-program cannot be started (No such file or directory)"
        assert await until(told) == f"0 of 2 primary processes answer: {problem}"


async def test_a_process_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path, ("/bin/sh", "-c", "echo no room; exit 7"))
    with nothing_left(tmp_path):

        async def told() -> str | None:
            missing = what_is_missing(wanted, await told_keeper(directory, wanted))
            return missing if "ended" in missing else None

        assert "it ended by itself (exit status 7): no room" in await until(told)


async def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path)
    with nothing_left(tmp_path), socket.create_server(("127.0.0.1", wanted.port)):

        async def told() -> str | None:
            missing = what_is_missing(wanted, await told_keeper(directory, wanted))
            return missing if "listen" in missing else None

        expected = f"nobody can listen on 127.0.0.1 port {wanted.port} (address already in use)"
        assert (await until(told)).lower() == expected


async def test_a_whole_installation_ends_and_comes_back_as_it_was_wanted(tmp_path: Path) -> None:
    directory, wanted = an_application(tmp_path)
    with nothing_left(tmp_path):
        before = await made(directory, wanted)

        still_there = ask_all_to_end(tmp_path / "state")
        while still_there():
            pass

        alive = [is_alive(each.process) for each in before.instances]
        assert (alive, is_alive(before.keeper), load(directory, WANTED, Wanted)) == ([False, False], False, wanted)
        after = await made(directory, wanted)
        assert len(after.instances) == 2


def test_an_identity_is_that_of_one_process_only() -> None:
    with somebody() as process:
        identity = identity_of(process.pid)
        assert identity is not None
        other = msgspec.structs.replace(identity, began="another boot/1")

        assert (is_alive(identity), is_alive(other)) == (True, False)
        process.kill()
        while is_alive(identity):
            pass
        # It has ended, though nobody has asked for its exit status yet.
        assert identity_of(process.pid) == identity
