"""What the store holds, read over HTTP."""

import json
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from fairway.model.agent import AgentKey, AgentProfile, ConnectionStatus
from fairway.model.application import Application, Repository
from fairway.model.chain import DeploymentChain
from fairway.model.command import Command, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.server.commands import LIFETIME
from fairway.server.http_api.agents import show_agent
from fairway.server.logs import StageLogKey
from fairway.server.store.agents import touch_agent
from tests.integration.server.http_api.serving import serving
from tests.integration.server.store.nouns import a_chain, a_command, an_agent, an_event, minutes
from tests.unit.model.builders import NOW, a_deployment, a_git_path, a_stage, an_application


def some_deployments() -> list[Deployment]:
    return [
        a_deployment(id="d-1", updated_at=minutes(1), status=DeploymentStatus.ROLLING_BACK, labels={"env": "a:b"}),
        a_deployment(
            id="d-2", created_at=minutes(2), updated_at=minutes(2), application_id="a-2", application_name="till"
        ),
        a_deployment(id="d-3", updated_at=minutes(3), labels={"env": "a:b", "team": "x"}),
        a_deployment(id="d-4", updated_at=minutes(4), project_id="other"),
    ]


async def test_an_application_is_shown_as_it_is_stored(tmp_path: Path) -> None:
    application = an_application(labels={"env": "prod"})
    async with serving(tmp_path) as served:
        await served.add(application)

        answer = await served.get("/api/v1/applications/a-1")

    assert answer.status_code == 200
    assert msgspec.json.decode(answer.content, type=Application) == application
    assert answer.json()["created_at"] == "2026-01-01T12:00:00Z"


async def test_a_deployment_is_shown_with_its_stages_in_our_words(tmp_path: Path) -> None:
    deployment = a_deployment(status=DeploymentStatus.ROLLING_BACK, stages=(a_stage("s-1"),))
    async with serving(tmp_path) as served:
        await served.add(deployment)

        answer = await served.get("/api/v1/deployments/d-1")

    assert msgspec.json.decode(answer.content, type=Deployment) == deployment
    assert answer.json()["status"] == "rolling_back"


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        pytest.param("", ["d-3", "d-2", "d-1"], id="no filter"),
        pytest.param("status=rolling_back", ["d-1"], id="status"),
        pytest.param("status=rolling_back&status=pending", ["d-3", "d-2", "d-1"], id="two statuses"),
        pytest.param("application_id=a-2", ["d-2"], id="application"),
        pytest.param("application_name=till", ["d-2"], id="name of the application"),
        pytest.param("label=env:a:b", ["d-3", "d-1"], id="a label with a colon in its value"),
        pytest.param("label=env:a:b&label=team:x", ["d-3"], id="two labels"),
        pytest.param("kind=kubernetes", [], id="kind"),
        pytest.param("sort=updated_at&order=asc", ["d-1", "d-2", "d-3"], id="longest unchanged first"),
        pytest.param("sort=created_at", ["d-2", "d-1", "d-3"], id="newest first"),
        pytest.param("sort=created_at&order=asc", ["d-3", "d-1", "d-2"], id="oldest first"),
        pytest.param("since=2026-01-01T12:02:00Z", ["d-3", "d-2"], id="changed since"),
        pytest.param("sort=created_at&until=2026-01-01T12:02:00Z", ["d-1", "d-3"], id="created until"),
    ],
)
async def test_deployments_of_the_project_are_filtered(tmp_path: Path, query: str, ids: list[str]) -> None:
    async with serving(tmp_path) as served:
        await served.add(*some_deployments())

        answer = (await served.get(f"/api/v1/deployments?{query}")).json()

    assert ([item["id"] for item in answer["items"]], answer["next_cursor"]) == (ids, "")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        pytest.param("", ["a-2", "a-1"], id="no filter"),
        pytest.param("name=till", ["a-2"], id="name"),
        pytest.param("agent_id=agent-2", ["a-2"], id="agent"),
        pytest.param("disabled=true", ["a-1"], id="disabled"),
        pytest.param("disabled=false", ["a-2"], id="not disabled"),
        pytest.param("label=env:prod", ["a-1"], id="label"),
    ],
)
async def test_applications_of_the_project_are_filtered(tmp_path: Path, query: str, ids: list[str]) -> None:
    async with serving(tmp_path) as served:
        await served.add(
            an_application("a-1", disabled=True, labels={"env": "prod"}),
            an_application("a-2", name="till", agent_id="agent-2", updated_at=minutes(1)),
            an_application("a-3", project_id="other"),
            an_application("a-4", deleted_at=NOW),
        )

        answer = (await served.get(f"/api/v1/applications?{query}")).json()

    assert [item["id"] for item in answer["items"]] == ids


