"""What is shown: on a terminal within its rows, elsewhere in the order in which it happened."""

import re

import msgspec
import pytest
from rich.console import Console

from fairway.cli.cards import ShownDeployment
from fairway.cli.up.board import Signs, State, board
from fairway.cli.up.screens import Lines
from fairway.model.application import DiscoveredApplication, SyncState, SyncStatus, UnusableFile
from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import ManualOperation, Stage, StageStatus
from tests.unit.model.builders import NOW, a_git_path, a_stage, a_trigger, an_application

SIGNS = Signs(command="fairway", profile=" --profile up", tries=[("look at it", "fairway deployment list")])

FOUND = DiscoveredApplication(
    name="cart", agent_id="a", repository_id="shop", path="my carts", config_filename="app.pipecd.yaml"
)


def shown(
    *stages: Stage, status: DeploymentStatus = DeploymentStatus.RUNNING, id: str = "d-12345678"
) -> ShownDeployment:
    return ShownDeployment(
        id=id,
        application_id="a-1",
        application_name="cart",
        agent_id="agent-1",
        project_id="shop",
        git_path=a_git_path(),
        trigger=a_trigger(),
        created_at=NOW,
        updated_at=NOW,
        status=status,
        stages=stages,
    )


def drawn(state: State, rows: int = 40) -> list[str]:
    console = Console(width=80, height=rows, color_system=None)
    with console.capture() as capture:
        console.print(board(state, SIGNS, NOW, rows))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_what_waits_for_approval_shows_the_command_that_approves_and_what_else_to_try() -> None:
    waiting = a_stage(status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)
    deployment = shown(waiting)

    lines = drawn(State(applications=[an_application()], deployments={deployment.id: deployment}))

    assert "  → fairway deployment approve d-123456 --profile up" in lines
    assert "  look at it  fairway deployment list" in lines


def test_why_our_approval_is_not_enough_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    waiting = a_stage(status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)
    deployment, why = shown(waiting), "ada is not one of those who may"
    state = State(deployments={deployment.id: deployment}, unapproved={deployment.id: why})
    lines = Lines(SIGNS)

    for _ in range(2):
        lines.update(state)

    told = [line[9:] for line in capsys.readouterr().out.splitlines()]
    assert [line for line in told if why in line] == [f"! cart: {why}"]
    assert f"  ! {why}" in drawn(state)


def test_why_a_file_cannot_be_used_is_read_to_its_end() -> None:
    reason = "web/app.pipecd.yaml:10:11: error: spec.labels: is 7; expected names with values, " * 2 + "THE END"
    state = SyncState(status=SyncStatus.INVALID_CONFIG, at=NOW, short_reason="invalid config", reason=reason)

    lines = drawn(State(applications=[an_application(sync_state=state)]))

    assert "".join(reason.split()) in "".join("".join(lines).split())


@pytest.mark.parametrize("rows", [16, 20, 24, 40])
def test_logs_give_way_so_that_the_stages_stay_on_the_screen(rows: int) -> None:
    stages = (a_stage(status=StageStatus.RUNNING), a_stage("stage-1"), a_stage("stage-2"))
    both = {id: shown(*stages, id=id) for id in ("d-1", "d-2")}
    tails = dict.fromkeys(both, ("one", "two", "three", "four"))

    lines = drawn(State(applications=[an_application()], deployments=both, tails=tails), rows)

    assert len(lines) <= max(rows, 16)
    assert len([line for line in lines if line.startswith("  ○ WAIT")]) == 4
    assert ("  │ four" in lines) is (rows > 20)


def test_what_a_stage_writes_is_told_between_its_start_and_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(SIGNS)
    first, second = a_stage(name="BUILD", status=StageStatus.SUCCEEDED), a_stage("stage-1", status=StageStatus.FAILED)
    ended = shown(first, second, status=DeploymentStatus.FAILED)

    lines.logged(ended, first, ["built"])
    lines.logged(ended, second, ["too long"])
    lines.ended(ended, ())

    said = [re.sub(r"^[\d:]{8} ", "", line) for line in capsys.readouterr().out.splitlines()]
    assert said == [
        "cart: deployment running",
        "cart: BUILD running",
        "cart: BUILD │ built",
        "cart: BUILD succeeded",
        "cart: WAIT running",
        "cart: WAIT │ too long",
        "cart: WAIT failed",
        "cart: deployment failed",
    ]


@pytest.mark.parametrize(
    ("filename", "width", "command"),
    [
        pytest.param(
            "app.pipecd.yaml",
            120,
            ["fairway app add cart --agent up --repository shop --path 'my carts'"],
            id="one line",
        ),
        pytest.param(
            "cart.pipecd.yaml",
            60,
            [
                "fairway app add cart --agent up --repository shop \\",
                "--path 'my carts' --config-filename cart.pipecd.yaml",
            ],
            id="several lines",
        ),
    ],
)
def test_a_command_to_copy_is_one_command_on_any_terminal(filename: str, width: int, command: list[str]) -> None:
    found = msgspec.structs.replace(FOUND, config_filename=filename)
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(board(State(suggestions=[found]), Signs(command="fairway", profile=""), NOW, 40))

    lines = [line.strip() for line in capture.get().splitlines()]
    first = lines.index(command[0])
    assert lines[first : first + len(command)] == command


@pytest.mark.parametrize(
    ("width", "rows", "named"),
    [pytest.param(80, 24, 4, id="a small terminal"), pytest.param(120, 40, 5, id="a large one")],
)
def test_of_many_that_were_found_some_are_named_and_the_others_counted(width: int, rows: int, named: int) -> None:
    found = [msgspec.structs.replace(FOUND, name=f"shop-{number}") for number in range(11)]
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(board(State(suggestions=found), SIGNS, NOW, rows))

    lines = [line.strip() for line in capture.get().splitlines()]
    assert sum(line.startswith("shop-") for line in lines) == named
    assert f"and {11 - named} more; `up` with --register registers all of them" in lines
    assert len(lines) <= rows


def test_in_a_pipe_what_was_found_is_one_line_with_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    Lines(SIGNS).update(State(suggestions=[FOUND]))

    command = "fairway app add cart --agent up --repository shop --path 'my carts' --profile up"
    assert capsys.readouterr().out[9:] == f"found cart in my carts; {command}\n"


def test_each_of_two_files_in_one_directory_is_told_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    both = [FOUND, msgspec.structs.replace(FOUND, name="cart-2", config_filename="second.pipecd.yaml")]
    lines = Lines(SIGNS)

    for _ in range(2):
        lines.update(State(suggestions=both))

    assert [line[9:].split(";")[0] for line in capsys.readouterr().out.splitlines()] == [
        "found cart in my carts",
        "found cart-2 in my carts",
    ]


def test_an_unusable_file_is_told_once_and_so_is_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    new = UnusableFile(repository_id="r", file="new.pipecd.yaml", reason="new.pipecd.yaml:1:1: error: is no YAML")
    web = UnusableFile(repository_id="r", file="web.pipecd.yaml", reason="web: is wrong", application_id="a-web")
    lines = Lines(SIGNS)

    for files in ([], [new, web], [new, web], [web]):
        lines.update(State(unusable=files))

    told = [line[9:] for line in capsys.readouterr().out.splitlines()]
    assert told == [f"! {new.reason}", f"! {web.reason}", "new.pipecd.yaml is no longer unusable"]
    assert [line for line in drawn(State(unusable=[new, web])) if line.startswith("!")] == [f"! {new.reason}"]
