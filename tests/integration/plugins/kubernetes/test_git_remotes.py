"""Which login and which ssh key the git of a tool gets, and for which remotes alone."""

import os
import subprocess
from pathlib import Path

import pytest

from fairway.config.agent_file import ChartRepository
from fairway.git.remote import parse_remote
from fairway.plugins.kubernetes.manifests.git_remotes import KnownRemote, find_remote, logins_of_git


def known(remote: str, username: str = "", password: str = "", key_file: str = "") -> tuple[KnownRemote, ...]:
    written = ChartRepository(
        type="GIT", git_remote=remote, username=username, password=password, ssh_key_file=key_file
    )
    return (KnownRemote.of(written),)


def git(environment: dict[str, str], *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    fixed = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", *arguments]
    return subprocess.run(
        command, env={**fixed, **environment}, input=stdin, capture_output=True, text=True, check=False, cwd="/"
    )


@pytest.mark.parametrize(
    ("named", "written", "is_it"),
    [
        pytest.param("https://a:b@h/o/r.git", "https://h/o/r.git", True, id="without the login"),
        pytest.param("https://h/o/r", "https://h:443/o/r.git/", True, id="as people vary it"),
        pytest.param("git@h:o/r.git", "ssh://git@h/o/r", True, id="the short form"),
        pytest.param("https://h/o/r.git", "https://h/o/r2.git", False, id="another repository"),
        pytest.param("https://h/o/r.git", "http://h/o/r.git", False, id="not encrypted"),
        pytest.param("https://h/o/r.git", "https://h2/o/r.git", False, id="another host"),
        pytest.param("https://h/o/r.git", "https://h:8443/o/r.git", False, id="another port"),
        pytest.param("file:///srv/r", "/srv/r", True, id="a directory"),
    ],
)
def test_a_remote_is_found_by_where_it_is(named: str, written: str, is_it: bool) -> None:
    remotes = known(named)

    assert find_remote(remotes, parse_remote(written)[0]) == (remotes[0] if is_it else None)


@pytest.mark.parametrize(
    ("path", "login"),
    [
        pytest.param("o/r.git", ["username=bot", "password=p=1"], id="the repository"),
        pytest.param("o/other.git", [], id="another of the same host"),
        pytest.param("o/r.git-2", [], id="one whose name begins the same way"),
    ],
)
def test_a_login_is_for_its_repository_alone(tmp_path: Path, path: str, login: list[str]) -> None:
    environment = logins_of_git(
        known("http://h:3000/o/r.git", username="bot", password="p=1"), tmp_path / "known", tmp_path
    )

    asked = git(environment, "credential", "fill", stdin=f"protocol=http\nhost=h:3000\npath={path}\n\n")

    said = [line for line in asked.stdout.splitlines() if line.startswith(("username", "password"))]
    assert said == login
    assert "p=1" not in " ".join(environment.values())
    assert (tmp_path / "login-0").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("named", "written", "becomes"),
    [
        pytest.param(
            "ssh://git@h:22/o/r.git", "ssh://git@h:22/o/r.git", "ssh://git@fairway-remote-0/o/r.git", id="url"
        ),
        pytest.param("git@h:o/r.git", "git@h:o/r.git", "git@fairway-remote-0:o/r.git", id="short"),
        pytest.param("git@h:o/r", "git@h:o/r.git", "git@fairway-remote-0:o/r.git", id="with .git"),
        pytest.param("git@h:o/r.git", "git@h:o/other.git", "git@h:o/other.git", id="another"),
    ],
)
def test_a_key_is_for_its_repository_alone(tmp_path: Path, named: str, written: str, becomes: str) -> None:
    environment = logins_of_git(known(named, key_file="/keys/one"), tmp_path / "known", tmp_path)

    assert git(environment, "ls-remote", "--get-url", written).stdout.strip() == becomes
    port = "Port 22\n" if ":22" in named else ""
    assert (tmp_path / "ssh").read_text() == (
        f'Host fairway-remote-0\nHostName h\n{port}IdentityFile "/keys/one"\nIdentitiesOnly yes\n'
        "Host *\nBatchMode yes\nStrictHostKeyChecking accept-new\nConnectTimeout 20\n"
        f'UserKnownHostsFile "{tmp_path}/known" ~/.ssh/known_hosts\n'
    )
    assert environment["GIT_SSH_COMMAND"] == f"ssh -F {tmp_path}/ssh"