@pytest.mark.parametrize("noun", ["applications", "deployments", "agents"])
async def test_pages_give_everything_once(tmp_path: Path, noun: str) -> None:
    async with serving(tmp_path) as served:
        for number in range(5):
            await served.add(an_application(f"n-{number}"), a_deployment(id=f"n-{number}"), an_agent(f"n-{number}"))
        met: list[list[str]] = []
        cursor = ""

        while cursor or not met:
            page = (await served.get(f"/api/v1/{noun}", params={"limit": 2, "cursor": cursor})).json()
            met.append([item["id"] for item in page["items"]])
            cursor = page["next_cursor"]

    assert met == [["n-0", "n-1"], ["n-2", "n-3"], ["n-4"]]


async def test_applications_are_paged_by_name_too(tmp_path: Path) -> None:
    names = {"n-1": "till", "n-2": "cart", "n-3": "cart", "n-4": "bank"}
    async with serving(tmp_path) as served:
        await served.add(*(an_application(id, name=name) for id, name in names.items()))

        first = (await served.get("/api/v1/applications?sort=name&limit=2")).json()
        query = {"sort": "name", "limit": 2, "cursor": first["next_cursor"]}
        second = (await served.get("/api/v1/applications", params=query)).json()
        other = await served.refusal(f"/api/v1/applications?cursor={first['next_cursor']}")

    assert [item["id"] for item in first["items"] + second["items"]] == ["n-4", "n-2", "n-3", "n-1"]
    assert (second["next_cursor"], other[:2]) == ("", (400, "invalid_argument"))


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("path", ["commands", "events", "chains", "applications", "applications?sort=name"])
async def test_lists_are_read_from_either_end(tmp_path: Path, path: str, order: str) -> None:
    met: list[str] = []
    async with serving(tmp_path) as served:
        for number in range(3):
            id, at = f"n-{number}", {"created_at": minutes(number), "updated_at": minutes(number)}
            await served.add(a_command(id, **at), an_event(id, **at), a_chain(id, **at))
            await served.add(an_application(id, name=str(number), **at))
        query = {**dict(parse_qsl(urlsplit(path).query)), "order": order, "limit": "1", "cursor": ""}

        while query["cursor"] or not met:
            page = (await served.get(f"/api/v1/{urlsplit(path).path}", params=query)).json()
            met += [item["id"] for item in page["items"]]
            query["cursor"] = page["next_cursor"]

    assert met == sorted(["n-0", "n-1", "n-2"], reverse=order == "desc")


async def test_an_agent_is_shown_without_its_keys(tmp_path: Path) -> None:
    key = AgentKey(hash="hunter2-hash", creator="ada", created_at=NOW)
    profile = AgentProfile(version="v1", config="password: hunter2")
    agent = an_agent(keys=(key,), profile=profile)
    async with serving(tmp_path) as served:
        await served.add(agent, an_agent("agent-2", project_id="other"))
        await served.store.write(lambda connection: touch_agent(connection, "agent-1", NOW))

        one, all = await served.get("/api/v1/agents/agent-1"), await served.get("/api/v1/agents")

    shown = json.loads(msgspec.json.encode(show_agent(agent, NOW, NOW)))
    assert (one.json(), all.json()) == (shown, {"items": [shown], "next_cursor": ""})
    assert shown["status"] == ConnectionStatus.ONLINE.value
    assert "hunter2" not in one.text + all.text


