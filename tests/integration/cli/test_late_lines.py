"""Lines that arrive after the end of their deployment, which overtakes them when the server was away."""

from collections.abc import Callable

import msgspec
import pytest

from fairway.cli import follow
from fairway.cli.follow import LogPrinter, follow_logs
from fairway.cli.logs import LogPage
from fairway.cli.profiles import Profile
from fairway.cli.up.site import OwnCall
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.stage import StageStatus
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server, in_turn
from tests.unit.model.builders import NOW, a_deployment, a_stage

RUNNING = a_deployment(status=DeploymentStatus.RUNNING, stages=(a_stage("s-1", status=StageStatus.RUNNING),))
ENDED = a_deployment(status=DeploymentStatus.SUCCEEDED, stages=(a_stage("s-1", status=StageStatus.SUCCEEDED),))


def a_page(*lines: str, completed: bool = False) -> Answer:
    blocks = tuple(LogBlock(index=index, log=line, created_at=NOW) for index, line in enumerate(lines))
    return Answer(body=msgspec.json.encode(LogPage(blocks, completed)))


def answers(deployments: list[Deployment], pages: list[Answer]) -> Callable[[Asked], Answer]:
    """As a server whose stream rings the bell once each time that somebody listens."""
    deployment = in_turn(*(Answer(body=msgspec.json.encode(each)) for each in deployments))
    page = in_turn(*pages)

    def answer(asked: Asked) -> Answer:
        if asked.path.startswith("/api/v1/stream"):
            return Answer(body=b"event: log\ndata: {}\n\n")
        return page(asked) if "/log" in asked.path else deployment(asked)

    return answer


def printed(server: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    with OwnCall(Profile(server=server, api_key="key")) as call:
        follow_logs(call, "d-1", LogPrinter(call, "d-1", "", timestamps=False))
    return capsys.readouterr().out.splitlines()


def test_lines_that_the_end_has_overtaken_are_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    pages = [a_page("one"), a_page("one", "two", completed=True)]

    with a_scripted_server(answers([RUNNING, ENDED], pages)) as server:
        assert printed(server.url, capsys) == ["one", "two"]

    assert [each.path for each in server.asked if "stream" in each.path] == [
        "/api/v1/stream?topic=deployment%3Ad-1&topic=log%3Ad-1%2Fs-1"
    ]


def test_a_log_that_nobody_ever_ends_is_not_waited_for_without_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "LATE_SECONDS", 0.0)

    with a_scripted_server(answers([RUNNING, ENDED], [a_page("one")])) as server:
        assert printed(server.url, capsys) == ["one"]


def test_of_what_had_ended_before_nothing_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with a_scripted_server(answers([ENDED], [a_page("one"), a_page("one", "two")])) as server:
        assert printed(server.url, capsys) == ["one"]
