"""A server and an agent with repositories of a real Git host, one by HTTP and a token, one by SSH.

The agent asks its remotes once an hour only: whatever it deploys sooner, the host has told it of.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import How, Site, until
from tests.acceptance.server.processes import FAIRWAY
from tests.integration.agent.running import an_application_file
from tests.integration.git.repositories import git
from tests.patience import PATIENCE_SECONDS
from tests.peers.gitea import USER, Gitea, Hosted, SshKeys

SCRIPT = an_application_file('{name: SCRIPT_RUN, with: {run: "cat version"}}')


class Shop(NamedTuple):
    """The site, and its repositories."""

    site: Site
    by_http: Hosted
    by_ssh: Hosted
    #: Every git command of the agent, with those that git started in its turn.
    commands: Path

    def ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        """Ask the server."""
        headers = {"Authorization": f"Bearer {self.site.server.api_key}"}
        url = f"{self.site.server.http}/api/v1{path}"
        return httpx.request(method, url, json=body or None, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False)


@pytest.fixture(scope="module")
def shop(gitea: Gitea, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    by_http = gitea.repository({"web/app.pipecd.yaml": SCRIPT, "web/version": "1\n"})
    by_ssh = gitea.repository({"api/app.pipecd.yaml": SCRIPT, "api/version": "1\n"})
    keys = SshKeys.new()
    gitea.allow(keys)
    ssh_config = folder / "ssh-config"
    ssh_config.write_text(f"Host *\nIdentityFile {keys.write(folder / 'key')}\nIdentitiesOnly yes\n")
    access = {"username": USER, "password": encoded(gitea.token), "sshConfigFilePath": str(ssh_config)}
    remotes = {"r-1": by_http.http, "r-2": by_ssh.ssh}
    repositories = [{"repoId": name, "remote": remote, "branch": "main"} for name, remote in remotes.items()]
    how = How(
        repositories=json.dumps(repositories),
        settings=f"git: {json.dumps(access)}\n  syncInterval: 1h",
        environment={"PATH": f"{a_tracing_git(folder)}:{os.environ['PATH']}"},
    )
    with ExitStack() as stack:
        site = Site(folder, by_http.origin, stack, how)
        site.add_applications("web")
        site.add_applications("api", repository="r-2")
        yield Shop(site, by_http, by_ssh, folder / "commands")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_tracing_git(folder: Path) -> Path:
    """A folder with a git that writes down its own command and all that it starts."""
    real = shutil.which("git")
    (folder / "bin").mkdir()
    script = f'#!/bin/sh\nGIT_TRACE2_REDACT=0 GIT_TRACE2_EVENT={folder}/commands exec {real} "$@"\n'
    (folder / "bin" / "git").write_text(script)
    (folder / "bin" / "git").chmod(0o755)
    return folder / "bin"


def deployed(shop: Shop, commit: str) -> bool:
    """Whether a commit was deployed, and ended well."""
    found = [each for each in shop.site.deployments() if each.trigger.commit.hash == commit]
    return [each.status for each in found] == [DeploymentStatus.SUCCEEDED]


def test_repositories_are_cloned_by_http_with_a_token_and_by_ssh_with_a_key(shop: Shop) -> None:
    until(lambda: deployed(shop, git(shop.by_http.origin.work, "rev-parse", "main")))
    until(lambda: deployed(shop, git(shop.by_ssh.origin.work, "rev-parse", "main")))


def a_hook(hosted: Hosted, url: str, secret: str) -> int:
    """Let the host tell of pushes; the number of what it does so by."""
    config = {"url": url, "content_type": "json", "secret": secret}
    made = hosted.call("POST", "/hooks", type="gitea", active=True, events=["push"], config=config)
    return int(made["id"])


@pytest.mark.parametrize("remote", ["by_http", "by_ssh"])
def test_a_push_is_deployed_because_the_host_tells_of_it_with_the_right_secret(shop: Shop, remote: str) -> None:
    hosted: Hosted = getattr(shop, remote)
    folder = "web" if remote == "by_http" else "api"
    made = shop.ask("POST", "/webhooks", provider="gitea", name=remote).json()
    wrong = a_hook(hosted, made["url"], "not-the-secret")
    refused_before = shop.site.server.said.count("a delivery was refused")

    unheard = hosted.origin.commit({f"{folder}/version": "2\n"})
    until(lambda: shop.site.server.said.count("a delivery was refused") > refused_before)
    hosted.call("DELETE", f"/hooks/{wrong}")
    a_hook(hosted, made["url"], made["secret"])
    heard = hosted.origin.commit({f"{folder}/version": "3\n"})
    until(lambda: deployed(shop, heard))

    assert unheard not in {each.trigger.commit.hash for each in shop.site.deployments()}


def a_job(shop: Shop, folder: Path, number: int, commit: str) -> dict[str, str]:
    """The environment of a job of Gitea's."""
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": number, "head": {"sha": commit}}}))
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "FAIRWAY_SERVER": shop.site.server.http,
        "FAIRWAY_API_KEY": shop.site.server.api_key,
        "GITHUB_ACTIONS": "true",
        "GITEA_ACTIONS": "true",
        "GITHUB_SERVER_URL": shop.by_http.gitea.url,
        "GITHUB_REPOSITORY": f"{USER}/{shop.by_http.name}",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_HEAD_REF": "topic",
        "GITHUB_BASE_REF": "main",
        "GITEA_TOKEN": shop.by_http.gitea.token,
    }


