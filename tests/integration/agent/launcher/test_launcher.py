"""The launcher keeps an agent running and changes its version; whatever is killed, something that works runs."""

import signal
from pathlib import Path

import pytest

from fairway import __version__
from fairway.agent.launcher.record import Failure, Record
from fairway.agent.plugins.identity import memory_of
from tests.integration.agent.launcher.launching import (
    FIRST,
    READY,
    SECOND,
    THIRD,
    Launching,
    a_launcher,
    forget,
    is_alive,
    running,
    until,
)
from tests.patience import PATIENCE_SECONDS


def at_work(launching: Launching, key: str) -> bool:
    """Whether a version is the current one and no other is on trial."""
    return launching.record.current == key and launching.record.trial is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_agent_and_the_launcher_ends_as_it_does(tmp_path: Path, number: signal.Signals) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, f"signal.signal({number}, lambda *_: sys.exit(7)); note('listens')")
        launching.start(running(FIRST))
        until(lambda: f"{FIRST} listens" in launching.log)

        launching.launcher.send_signal(number)

        assert launching.launcher.wait(PATIENCE_SECONDS) == 7
        assert not is_alive(launching.last)


def test_an_agent_that_cannot_start_ends_the_launcher_with_its_own_status(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, "sys.exit(3)")
        launching.start(running(FIRST))

        assert launching.launcher.wait(PATIENCE_SECONDS) == 3
        assert launching.starts(FIRST) == 1


