"""Calls to a cluster that is busy, broken or not what it says: repeated where that is safe, refused in words."""

import asyncio
import errno
import os
import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fairway.clock import FakeClock
from fairway.errors import FairwayError
from fairway.kube.cluster import Scope
from fairway.kube.errors import BadAccess, ClusterAway, CredentialsRefused, Expired, NotAllowed
from fairway.kube.exec_credentials import ExecCredentials
from fairway.kube.kubeconfig import ExecEntry, ExecVariable
from tests.integration.kube.double import (
    CONFIG_MAPS,
    Answer,
    ApiDouble,
    a_cluster,
    a_list,
    an_object,
    for_ever,
    hangs_up,
    refuses,
    says,
    serving,
    tells,
)

ONE = an_object("one", "7")
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
KINDS = says({"resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["get"]}]})


@pytest.mark.parametrize(
    ("first", "waits"),
    [
        pytest.param(refuses(429, headers={"Retry-After": "2"}), [2.0], id="busy"),
        pytest.param(refuses(429, headers={"Retry-After": "soon"}), [1.0], id="busy, in words"),
        pytest.param(refuses(500), [1.0], id="fault"),
        pytest.param(says(b"<html>", 503), [1.0], id="a proxy"),
    ],
)
async def test_a_question_is_asked_again(first: Answer, waits: list[float]) -> None:
    waited: list[float] = []
    async with serving(first, says(ONE)) as double, a_cluster(double, waited) as cluster:
        assert (await cluster.get(CONFIG_MAPS, "", "one"), waited) == (ONE, waits)


async def test_a_question_is_asked_again_when_the_connection_breaks() -> None:
    async with serving(hangs_up, hangs_up, hangs_up, says(ONE)) as double, a_cluster(double) as cluster:
        assert await cluster.get(CONFIG_MAPS, "", "one") == ONE


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(refuses(429), ClusterAway, id="busy"),
        pytest.param(hangs_up, ClusterAway, id="broken"),
        pytest.param(says(b"not json"), ClusterAway, id="garbage"),
        pytest.param(says([1, 2]), ClusterAway, id="something else"),
        pytest.param(says(b"", 302, {"Location": "https://elsewhere.example"}), ClusterAway, id="sent elsewhere"),
        pytest.param(refuses(401), CredentialsRefused, id="unknown here"),
    ],
)
async def test_patience_ends(answer: Answer, error: type[FairwayError]) -> None:
    async with serving(answer) as double, a_cluster(double) as cluster:
        with pytest.raises(error):
            await cluster.get(CONFIG_MAPS, "", "one")

        assert len(double.asked) <= 8


@pytest.mark.parametrize(
    ("first", "code"),
    [pytest.param([], 403, id="nothing is allowed"), pytest.param([refuses(401)], 401, id="nobody is known")],
)
async def test_a_server_that_has_just_started_is_not_believed(first: list[Answer], code: int) -> None:
    waited: list[float] = []
    starting = [refuses(code), says(b"informer-sync failed", 500)] * 2
    started = [refuses(code), says(b"ok"), says(ONE)]
    async with serving(*first, *starting, *started) as double, a_cluster(double, waited) as cluster:
        assert (await cluster.get(CONFIG_MAPS, "", "one"), waited) == (ONE, [1.0, 2.0])


async def test_a_server_that_stays_unready_is_away() -> None:
    async with serving(*[refuses(403), says(b"not ready", 500)] * 4) as double, a_cluster(double) as cluster:
        with pytest.raises(ClusterAway, match="is starting"):
            await cluster.get(CONFIG_MAPS, "", "one")


async def test_a_server_that_is_ready_is_believed_that_something_is_not_allowed() -> None:
    async with serving(refuses(403), says(b"ok"), refuses(403)) as double, a_cluster(double) as cluster:
        with pytest.raises(NotAllowed):
            await cluster.get(CONFIG_MAPS, "", "one")

        assert [each.path for each in double.asked][1] == "/readyz"
        assert len(double.asked) == 3