def plan_preview(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = [str(FAIRWAY), "plan-preview", "--head", "topic", "--comment"]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)


def on_topic(hosted: Hosted, version: str) -> str:
    """A commit on a branch of its own."""
    git(hosted.origin.work, "checkout", "--quiet", "-B", "topic")
    commit = hosted.origin.commit({"web/version": version}, branch="topic")
    git(hosted.origin.work, "checkout", "--quiet", "main")
    return commit


def test_a_plan_preview_is_one_comment_on_its_pull_request(shop: Shop, tmp_path: Path) -> None:
    hosted = shop.by_http
    first = on_topic(hosted, "topic 1\n")
    # The host sees to a push when it has answered it.
    until(lambda: any(each["name"] == "topic" for each in hosted.call("GET", "/branches")))
    pull = hosted.call("POST", "/pulls", head="topic", base="main", title="A change")
    commented = plan_preview(a_job(shop, tmp_path, pull["number"], first))
    second = on_topic(hosted, "topic 2\n")
    updated = plan_preview(a_job(shop, tmp_path, pull["number"], second))

    assert (commented.returncode, commented.stderr) == (0, "commented\n"), commented
    assert (updated.returncode, updated.stderr) == (0, "comment brought up to date\n"), updated
    (comment,) = hosted.call("GET", f"/issues/{pull['number']}/comments")
    assert f"Merging topic ({second[:7]}) into main touches 1 application" in comment["body"]
    assert "### web" in comment["body"]
    assert hosted.gitea.token not in commented.stdout + updated.stdout + comment["body"]


def written(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All files, and what they hold; those that go while the agent and the server work are none."""
    for directory, _, names in os.walk(folder):
        for name in names:
            path = Path(directory, name)
            with suppress(FileNotFoundError):
                # Of pipes and sockets there is nothing to read.
                if path.is_file():
                    yield path, path.read_bytes()


def test_the_token_is_in_one_private_file_and_nowhere_else(shop: Shop) -> None:
    token = shop.by_http.gitea.token
    spellings = [text.encode() for text in (token, encoded(token), encoded(f"{USER}:{token}"))]
    until(lambda: deployed(shop, git(shop.by_http.origin.work, "rev-list", "--max-parents=0", "main")))

    answers = [shop.ask("GET", path) for path in ("/agents", f"/agents/{shop.site.agent_id}", "/deployments", "/audit")]
    private = shop.site.data / "mirrors" / "r-1.private" / "login"
    known = {shop.site.config, private}
    holding = [path for path, content in written(shop.site.folder) if any(each in content for each in spellings)]

    assert "git-remote-http" in shop.commands.read_text()
    assert set(holding) <= known
    assert [each.status_code for each in answers if not each.is_success] == []
    assert not any(each in answer.content for answer in answers for each in spellings)
    assert private.stat().st_mode & 0o777 == 0o600
    assert private.parent.stat().st_mode & 0o777 == 0o700