async def test_a_remote_with_a_password_is_shown_without_it(tmp_path: Path) -> None:
    repository = Repository(id="shop", remote="https://bot:hunter2@git.example.com/shop.git")
    path = a_git_path(repository=repository)
    nouns = (
        an_application(git_path=path),
        a_deployment(git_path=path),
        an_agent(profile=AgentProfile(repositories=(repository,))),
    )
    async with serving(tmp_path) as served:
        await served.add(*nouns)

        paths = ["applications", "applications/a-1", "deployments", "deployments/d-1", "agents", "agents/agent-1"]
        texts = [(await served.get(f"/api/v1/{path}")).text for path in paths]

    assert ["https://***@git.example.com/shop.git" in text for text in texts] == [True] * len(paths)
    assert "hunter2" not in "".join(texts)


async def test_a_command_that_nobody_answered_is_shown_as_timed_out(tmp_path: Path) -> None:
    command = a_command()
    async with serving(tmp_path) as served:
        await served.add(command)

        fresh = await served.get("/api/v1/commands/c-1")
        served.clock.advance(LIFETIME + timedelta(seconds=1))
        old = await served.get("/api/v1/commands/c-1")

    assert msgspec.json.decode(fresh.content, type=Command) == command
    assert old.json()["status"] == CommandStatus.TIMED_OUT.value


async def test_a_log_is_read_in_pages(tmp_path: Path) -> None:
    blocks = [LogBlock(index=number, log=f"line {number}\n", created_at=NOW) for number in range(3)]
    async with serving(tmp_path) as served:
        await served.add(a_deployment(stages=(a_stage("s-1", retried_count=2),)))
        await served.logs.append(StageLogKey("d-1", "s-1", 2), blocks, completed=True)

        path = "/api/v1/deployments/d-1/stages/s-1/log"
        first = (await served.get(f"{path}?limit=2")).json()
        second = (await served.get(f"{path}?limit=2&from_index={first['next_index']}")).json()

    shown = json.loads(msgspec.json.encode(blocks))
    assert first == {"blocks": shown[:2], "completed": True, "next_index": 2}
    assert second == {"blocks": shown[2:], "completed": True, "next_index": None}


async def test_a_whole_log_is_downloaded_as_text(tmp_path: Path) -> None:
    texts = ["line 0\n", "line 1", "ü"]
    blocks = [LogBlock(index=number, log=text, created_at=NOW) for number, text in enumerate(texts)]
    async with serving(tmp_path) as served:
        await served.add(a_deployment(stages=(a_stage("s-1"),)))
        await served.logs.append(StageLogKey("d-1", "s-1", 0), blocks[:1])
        await served.logs.append(StageLogKey("d-1", "s-1", 0), blocks[1:], completed=True)

        answer = await served.get("/api/v1/deployments/d-1/stages/s-1/log.txt")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert answer.text == "line 0\nline 1\nü\n"


async def test_a_command_says_whom_it_waits_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.add(an_agent(), a_command())
        await served.store.write(lambda connection: touch_agent(connection, "agent-1", minutes(-3)))

        listed = (await served.get("/api/v1/commands")).json()["items"]

    assert [command["waiting_for"] for command in listed] == [
        "agent near, last seen 3 minutes ago, to take the command"
    ]


async def test_chains_are_shown_as_they_are_stored(tmp_path: Path) -> None:
    chain = a_chain()
    async with serving(tmp_path) as served:
        await served.add(chain, a_chain("chain-2", project_id="other"))

        one, all = await served.get("/api/v1/chains/chain-1"), await served.get("/api/v1/chains")

    assert msgspec.json.decode(one.content, type=DeploymentChain) == chain
    assert all.json() == {"items": [one.json()], "next_cursor": ""}