async def test_a_server_that_does_not_know_yet_who_may_ask_whether_it_is_ready_is_not_believed() -> None:
    async with serving(*[refuses(403)] * 6, says(ONE)) as double, a_cluster(double) as cluster:
        assert await cluster.get(CONFIG_MAPS, "", "one") == ONE


async def test_a_server_that_never_says_whether_it_is_ready_is_believed_in_the_end() -> None:
    waited: list[float] = []
    async with serving(refuses(403)) as double, a_cluster(double, waited) as cluster:
        with pytest.raises(NotAllowed):
            await cluster.get(CONFIG_MAPS, "", "one")

        assert (len(waited), [each.path for each in double.asked].count("/readyz")) == (5, 6)


async def test_what_is_made_is_not_made_twice_when_the_connection_breaks() -> None:
    async with serving(KINDS, hangs_up) as double, a_cluster(double) as cluster:
        with pytest.raises(ClusterAway):
            await cluster.create(MANIFEST)

        assert [each.method for each in double.asked] == ["GET", "POST"]


async def test_what_is_made_is_made_later_by_a_server_that_is_busy() -> None:
    async with serving(KINDS, refuses(429), says(ONE, 201)) as double, a_cluster(double) as cluster:
        assert await cluster.create(MANIFEST) == ONE


async def test_what_is_applied_is_applied_again() -> None:
    async with serving(KINDS, hangs_up, refuses(503), says(ONE)) as double, a_cluster(double) as cluster:
        assert await cluster.apply(MANIFEST) == ONE


async def test_nobody_there_is_told_with_the_address() -> None:
    async with serving(hangs_up) as double:
        pass
    async with a_cluster(double) as cluster:
        with pytest.raises(ClusterAway) as told:
            await cluster.get(CONFIG_MAPS, "", "one")

    assert str(told.value) == f"The cluster dev ({double.url}) does not answer: the connection was refused"


async def test_a_connection_that_breaks_is_told_in_plain_words() -> None:
    async with serving(hangs_up) as double, a_cluster(double) as cluster:
        with pytest.raises(ClusterAway) as told:
            await cluster.get(CONFIG_MAPS, "", "one")

    assert str(told.value) == f"The cluster dev ({double.url}) does not answer: the connection was cut"


async def test_a_name_that_nobody_has_is_told_in_plain_words() -> None:
    double = ApiDouble()
    double.url = "https://nobody.invalid"
    async with a_cluster(double) as cluster:
        with pytest.raises(ClusterAway) as told:
            await cluster.get(CONFIG_MAPS, "", "one")

    said = "The cluster dev (https://nobody.invalid) does not answer: its host name cannot be resolved"
    assert str(told.value) == said