def test_an_agent_that_is_killed_or_crashes_is_started_again(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(running(FIRST))
        until(lambda: launching.starts(FIRST) == 1)
        forget(launching.last)
        until(lambda: launching.starts(FIRST) == 2)
        launching.order(FIRST, "sys.exit(5)")
        until(lambda: launching.starts(FIRST) == 3)

        assert launching.launcher.poll() is None
        assert "the agent was ended by SIGKILL" in launching.said
        assert at_work(launching, FIRST)


def test_an_agent_does_not_outlive_its_launcher_and_the_next_launcher_waits_for_its_end(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(running(FIRST))
        until(lambda: launching.starts(FIRST))
        agent = launching.last

        launching.kill()
        launching.start()

        until(lambda: launching.starts(FIRST) == 2)
        assert not is_alive(agent)


def test_two_launchers_with_the_same_data_run_one_agent(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(running(FIRST))
        until(lambda: launching.starts(FIRST))
        first = launching.launcher
        launching.start()
        until(lambda: "another agent works with" in launching.said)
        assert launching.starts(FIRST) == 1

        first.terminate()
        first.wait(PATIENCE_SECONDS)

        until(lambda: launching.starts(FIRST) == 2)


def test_another_version_takes_over_and_the_one_before_is_kept_and_older_ones_are_not(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        for each in (FIRST, SECOND, THIRD):
            launching.add(each, READY)
        # The third would be swept away at the start, as nobody knows of it yet.
        (launching.versions / THIRD).rename(tmp_path / THIRD)
        (launching.versions / SECOND).rename(tmp_path / SECOND)
        launching.start(running(FIRST))
        for of, to in ((FIRST, SECOND), (SECOND, THIRD)):
            until(lambda of=of: launching.starts(of))  # type: ignore[misc]  # bound now
            (tmp_path / to).rename(launching.versions / to)
            launching.switch(of, to)
            until(lambda to=to: at_work(launching, to))  # type: ignore[misc]  # bound now

        assert launching.log == [
            f"{FIRST} starts",
            f"{FIRST} leaves",
            f"{SECOND} starts",
            f"{SECOND} leaves",
            f"{THIRD} starts",
        ]
        assert launching.record == Record(__version__, current=THIRD, previous=SECOND)
        assert sorted(each.name for each in launching.versions.iterdir()) == [SECOND, THIRD, "record.json"]
        assert memory_of(launching.launcher.pid) < 16e6


#: How long a version is waited for that never is ready: enough for its first line, also on a busy machine.
SHORT = 6.0


@pytest.mark.parametrize(
    ("behaviour", "ready", "starts", "reason"),
    [
        pytest.param(
            "sys.exit(1)",
            PATIENCE_SECONDS,
            3,
            "it ended with status 1 before it was healthy, 3 times in a row",
            id="crashes",
        ),
        pytest.param(
            "sys.exit(0)",
            PATIENCE_SECONDS,
            3,
            "it ended with status 0 before it was healthy, 3 times in a row",
            id="ends",
        ),
        pytest.param(
            f"{READY}; sys.exit(1)", PATIENCE_SECONDS, 3, "it ended with status 1", id="crashes when it is ready"
        ),
        pytest.param("os.kill(os.getpid(), 9)", PATIENCE_SECONDS, 3, "it was ended by SIGKILL", id="is killed"),
        pytest.param("pass", SHORT, 1, f"it was not ready within {SHORT:g}s", id="is never ready"),
        pytest.param("os.close(pipe)", SHORT, 1, f"it was not ready within {SHORT:g}s", id="says nothing"),
        pytest.param(
            "os.write(pipe, b'x' * 100000)", SHORT, 1, f"it was not ready within {SHORT:g}s", id="says nonsense"
        ),
    ],
)
def test_a_version_that_is_not_healthy_is_left_and_the_reason_is_kept(
    tmp_path: Path, behaviour: str, ready: float, starts: int, reason: str
) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(running(FIRST))
        until(lambda: launching.starts(FIRST))
        launching.add(SECOND, behaviour)

        launching.switch(FIRST, SECOND, ready=ready, settle=30)

        until(lambda: launching.starts(FIRST) == 2)
        (failure,) = until(lambda: launching.record.failures)
        assert (failure.key, failure.reason[: len(reason)]) == (SECOND, reason)
        assert launching.starts(SECOND) == starts
        assert at_work(launching, FIRST)


def test_a_version_that_does_not_leave_is_made_to(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(running(FIRST))
        until(lambda: launching.starts(FIRST))
        launching.add(SECOND, "signal.signal(signal.SIGTERM, signal.SIG_IGN)")

        launching.switch(FIRST, SECOND, ready=SHORT)

        until(lambda: launching.starts(FIRST) == 2)
        assert launching.starts(SECOND) == 1


def test_a_restart_that_was_asked_for_forgives_and_the_process_of_the_launcher_stays(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(Record(__version__, current=FIRST, failures=(Failure(SECOND, "it crashed", 1),)))
        until(lambda: launching.starts(FIRST))

        launching.order(FIRST, "say(restart=True); sys.exit(0)")

        until(lambda: launching.starts(FIRST) == 2)
        assert launching.record == running(FIRST)
        assert launching.launcher.poll() is None


#: Moments of a switch from the first to the second version, each with how to get there.
MOMENTS = {
    "the wish is written down and the first one is leaving": ("hold", READY, 30.0),
    "the second one has started": ("", "pass", 30.0),
    "the second one is ready": ("", READY, 30.0),
    "the second one is healthy": ("", READY, 0.01),
}


@pytest.mark.parametrize("who", ["launcher", "agent", "both"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_whoever_is_killed_at_whichever_moment_something_healthy_runs_in_the_end(
    tmp_path: Path, moment: str, who: str
) -> None:
    hold, behaviour, settle = MOMENTS[moment]
    with a_launcher(tmp_path) as launching:
        launching.add(FIRST, READY)
        launching.start(running(FIRST))
        until(lambda: launching.starts(FIRST))
        launching.add(SECOND, behaviour)
        if hold:
            (launching.folder / "hold").touch()
        launching.switch(FIRST, SECOND, settle=settle)
        until(lambda: f"{FIRST} leaves" in launching.log if hold else launching.starts(SECOND))
        if settle < 1:
            until(lambda: at_work(launching, SECOND))

        victim = launching.last
        if who != "launcher":
            forget(victim)
        if who != "agent":
            launching.kill()
        (launching.folder / "hold").unlink(missing_ok=True)
        # From now on it is healthy at once.
        launching.order(SECOND, READY)
        if who != "agent":
            until(lambda: not is_alive(victim))
            launching.start(
                launching.record._replace(trial=launching.record.trial and launching.record.trial._replace(settle=0.01))
            )

        until(lambda: launching.last != victim and launching.starts(SECOND))
        until(lambda: is_alive(launching.last))
        record = launching.record
        assert record.current in {FIRST, SECOND}
        assert record.failures == ()
        if who != "agent":
            until(lambda: at_work(launching, SECOND))


def test_a_record_that_cannot_be_read_means_what_is_installed(tmp_path: Path) -> None:
    with a_launcher(tmp_path) as launching:
        (launching.versions / "record.json").write_text("{")
        launching.start()

        # `fairway /its/folder` is no command of the installed version, which says so.
        assert launching.launcher.wait(PATIENCE_SECONDS) == 2
        assert "No such command" in launching.said
        assert launching.record == Record(__version__)
