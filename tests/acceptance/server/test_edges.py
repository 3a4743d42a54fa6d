"""The edges of a real server process: one port, its log, its file, its end, and a push that reaches an agent."""

import json
import signal
import sqlite3
import subprocess
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from grpc import aio

from fairway.rpc.agent_api import AgentStub, HintStub, hint_messages
from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from tests.acceptance.server.processes import FAIRWAY, ServerProcess, a_server
from tests.integration.server.http_api.streaming import EventStream
from tests.patience import PATIENCE_SECONDS
from tests.unit.server.webhooks import deliveries

BODY = json.dumps(deliveries.GITHUB_PUSH).encode()


def ask(url: str, body: bytes | None = None, **headers: str) -> Any:
    request = urllib.request.Request(
        url, data=body, headers={name.replace("_", "-"): headers[name] for name in headers}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return json.loads(answer.read())


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


async def an_agent_with(server: ServerProcess, remote: str) -> tuple[aio.Channel, tuple[tuple[str, str], ...]]:
    """An agent that has introduced itself with one repository, and what it shows with each call."""
    channel = aio.insecure_channel(server.address)
    key = (("authorization", f"API-KEY {server.api_key}"),)
    made = await UserStub(channel).RegisterPiped(user_messages.RegisterPipedRequest(name="one"), metadata=key)
    metadata = (("authorization", f"PIPED-TOKEN default,{made.id},{made.key}"),)
    meta = agent_messages.ReportPipedMetaRequest(version="v1")
    meta.repositories.add(id="shop", remote=remote, branch="main")
    await AgentStub(channel).ReportPipedMeta(meta, metadata=metadata)
    return channel, metadata


async def test_a_push_at_the_git_host_reaches_the_agent_through_one_port(tmp_path: Path) -> None:
    with a_server(tmp_path, "--single-port") as server:
        channel, metadata = await an_agent_with(server, "git@git.acme.dev:acme/shop.git")
        hints = HintStub(channel).Watch(hint_messages.WatchRequest(), metadata=metadata)
        first = await hints.read()
        made = ask(
            f"{server.http}/api/v1/webhooks",
            json.dumps({"provider": "github", "name": "pushes"}).encode(),
            authorization=f"Bearer {server.api_key}",
            content_type="application/json",
        )
        told = ask(made["url"], BODY, **deliveries.github(made["secret"], BODY), content_type="application/json")
        second = await hints.read()
        await channel.close()

    assert server.http.rpartition(":")[2] == server.address.rpartition(":")[2]
    assert told == {"pushes": 1, "agents": 1}
    assert isinstance(first, hint_messages.Hint)
    assert isinstance(second, hint_messages.Hint)
    assert second.subject == hint_messages.Hint.SUBJECT_REPOSITORY
    assert made["secret"] not in server.said


async def test_the_log_is_json_without_secrets_and_has_each_request_at_debug(tmp_path: Path) -> None:
    with a_server(tmp_path, "--log-level", "debug") as server:
        assert status(f"{server.http}/healthz") == 200
        channel = aio.insecure_channel(server.address)
        metadata = (("authorization", f"API-KEY {server.api_key}"),)
        await UserStub(channel).ListApplications(user_messages.ListApplicationsRequest(), metadata=metadata)
        await channel.close()

    events = [json.loads(line) for line in server.said.splitlines() if line.startswith("{")]
    seen = {(event["event"], event.get("path") or event.get("method")) for event in events}
    assert ("request", "/healthz") in seen
    assert ("call", "/grpc.service.apiservice.APIService/ListApplications") in seen
    assert server.said.count(server.api_key) == 1


def test_a_file_that_cannot_be_used_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    file = tmp_path / "control-plane.yaml"
    file.write_text(
        "apiVersion: pipecd.dev/v1beta1\nkind: ControlPlane\nspec:\n  stateKey: x\n  datastore:\n    type: MYSQL\n"
        "  filestore:\n    type: MINIO\n    config:\n      bucket: logs\n"
    )

    command = [str(FAIRWAY), "server", "--data", str(tmp_path / "data"), "--config-file", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert [line.removeprefix(f"{file}:").split(": ")[0] for line in done.stderr.splitlines()[:3]] == [
        "4:3",
        "6:11",
        "9:5",
    ]
    assert not (tmp_path / "data").exists()


def test_a_file_gives_projects_and_an_address(tmp_path: Path) -> None:
    file = tmp_path / "control-plane.yaml"
    file.write_text(
        "apiVersion: pipecd.dev/v1beta1\nkind: ControlPlane\nspec:\n  address: https://cd.acme.dev\n"
        "  projects:\n    - id: shop\n      desc: the shop\n"
    )

    with a_server(tmp_path / "data", "--config-file", file) as server:
        pass

    with closing(sqlite3.connect(tmp_path / "data" / "fairway.db")) as database:
        assert database.execute("SELECT id FROM projects ORDER BY id").fetchall() == [("default",), ("shop",)]
    assert "https://cd.acme.dev/sign-in/link/" in server.said


def test_a_stopping_server_says_that_it_is_not_ready_and_a_second_signal_ends_it(tmp_path: Path) -> None:
    with a_server(tmp_path, "--drain-seconds", "600") as server:
        before = status(f"{server.http}/readyz")
        server.process.send_signal(signal.SIGTERM)
        while (after := status(f"{server.http}/readyz")) == 200:
            pass
        alive = status(f"{server.http}/healthz")
        server.process.send_signal(signal.SIGTERM)

        assert (before, after, alive, server.process.wait(timeout=PATIENCE_SECONDS)) == (200, 503, 200, -signal.SIGTERM)


async def test_a_stopping_server_ends_its_streams_without_an_error(tmp_path: Path) -> None:
    with a_server(tmp_path) as server:
        channel, metadata = await an_agent_with(server, "git@git.acme.dev:acme/shop.git")
        hints = HintStub(channel).Watch(hint_messages.WatchRequest(), metadata=metadata)
        await hints.read()

        server.process.send_signal(signal.SIGTERM)

        assert await hints.read() is aio.EOF
        assert await hints.code() is grpc.StatusCode.OK
        assert server.process.wait(timeout=PATIENCE_SECONDS) == 0
        await channel.close()


async def test_a_stopping_server_says_goodbye_to_those_who_listen(tmp_path: Path) -> None:
    with a_server(tmp_path) as server:
        headers = {"authorization": f"Bearer {server.api_key}"}
        async with (
            httpx.AsyncClient(
                base_url=server.http, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS
            ) as client,
            client.stream("GET", "/api/v1/stream?topic=deployments") as response,
        ):
            stream = EventStream(response)
            first = await stream.next()
            server.process.send_signal(signal.SIGTERM)
            told = await stream.next()
            with pytest.raises(StopAsyncIteration):
                await stream.next()

        assert (first.name, told.name) == ("ready", "goodbye")
        assert server.process.wait(timeout=PATIENCE_SECONDS) == 0


def test_a_database_that_is_not_whole_ends_the_server_with_one_line(tmp_path: Path) -> None:
    with a_server(tmp_path / "data"):
        pass
    with sqlite3.connect(tmp_path / "data" / "fairway.db") as connection:
        connection.execute("DROP TABLE users")
    connection.close()
    addresses = ("--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")

    ended = subprocess.run(
        [FAIRWAY, "server", "--data", tmp_path / "data", *addresses],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "fairway server: the database lacks tables that Fairway made (users); restore a backup\n"


def test_to_run_needs_a_directory(tmp_path: Path) -> None:
    done = subprocess.run([FAIRWAY, "server"], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (
        2,
        "fairway server: --data is missing; expected the directory where database and logs are kept\n",
    )


async def test_behind_a_proxy_the_audit_has_the_address_of_the_caller(tmp_path: Path) -> None:
    with a_server(tmp_path / "data", "--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "10.0.0.0/8") as server:
        key, bearer = f"API-KEY {server.api_key}", f"Bearer {server.api_key}"
        said = json.dumps({"name": "by HTTP"}).encode()
        headers = {"authorization": bearer, "content-type": "application/json"}
        ask(f"{server.http}/api/v1/agents", said, **headers, x_forwarded_for="203.0.113.9, 10.0.0.2")
        async with aio.insecure_channel(server.address) as channel:
            metadata = (("authorization", key), ("x-forwarded-for", "203.0.113.10"))
            await UserStub(channel).RegisterPiped(user_messages.RegisterPipedRequest(name="by gRPC"), metadata=metadata)
        audit = ask(f"{server.http}/api/v1/audit?order=asc", authorization=bearer)

    assert [each["address"] for each in audit["items"]] == ["203.0.113.9", "203.0.113.10"]


def test_a_proxy_that_is_no_network_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    run = subprocess.run(
        [FAIRWAY, "server", "--data", tmp_path / "data", "--trusted-proxy", "10.0.0.7/8"],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (run.returncode, (tmp_path / "data").exists()) == (2, False)
    assert "did you mean 10.0.0.0/8?" in run.stderr