async def test_an_old_token_is_read_again_when_it_is_not_taken(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")

    async with (
        serving(says(ONE), refuses(401), says(ONE)) as double,
        a_cluster(double, token_file=str(token)) as cluster,
    ):
        await cluster.get(CONFIG_MAPS, "", "one")
        token.write_text("new\n")
        await cluster.get(CONFIG_MAPS, "", "one")

        assert [each.authorization for each in double.asked] == ["Bearer old", "Bearer old", "Bearer new"]


async def test_a_token_is_read_again_each_minute(tmp_path: Path) -> None:
    token, clock = tmp_path / "token", FakeClock()
    token.write_text("old")
    async with serving(says(ONE)) as double, a_cluster(double, clock=clock, token_file=str(token)) as cluster:
        await cluster.get(CONFIG_MAPS, "", "one")
        token.write_text("new")
        await cluster.get(CONFIG_MAPS, "", "one")
        clock.advance(timedelta(minutes=1))
        await cluster.get(CONFIG_MAPS, "", "one")

        assert [each.authorization for each in double.asked] == ["Bearer old", "Bearer old", "Bearer new"]


async def test_a_missing_token_file_is_told() -> None:
    async with serving(says(ONE)) as double, a_cluster(double, token_file="/nowhere/token") as cluster:
        with pytest.raises(CredentialsRefused, match="token file"):
            await cluster.get(CONFIG_MAPS, "", "one")


async def test_nobody_is_asked_without_a_token_while_its_file_is_being_written(tmp_path: Path) -> None:
    """The cluster would take us for anybody, and refuse for good what it lets us do."""
    token = tmp_path / "token"
    token.write_text("")
    async with serving(says(ONE)) as double, a_cluster(double, token_file=str(token)) as cluster:
        with pytest.raises(CredentialsRefused, match="the token file is empty"):
            await cluster.get(CONFIG_MAPS, "", "one")
        token.write_text("new")
        await cluster.get(CONFIG_MAPS, "", "one")

        assert [each.authorization for each in double.asked] == ["Bearer new"]


def a_plugin(folder: Path, script: str, **more: Any) -> ExecEntry:
    """A credential plugin that counts how often it was run."""
    file = folder / "plugin.py"
    file.write_text(f"import json, os, pathlib, sys\nran = pathlib.Path({str(folder)!r}, 'ran')\n{script}")
    return ExecEntry(command=sys.executable, args=(str(file),), **more)


COUNTING = """
ran.open("a").write(".")
count = len(ran.read_text())
status = {"token": f"token-{count}", "expirationTimestamp": "2026-01-01T01:00:00Z"}
print(json.dumps({"kind": "ExecCredential", "status": status}))
"""


async def test_a_credential_plugin_is_run_once_until_its_credentials_are_over(tmp_path: Path) -> None:
    clock = FakeClock()
    async with (
        serving(says(ONE)) as double,
        a_cluster(double, clock=clock, exec=a_plugin(tmp_path, COUNTING)) as cluster,
    ):
        for _ in range(2):
            await cluster.get(CONFIG_MAPS, "", "one")
        clock.advance(timedelta(hours=1))
        await cluster.get(CONFIG_MAPS, "", "one")

        assert [each.authorization for each in double.asked] == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


async def test_a_credential_plugin_is_run_once_more_when_its_credentials_are_not_taken(tmp_path: Path) -> None:
    async with (
        serving(refuses(401)) as double,
        a_cluster(double, clock=FakeClock(), exec=a_plugin(tmp_path, COUNTING)) as cluster,
    ):
        with pytest.raises(CredentialsRefused, match="renew them"):
            await cluster.get(CONFIG_MAPS, "", "one")

        shown = [each.authorization for each in double.asked if each.path != "/readyz"]
        assert shown == ["Bearer token-1", "Bearer token-2", "Bearer token-2"]


async def test_a_credential_plugin_is_told_what_it_may_know(tmp_path: Path) -> None:
    script = """
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
token = f"{info['spec']['interactive']}-{info['spec']['cluster']['server']}-{os.environ['PROFILE']}"
print(json.dumps({"status": {"token": token}}))
"""
    plugin = a_plugin(tmp_path, script, provide_cluster_info=True, env=(ExecVariable("PROFILE", "ci"),))
    async with serving(says(ONE)) as double, a_cluster(double, exec=plugin) as cluster:
        await cluster.get(CONFIG_MAPS, "", "one")

        assert double.asked[0].authorization == f"Bearer False-{double.url}-ci"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param("sys.exit('please sign in')", "exit status 1: please sign in", id="fails"),
        pytest.param("print('hello')", "no ExecCredential", id="nonsense"),
        pytest.param("print('{}')", "neither a token nor a certificate", id="nothing"),
    ],
)
async def test_a_credential_plugin_that_gives_nothing_is_told_with_its_words(
    tmp_path: Path, script: str, words: str
) -> None:
    async with serving(says(ONE)) as double, a_cluster(double, exec=a_plugin(tmp_path, script)) as cluster:
        with pytest.raises(CredentialsRefused, match=words):
            await cluster.get(CONFIG_MAPS, "", "one")


async def test_a_credential_plugin_that_is_not_there_says_how_to_get_it() -> None:
    plugin = ExecEntry(command="/nowhere/cloud-login", install_hint="see the cloud's manual")
    async with serving(says(ONE)) as double, a_cluster(double, exec=plugin) as cluster:
        with pytest.raises(BadAccess, match=r"cloud-login cannot be run: .*; see the cloud's manual"):
            await cluster.get(CONFIG_MAPS, "", "one")


