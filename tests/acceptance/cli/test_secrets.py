"""`fairway encrypt`: the secret stays on the machine, and only the agent can open what is printed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairway.secrets.sealed import generate_key_pair, unseal
from tests.acceptance.cli.sites import Site, a_site, an_agent

PAIR = generate_key_pair()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with a_site(tmp_path_factory.mktemp("site")) as site:
        an_agent(site, "sealed").start(PAIR.public_key_pem)
        an_agent(site, "open")
        yield site


def opened(printed: str) -> str:
    return unseal(printed, PAIR.private_key_pem.reveal()).reveal()


def test_a_secret_from_stdin_is_sealed_byte_for_byte(site: Site) -> None:
    assert opened(site.ok("encrypt", "--agent", "sealed", stdin="pass word\n")) == "pass word\n"


def test_a_binary_file_is_sealed_as_base64(site: Site, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff\x00")

    assert opened(site.ok("encrypt", "--agent", "sealed", "--base64", "--input-file", tmp_path / "key")) == "/wA="


def test_a_binary_secret_without_base64_is_refused_without_showing_it(site: Site) -> None:
    done = site.run("encrypt", "--agent", "sealed", stdin=b"\xffhush")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fairway: the secret is not UTF-8 text; give --base64 for binary data\n"


def test_an_agent_without_a_key_pair_is_said_so(site: Site) -> None:
    done = site.run("encrypt", "--agent", "open", stdin="x")

    assert (done.returncode, done.stdout) == (2, "")
    assert "has no key pair" in done.stderr


def test_only_the_sealed_text_is_printed(site: Site) -> None:
    assert len(site.ok("encrypt", "--agent", "sealed", stdin="x").splitlines()) == 1
    document: dict[str, Any] = json.loads(site.ok("encrypt", "--agent", "sealed", "--json", stdin="x"))
    assert list(document) == ["ciphertext"]
