"""docs/cli.md: every session on the page, played in its order against a real server."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import Health, Resource
from fairway.model.stage import ManualOperation, StageStatus
from fairway.secrets.sealed import generate_key_pair
from tests.acceptance.cli.sites import PlayedAgent, Site, a_site, stages

PAGE = Path(__file__).parents[3] / "docs/cli.md"
DEPLOYMENT = "c9bf9e57-1685-4c89-bafb-ff5af830be8a"
WELL, SICK = Health.HEALTHY, Health.UNHEALTHY
DIFFERS = "1 object is not as Git says: 1 different"
DIFFERENCE = """\
--- Actual   (LiveState)
+++ Expected (Git)

# 1. Deployment shop/cart

  spec:
    #spec.replicas
-   replicas: 1
+   replicas: 2
"""
#: What differs from run to run, and what stands for it.
VARYING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"), "ID"),
    (re.compile(r"^[A-Za-z0-9+/]{40,}=*$", re.MULTILINE), "TEXT"),
    (re.compile(r"\b(\d+[dhm])?\d+[hms]( ago)?\b|\bnow(?=  )|\bnow$", re.MULTILINE), "TIME"),
    (re.compile(r" +"), " "),
)


class Step(NamedTuple):
    """A command of the page, and what it prints there."""

    command: str
    printed: str


def steps() -> list[Step]:
    blocks = re.findall(r"^```shell-session\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [Step(*part.split("\n", 1)) for part in parts]


def steady(text: str) -> str:
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


class Story:
    """What happens between the commands: an agent that starts, deploys and waits."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._agent: PlayedAgent | None = None

    def after(self, command: str, printed: str) -> None:
        happens: dict[str, Callable[[str], None]] = {
            "agent add": self._start,
            "app add": self._look,
            "app sync": self._deploy,
        }
        for words, happen in happens.items():
            if command.startswith(f"fairway {words}"):
                happen(printed)

    def _start(self, printed: str) -> None:
        ids = re.findall(r"has id (\S+);", printed)
        self._agent = PlayedAgent(self._site.server.address, ids[0], printed.splitlines()[-1])
        self._agent.start(generate_key_pair().public_key_pem)

    def _look(self, _: str) -> None:
        assert self._agent is not None
        now = datetime.now(UTC)
        told = SyncState(
            status=SyncStatus.OUT_OF_SYNC, at=now, short_reason=DIFFERS, reason=f"{DIFFERS}\n\n{DIFFERENCE}"
        )
        old: dict[str, Any] = {"created_at": now - timedelta(days=3), "updated_at": now}
        resources = (
            Resource(
                id="1", type="Deployment", name="cart", health=SICK, health_description="0 of 1 pods are ready", **old
            ),
            Resource(id="2", type="ReplicaSet", name="cart-1", parent_ids=("1",), health=WELL, **old),
            Resource(
                id="3",
                type="Pod",
                name="cart-1-7xk2p",
                parent_ids=("2",),
                health=SICK,
                health_description="the image example.com/cart:v2 cannot be pulled",
                created_at=now,
                updated_at=now,
            ),
            Resource(id="4", type="Service", name="cart", health=WELL, **old),
        )
        self._agent.look(self._application(), told, SICK, *resources)

    def _application(self) -> str:
        return str(json.loads(self._site.ok("app", "list", "--json"))["items"][0]["id"])

    def _deploy(self, _: str) -> None:
        assert self._agent is not None
        application_id = self._application()
        first, second, third = stages("CANARY", "WAIT_APPROVAL", "PRIMARY")
        waiting = msgspec.structs.replace(second, available_operation=ManualOperation.APPROVE)
        agent, id = self._agent, DEPLOYMENT
        agent.deploy(application_id, id, (first, waiting, third))
        agent.stage(id, "stage-0", StageStatus.RUNNING)
        agent.log(id, "stage-0", "applied 3 manifests")
        agent.stage(id, "stage-0", StageStatus.SUCCEEDED)
        agent.stage(id, "stage-1", StageStatus.RUNNING)
        agent.log(id, "stage-1", "waiting for somebody to say yes")


def test_every_session_prints_what_the_page_shows(tmp_path: Path) -> None:
    with a_site(tmp_path) as site:
        story = Story(site)
        for command, expected in steps():
            asked = command.replace("http://127.0.0.1:9082", site.server.http)
            printed = site.shell(asked, stdin=f"{site.key}\n", PASSWORD="hush")
            told = printed.replace(site.server.http, "http://127.0.0.1:9082").replace(str(site.home), "~")

            assert steady(told) == steady(expected), command
            story.after(command, printed)


def test_the_page_has_sessions() -> None:
    assert len(steps()) > 5


@pytest.mark.parametrize(("one", "other"), [("took 3s, 4s ago", "took 1m09s, 2m ago"), ("a  b", "a b")])
def test_what_varies_is_not_compared(one: str, other: str) -> None:
    assert steady(one) == steady(other)