async def test_a_credential_plugin_that_ends_as_its_time_is_over_has_given_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill = os.killpg

    def too_late(group: int, number: int) -> None:
        kill(group, number)
        raise ProcessLookupError("it has ended, and nobody has told us yet")

    # The kernel's edge: when exactly a process ends cannot be arranged.
    monkeypatch.setattr(os, "killpg", too_late)
    reach = ApiDouble(for_ever).reach(exec=ExecEntry(command="sleep", args=("600",)))

    with pytest.raises(CredentialsRefused, match="sleep gave nothing in 0 seconds"):
        await ExecCredentials(reach, FakeClock(), limit_seconds=0.0).get()


async def test_a_machine_that_can_run_nothing_for_now_is_passing_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any, **__: Any) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    # The kernel's edge: how many processes there may be cannot be set for a test alone.
    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    async with serving(says(ONE)) as double, a_cluster(double, exec=ExecEntry(command="login")) as cluster:
        with pytest.raises(CredentialsRefused, match="login cannot be run: Resource temporarily unavailable"):
            await cluster.get(CONFIG_MAPS, "", "one")


async def test_a_list_is_read_page_by_page() -> None:
    pages = [says(a_list("5", an_object("a", "1"), following="next")), says(a_list("5", an_object("b", "2")))]
    async with serving(*pages) as double, a_cluster(double) as cluster:
        found = await cluster.list(CONFIG_MAPS, "", {"app": "web", "tier": "x"})

        assert [each["metadata"]["name"] for each in found] == ["a", "b"]
        assert [each.query for each in double.asked] == [
            {"labelSelector": "app=web,tier=x", "limit": "500"},
            {"labelSelector": "app=web,tier=x", "limit": "500", "continue": "next"},
        ]


async def test_a_list_whose_pages_went_out_of_date_is_begun_again() -> None:
    pages = [says(a_list("5", following="x")), refuses(410), says(a_list("9", an_object("b", "2")))]
    async with serving(*pages) as double, a_cluster(double) as cluster:
        assert [each["metadata"]["name"] for each in await cluster.list(CONFIG_MAPS)] == ["b"]


async def test_a_watch_tells_changes_and_ends() -> None:
    changes = [{"type": "ADDED", "object": ONE}, {"type": "BOOKMARK", "object": an_object("", "9")}]
    async with serving(tells(*changes)) as double, a_cluster(double) as cluster:
        told = [each.type async for each in cluster.watch(CONFIG_MAPS, "ns", since="5", name="one")]

        assert told == ["ADDED", "BOOKMARK"]
        assert double.asked[0].query["fieldSelector"] == "metadata.name=one"


async def test_any_number_of_watches_leaves_room_for_other_calls() -> None:
    async with serving(tells(then=for_ever)) as double, a_cluster(double) as cluster, AsyncExitStack() as stack:
        for _ in range(100):
            await stack.enter_async_context(cluster.following(CONFIG_MAPS, Scope(), "", dict))
        double.answers = [says(ONE)]

        assert await cluster.get(CONFIG_MAPS, "", "one") == ONE


@pytest.mark.parametrize(
    ("line", "error"),
    [
        pytest.param({"type": "ERROR", "object": {"kind": "Status", "code": 410}}, Expired, id="too old"),
        pytest.param({"type": "ERROR", "object": {"kind": "Status", "code": 500}}, ClusterAway, id="fault"),
        pytest.param(b"garbage", ClusterAway, id="garbage"),
    ],
)
async def test_a_watch_that_goes_wrong_says_how(line: Any, error: type[FairwayError]) -> None:
    async with serving(tells(line)) as double, a_cluster(double) as cluster:
        with pytest.raises(error):
            _ = [each async for each in cluster.watch(CONFIG_MAPS)]


async def test_a_watch_that_is_cut_says_so_in_plain_words() -> None:
    async with serving(tells({"type": "ADDED", "object": ONE}, then=hangs_up)) as double, a_cluster(double) as cluster:
        with pytest.raises(ClusterAway) as told:
            _ = [each async for each in cluster.watch(CONFIG_MAPS)]

    assert str(told.value) == "The cluster dev broke off while it told of changes: the connection was cut"
