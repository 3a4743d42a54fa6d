"""On a terminal: colours, tables as wide as the window, nothing without one."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.cli.sites import Site, a_site, an_agent, an_application, stages
from tests.acceptance.server.processes import FAIRWAY
from tests.patience import PATIENCE_SECONDS

#: As long as that of a failed stage which tells what a cluster has said.
REASON = " ".join(f"word-{number}" for number in range(120))
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with a_site(tmp_path_factory.mktemp("site")) as site:
        agent = an_agent(site)
        cart = an_application(site, agent)
        for id, status in (("d-bad", DeploymentStatus.FAILED), ("d-good", DeploymentStatus.SUCCEEDED)):
            agent.deploy(cart, id, stages("K8S_SYNC"))
            agent.stage(id, "stage-0", StageStatus.RUNNING)
            agent.complete(id, status, REASON)
        yield site


def on_a_terminal(site: Site, columns: int, *arguments: str, typed: str = "", **more: str) -> str:
    """Everything that a terminal of this width gets; what is typed is typed when something is asked."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = site.environment(TERM="xterm-256color", **more)
    process = subprocess.Popen([FAIRWAY, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65536):
            said += chunk
            if typed and said.endswith(b": "):
                os.write(ours, f"{typed}\n".encode())
                typed = ""
    except OSError:
        pass  # Linux says so when the other side has closed
    finally:
        os.close(ours)
        process.wait(timeout=PATIENCE_SECONDS)
    return said.decode().replace("\r\n", "\n")


def test_statuses_have_colours(site: Site) -> None:
    said = on_a_terminal(site, 140, "deployment", "list")

    assert "\x1b[31m✗ failed" in said
    assert "\x1b[32m✓ succeeded" in said


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_a_table_is_as_wide_as_the_terminal_at_most(site: Site, columns: int) -> None:
    lines = ESCAPE.sub("", on_a_terminal(site, columns, "deployment", "list")).splitlines()

    assert len(lines) == 3
    assert max(map(len, lines)) <= columns


def test_a_long_reason_is_cut_in_the_list_and_whole_in_the_card(site: Site) -> None:
    listed = ESCAPE.sub("", on_a_terminal(site, 140, "deployment", "list", "--status", "failed")).splitlines()
    card = ESCAPE.sub("", on_a_terminal(site, 80, "deployment", "get", "d-bad"))

    assert len(listed) == 2
    assert listed[1].endswith("…")
    assert REASON in " ".join(card.split())


def test_a_pipe_gets_no_colour_and_nothing_is_cut(site: Site) -> None:
    said = site.ok("deployment", "list")

    assert "\x1b" not in said
    assert "Version 2 of cart" in said


def test_no_color_is_respected(site: Site) -> None:
    assert "\x1b[31m" not in on_a_terminal(site, 80, "deployment", "list", NO_COLOR="1")


def test_waiting_draws_the_stages(site: Site) -> None:
    said = ESCAPE.sub("", on_a_terminal(site, 80, "deployment", "wait", "d-good"))

    assert "cart  ✓ succeeded" in said
    assert "K8S_SYNC" in said


def test_a_key_is_not_shown_while_it_is_typed(site: Site) -> None:
    command = ("profile", "add", "here", "--server", site.server.http)

    said = on_a_terminal(site, 140, *command, typed=site.key, FAIRWAY_API_KEY="")

    assert "profile here is stored" in said
    assert site.key not in said
