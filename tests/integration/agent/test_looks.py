"""Looks at a repository: what is known already is not read again, and what could not be done is tried again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.agent.applications import Registered
from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.healing import Before
from fairway.agent.reports import Report
from fairway.agent.repositories import PATIENCE, Repositories, WatchedRepository
from fairway.agent.watching import Watcher, WatcherDesk
from fairway.clock import SystemClock
from fairway.delivery.trigger import Drift
from fairway.errors import FairwayError
from fairway.git.errors import GitAccessError, GitRemoteError
from fairway.model.application import GitPath, Repository, SyncState, SyncStatus, UnusableFile
from fairway.model.command import Command, CommandStatus, SyncApplication
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.rpc.agent_api import messages
from fairway.rpc.convert.application import to_wire_sync_state
from tests.integration.agent.running import agent_config, an_application_file, script
from tests.integration.git.repositories import an_origin
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW, a_deployment, a_trigger, an_application


class Reports:
    """An outbox and a list of deployments that write down what they are given."""

    def __init__(self) -> None:
        self.methods: list[str] = []
        #: Application id → the sync states of its reports.
        self.states: dict[str, list[int]] = {}
        self.taken: list[str] = []
        self.known: set[str] = set()
        self.ended: dict[str, Deployment] = {}
        self.refuses = ""
        #: The unusable files of each report, and how many more reports do not arrive.
        self.unusable: list[list[str]] = []
        self.lost = 0

    async def deliver(self, _stream: str, *reports: Report) -> bool:
        for report in reports:
            if report.method == "CreateDeployment" and report.request.deployment.application_id == self.refuses:  # type: ignore[attr-defined]  # the request of that method
                raise ServerRefused("it is not this agent's")
            self.methods.append(report.method)
            if isinstance(report.request, messages.ReportApplicationSyncStateRequest):
                self.states.setdefault(report.request.application_id, []).append(report.request.state.status)
        return True

    async def report_unusable(self, files: Sequence[UnusableFile]) -> None:
        if self.lost:
            self.lost -= 1
            raise ServerAway("it does not answer")
        self.unusable.append([each.file for each in files])

    def knows(self, deployment_id: str) -> bool:
        return deployment_id in self.known

    def take(self, deployment: Any, telling: asyncio.Future[None] | None = None) -> None:
        if telling is None:
            return
        self.known.add(deployment.id)

        def taken(told: asyncio.Future[None]) -> None:
            # What the server refuses is given up again.
            if told.exception() is None:
                self.taken.append(deployment.application_id)

        telling.add_done_callback(taken)

    async def find(self, deployment_id: str) -> Deployment:
        if deployment_id in self.ended:
            return self.ended[deployment_id]
        raise ServerRefused(f"there is no deployment {deployment_id}")

    def supersede(self, _deployment: Any) -> None:
        """None waits."""

    def under_way(self, _application_id: str) -> str:
        return ""


async def no_wait(_seconds: float) -> None:
    """The time passes at once."""


def a_watcher(folder: Path, repositories: Repositories, reports: Any, looked: list[int]) -> tuple[Watcher, Registered]:
    registered, ids = Registered(), iter(range(100))
    place = {name: GitPath(repository=Repository(id="r-1"), path=name) for name in ("web", "shop")}
    registered.replace(an_application(f"a-{name}", name=name, git_path=each) for name, each in place.items())
    desk = WatcherDesk(
        config=agent_config(an_origin(folder / "unused")),
        registered=registered,
        repositories=repositories,
        deployments=reports,
        outbox=reports,
        clock=SystemClock(),
        new_id=lambda: f"d-{next(ids)}",
        find=reports.find,
        report_unusable=reports.report_unusable,
        looked=lambda: looked.append(1),
        patience=replace(PATIENCE, sleep=no_wait),
    )
    return Watcher(desk), registered


PAYLOAD = SyncApplication(application_id="a-web")
COMMAND = Command(id="c-1", agent_id="agent-1", project_id="shop", payload=PAYLOAD, created_at=NOW, updated_at=NOW)

SYNC_UNKNOWN = SyncState(status=SyncStatus.UNKNOWN, at=NOW)


def files() -> dict[str, str]:
    return {
        f"{name}/app.pipecd.yaml": an_application_file(script("true")).replace("web", name) for name in ("web", "shop")
    }


async def test_a_look_that_would_find_the_same_is_not_made(tmp_path: Path) -> None:
    origin, reports, looked = an_origin(tmp_path, files()), Reports(), list[int]()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, registered = a_watcher(tmp_path, repositories, reports, looked)
        await repositories.by_id["r-1"].refresh()
        for _ in range(5):
            await watcher.look_everywhere()
        # The second one sees what the first has begun.
        seen = len(looked)
        registered.replace(
            [an_application("a-web", name="web", git_path=GitPath(repository=Repository(id="r-1"), path="web"))]
        )
        await watcher.look_everywhere()

    assert (seen, len(looked), sorted(reports.taken)) == (2, 3, ["a-shop", "a-web"])


async def test_unusable_files_are_reported_once_and_again_when_the_report_was_lost(tmp_path: Path) -> None:
    origin, reports = an_origin(tmp_path, {**files(), "new/app.pipecd.yaml": "a: ["}), Reports()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, [])
        await repositories.by_id["r-1"].refresh()
        reports.lost = 1
        for _ in range(4):
            await watcher.look_everywhere()
        origin.commit({"new/app.pipecd.yaml": an_application_file(script("true"))})
        await repositories.by_id["r-1"].refresh()
        await watcher.look_everywhere()

    assert reports.unusable == [["new/app.pipecd.yaml"], []]


async def test_a_file_that_was_mended_while_the_agent_was_down_is_reported_once(tmp_path: Path) -> None:
    origin, reports = an_origin(tmp_path, files()), Reports()
    invalid = SyncState(status=SyncStatus.INVALID_CONFIG, at=NOW, short_reason="The application's file is gone")
    place = GitPath(repository=Repository(id="r-1"), path="web")
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, registered = a_watcher(tmp_path, repositories, reports, [])
        await repositories.by_id["r-1"].refresh()
        await watcher.look_everywhere()
        before = dict(reports.states)
        # A report of the agent before it arrives late, too: the next list of applications has it.
        for labels in ({"a": "b"}, {"a": "c"}):
            registered.replace([an_application("a-web", name="web", git_path=place, sync_state=invalid, labels=labels)])
            await watcher.look_everywhere()

    assert (before, reports.states) == ({}, {"a-web": [to_wire_sync_state(SYNC_UNKNOWN).status]})


async def test_a_deployment_that_is_refused_keeps_no_other_and_is_tried_again(tmp_path: Path) -> None:
    origin, reports, looked = an_origin(tmp_path, files()), Reports(), list[int]()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, looked)
        await repositories.by_id["r-1"].refresh()
        reports.refuses = "a-web"
        await watcher.look_everywhere()
        first = list(reports.taken)
        reports.refuses = ""
        await watcher.look_everywhere()

    assert (first, reports.taken) == (["a-shop"], ["a-shop", "a-web"])


async def test_a_deployment_that_is_refused_hides_nothing_else_that_the_commit_says(tmp_path: Path) -> None:
    unknown = an_application_file(script("true")).replace("web", "new")
    origin, reports, looked = an_origin(tmp_path, {**files(), "new/app.pipecd.yaml": unknown}), Reports(), list[int]()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, looked)
        await repositories.by_id["r-1"].refresh()
        reports.refuses = "a-web"
        await watcher.look_everywhere()

    assert ("ReportUnregisteredApplicationConfigurations" in reports.methods, looked) == (True, [1])


@pytest.mark.parametrize("ended", [False, True], ids=["that goes on", "that has ended"])
async def test_a_command_that_an_agent_finds_again_makes_no_second_deployment(tmp_path: Path, ended: bool) -> None:
    origin, reports = an_origin(tmp_path, files()), Reports()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        # The first agent has made it, and was killed before it could answer; the next one has taken it up.
        first, second = [a_watcher(tmp_path / each, repositories, reports, [])[0] for each in ("first", "second")]
        answer = await first.sync(COMMAND, PAYLOAD)
        if ended:
            reports.ended = {id: a_deployment(id=id, status=DeploymentStatus.SUCCEEDED) for id in reports.known}
            reports.known = set()
        again = await second.sync(COMMAND, PAYLOAD)

    assert answer == again
    assert reports.methods.count("CreateDeployment") == 1


async def test_a_chain_that_the_server_does_not_know_yet_is_not_begun_again(tmp_path: Path) -> None:
    chain = "  postSync:\n    chain:\n      applications: [{name: shop}]\n"
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("true"), spec=chain)})
    reports = Reports()
    # The telling waits on disk, because the server was away a moment ago.
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, [])
        await repositories.by_id["r-1"].refresh()
        for _ in range(2):
            await watcher.look_everywhere()

    assert reports.methods.count("CreateDeploymentChain") == 1


async def test_a_deployment_whose_application_does_not_know_of_it_is_not_made_again(tmp_path: Path) -> None:
    origin, reports = an_origin(tmp_path, files()), Reports()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, [])
        web = repositories.by_id["r-1"]
        await web.refresh()
        # PipeCD's server is told of the two one after the other; the agent before was killed in between.
        trigger = a_trigger()
        commit = msgspec.structs.replace(trigger.commit, hash=web.head or "")
        made = a_deployment(application_id="a-web", trigger=msgspec.structs.replace(trigger, commit=commit))
        for _ in range(2):
            await watcher.found(made)
            await watcher.look_everywhere()

    assert reports.taken == ["a-shop"]
    newest = "ReportApplicationMostRecentDeployment"
    assert reports.methods == [newest, "CreateDeployment", newest, "ReportApplicationDeployingStatus"]


async def test_what_differed_before_a_deployment_that_was_made_meanwhile_is_not_deployed_for_it(tmp_path: Path) -> None:
    heals = an_application_file(script("true"), spec="  trigger:\n    onOutOfSync: {disabled: false}\n")
    origin, reports = an_origin(tmp_path, {"web/app.pipecd.yaml": heals}), Reports()
    drift = Drift(words="otherwise", digest="so")
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, [])
        await repositories.by_id["r-1"].refresh()
        await watcher.look_everywhere()
        # Whoever saw it had to wait for the look, and the deployment has ended since.
        await watcher.heal("a-web", drift, Before(None, ""))
        before = list(reports.taken)
        await watcher.heal("a-web", drift, Before(None, "d-0"))

    assert (before, reports.taken) == (["a-web"], ["a-web", "a-web"])


async def test_a_sync_of_a_repository_that_does_not_answer_keeps_no_look_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, reports, asked = an_origin(tmp_path, files()), Reports(), asyncio.Event()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, [])
        await repositories.by_id["r-1"].refresh()

        async def never() -> bool:
            asked.set()
            return await asyncio.Event().wait()

        monkeypatch.setattr(repositories.by_id["r-1"], "refresh", never)
        syncing = asyncio.create_task(watcher.sync(COMMAND, PAYLOAD))
        await asked.wait()
        looking = asyncio.create_task(watcher.look_everywhere())
        await asyncio.wait({syncing, looking}, timeout=PATIENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for task in (syncing, looking):
            task.cancel()
        await asyncio.gather(syncing, looking, return_exceptions=True)

    assert sorted(reports.taken) == ["a-shop", "a-web"]


class Away:
    """A remote that is away for so many questions, and what each is answered with."""

    def __init__(self, repository: WatchedRepository, times: int, error: FairwayError) -> None:
        self._refresh = repository.refresh
        self.left = times
        self._error = error

    async def refresh(self) -> bool:
        self.left -= 1
        if self.left >= 0:
            raise self._error
        return await self._refresh()


@pytest.mark.parametrize(
    ("error", "times", "answer"),
    [
        pytest.param(GitRemoteError("no answer"), 24, CommandStatus.SUCCEEDED, id="it is back in the end"),
        pytest.param(GitRemoteError("no answer"), 25, CommandStatus.FAILED, id="it does not come back"),
        pytest.param(GitAccessError("no entry"), 1, CommandStatus.FAILED, id="it does not let us in"),
    ],
)
async def test_a_sync_waits_for_a_remote_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: FairwayError, times: int, answer: CommandStatus
) -> None:
    origin, reports = an_origin(tmp_path, files()), Reports()
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        watcher, _ = a_watcher(tmp_path, repositories, reports, [])
        away = Away(repositories.by_id["r-1"], times, error)
        monkeypatch.setattr(repositories.by_id["r-1"], "refresh", away.refresh)
        answered = await watcher.sync(COMMAND, PAYLOAD)

    assert (answered.status, reports.taken) == (answer, ["a-web"] if answer is CommandStatus.SUCCEEDED else [])
