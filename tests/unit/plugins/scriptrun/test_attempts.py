"""Whether a script is run again, and how its end is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.stages import ScriptRunOptions
from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.attempts import MOST_INTERRUPTIONS, Attempt, outcome, runs_again
from fairway.sdk import Outcome


def kept(attempts: str = "1", **facts: str) -> dict[str, str]:
    """What is kept with a stage."""
    return {f"fairway/{name.replace('_', '-')}": value for name, value in {"attempts": attempts, **facts}.items()}


AGAIN, FAIL = ScriptRunOptions(run="x", on_interrupted="run-again"), ScriptRunOptions(run="x")


@pytest.mark.parametrize(
    ("ends", "options", "again"),
    [
        pytest.param([0], ScriptRunOptions(run="x", retry=3), False, id="one that succeeded is not"),
        pytest.param([1], FAIL, False, id="one that failed is not, by default"),
        pytest.param([1, 2], ScriptRunOptions(run="x", retry=2), True, id="a second time of two"),
        pytest.param([1, 2, 1], ScriptRunOptions(run="x", retry=2), False, id="a third time of two"),
        pytest.param([None], ScriptRunOptions(run="x", retry=2), False, id="one that was interrupted is not"),
        pytest.param([None], AGAIN, True, id="one that was interrupted is, if it may"),
        pytest.param(["handed over"], FAIL, False, id="one that was interrupted and ended well is not"),
        pytest.param(["handed over"], AGAIN, True, id="one that was interrupted and ended well is, if it may"),
        pytest.param([None, 1], AGAIN, False, id="then it failed by itself"),
        pytest.param([None] * (MOST_INTERRUPTIONS + 1), AGAIN, False, id="interrupted for ever"),
    ],
)
def test_a_script_is_run_again(ends: list[int | str | None], options: ScriptRunOptions, again: bool) -> None:
    attempts = [
        Attempt(status=0, interruption=each) if isinstance(each, str) else Attempt(status=each) for each in ends
    ]

    assert runs_again(attempts, options) is again


@given(st.lists(st.sampled_from([1, None]), min_size=12), st.integers(0, 5), st.sampled_from([AGAIN, FAIL]))
def test_no_script_is_run_for_ever(ends: list[int | None], retry: int, options: ScriptRunOptions) -> None:
    limited = ScriptRunOptions(run="x", retry=retry, on_interrupted=options.on_interrupted)
    attempts = [Attempt(status=status) for status in ends]

    run = next(number for number in range(1, 13) if not runs_again(attempts[:number], limited))

    assert run <= 1 + retry + MOST_INTERRUPTIONS


@pytest.mark.parametrize(
    ("attempt", "commands", "told"),
    [
        pytest.param(
            Attempt(status=0, seconds=1.25),
            1,
            Outcome(StageStatus.SUCCEEDED, "exit status 0 after 1.2s", kept(exit_status="0", seconds="1.250")),
            id="well",
        ),
        pytest.param(
            Attempt(status=3, seconds=0.02),
            1,
            Outcome(StageStatus.FAILED, "exit status 3 after 0.0s", kept(exit_status="3", seconds="0.020")),
            id="by its status",
        ),
        pytest.param(
            Attempt(status=137, seconds=9, step=2),
            3,
            Outcome(
                StageStatus.FAILED,
                "command 2 of 3 failed: ended by signal 9 (SIGKILL) after 9.0s",
                kept(exit_status="137", seconds="9.000", signal="SIGKILL"),
            ),
            id="by a signal, in a list",
        ),
        pytest.param(
            Attempt(status=255, seconds=1),
            2,
            Outcome(StageStatus.FAILED, "exit status 255 after 1.0s", kept(exit_status="255", seconds="1.000")),
            id="by a number that is no signal, before the first of a list",
        ),
        pytest.param(
            Attempt(status=None, interruption="the machine restarted"),
            1,
            Outcome(
                StageStatus.FAILED,
                "interrupted: the machine restarted; whether its work was done is not known",
                kept(),
            ),
            id="not recorded",
        ),
        pytest.param(
            Attempt(status=0, seconds=2, interruption="the agent handed over to another one"),
            1,
            Outcome(
                StageStatus.FAILED,
                "interrupted: the agent handed over to another one; exit status 0 after 2.0s;"
                " whether its work was done is not known",
                kept(exit_status="0", seconds="2.000"),
            ),
            id="interrupted, and well",
        ),
        pytest.param(
            Attempt(status=143, seconds=5.9, killed=("python3", "sleep", "sleep"), killed_after=23.04),
            1,
            Outcome(
                StageStatus.FAILED,
                "ended by signal 15 (SIGTERM) after 5.9s; SIGKILL after 23.0s for 3 processes: python3, sleep (2)",
                kept(exit_status="143", seconds="5.900", signal="SIGTERM"),
            ),
            id="by SIGTERM, but not all of it",
        ),
        pytest.param(
            Attempt(status=137, seconds=23.04, killed=("sh",), killed_after=23.1),
            1,
            Outcome(
                StageStatus.FAILED,
                "ended by signal 9 (SIGKILL) after 23.0s",
                kept(exit_status="137", seconds="23.040", signal="SIGKILL"),
            ),
            id="by SIGKILL",
        ),
    ],
)
def test_the_end_is_told_with_status_signal_and_duration(attempt: Attempt, commands: int, told: Outcome) -> None:
    assert outcome([attempt], commands) == told


def test_a_later_attempt_says_so() -> None:
    attempts = [Attempt(status=1), Attempt(status=0)]

    assert outcome(attempts, 1) == Outcome(
        StageStatus.SUCCEEDED,
        "exit status 0 after 0.0s (attempt 2)",
        kept(attempts="2", exit_status="0", seconds="0.000"),
    )
