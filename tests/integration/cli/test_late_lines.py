"""Lines that arrive after the end of their deployment, which overtakes them when the server was away."""

from collections.abc import Callable, Sequence

import msgspec
import pytest

from fairway.cli import follow
from fairway.cli.cards import ShownDeployment
from fairway.cli.follow import LogPrinter, follow_logs
from fairway.cli.logs import LogPage
from fairway.cli.profiles import Profile
from fairway.cli.up.board import State
from fairway.cli.up.follow import Aim, Follower
from fairway.cli.up.rest import Rest
from fairway.cli.up.site import OwnCall
from fairway.model.application import DeploymentReference
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.stage import Stage, StageStatus
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server, in_turn
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

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
        if asked.path.startswith("/api/v1/agents"):
            return Answer(body=b'{"items": []}')
        return page(asked) if "/log" in asked.path else deployment(asked)

    return answer


class Recorded:
    """A screen that remembers what it was told of logs and ends."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def update(self, state: State) -> None:
        """Of no matter here."""

    def logged(self, _deployment: ShownDeployment, _stage: Stage, lines: Sequence[str]) -> None:
        self.told += lines

    def ended(self, deployment: ShownDeployment, _tail: Sequence[str], /) -> None:
        self.told.append(deployment.status.value)


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


def test_up_tells_the_end_after_the_lines_that_it_has_overtaken() -> None:
    pages = answers([ENDED], [a_page("one"), a_page("one", "two", completed=True)])
    newest = DeploymentReference(deployment_id=ENDED.id, trigger=ENDED.trigger, started_at=NOW)
    lists = {
        "/api/v1/deployments?": [ENDED],
        "/api/v1/applications?": [an_application(last_triggered=newest)],
        "/api/v1/applications/suggestions": [],
    }

    def answer(asked: Asked) -> Answer:
        items = next((each for path, each in lists.items() if asked.path.startswith(path)), None)
        return pages(asked) if items is None else Answer(body=msgspec.json.encode({"items": items}))

    screen = Recorded()
    with a_scripted_server(answer) as server, OwnCall(Profile(server=server.url, api_key="key")) as call:
        decision = Follower(call, screen, Aim(until_idle=True)).run()

    assert (screen.told, decision.rest) == (["one", "two", "succeeded"], Rest.AS_EXPECTED)
