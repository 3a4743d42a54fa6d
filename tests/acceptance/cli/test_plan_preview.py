"""`fairway plan-preview` at a real server with a real agent, as a job of a CI runs it."""

import os
import subprocess
from pathlib import Path

import msgspec

from tests.acceptance.agent.sites import Site, a_site, until
from tests.acceptance.server.processes import FAIRWAY
from tests.integration.cli.test_comments import GitHost, a_host
from tests.integration.git.repositories import git

FILE = """
apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  pipeline:
    stages:
      - name: SCRIPT_RUN
        with: {run: "true"}
      - name: WAIT
        with: {duration: 1s}
"""


def a_branch(site: Site) -> str:
    """A change of one application that works and of one that would not, on a branch of its own."""
    git(site.origin.work, "checkout", "--quiet", "-B", "topic")
    commit = site.origin.commit({"web/x": "1", "api/app.pipecd.yaml": "kind: Nothing\n"}, branch="topic")
    git(site.origin.work, "checkout", "--quiet", "main")
    return commit


def a_job(site: Site, host: GitHost, folder: Path, commit: str) -> dict[str, str]:
    """The environment of a job of GitHub's."""
    event = folder / "event.json"
    event.write_bytes(msgspec.json.encode({"pull_request": {"number": 7, "head": {"sha": commit}}}))
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "FAIRWAY_SERVER": site.server.http,
        "FAIRWAY_API_KEY": site.server.api_key,
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": host.address,
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_HEAD_REF": "topic",
        "GITHUB_BASE_REF": "main",
        "GITHUB_TOKEN": "hunter2",
    }


def plan_preview(environment: dict[str, str], *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [FAIRWAY, "plan-preview", *arguments]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)


def test_a_job_prints_what_its_branch_would_deploy_and_comments_once(tmp_path: Path) -> None:
    files = {"web/app.pipecd.yaml": FILE, "api/app.pipecd.yaml": FILE.replace("web", "api")}
    with a_site(tmp_path, files) as site, a_host() as host:
        site.add_applications("web", "api")
        # The agent knows of both once it deploys them.
        until(lambda: len(site.deployments()) == 2)
        environment = a_job(site, host, tmp_path, a_branch(site))
        remote = ("--repo", site.origin.bare)

        text = plan_preview(environment, *remote, "--comment")
        json = plan_preview(environment, *remote, "--comment", "--json")
        nobody = plan_preview(environment, *remote, "--base", "release")

    assert (text.returncode, text.stderr) == (1, "commented\n")
    assert "into main touches 2 applications" in text.stdout
    assert "  Stages: SCRIPT_RUN → WAIT" in text.stdout
    assert "failed: api: After the merge its configuration is invalid" in text.stdout
    assert (json.returncode, json.stderr) == (1, "comment brought up to date\n")
    items = msgspec.json.decode(json.stdout)["items"]
    assert {each["application_name"]: bool(each["error"]) for each in items[0]["applications"]} == {
        "web": False,
        "api": True,
    }
    (comment,) = host.comments.values()
    assert "### web" in comment
    assert "hunter2" not in comment + text.stdout + json.stdout
    assert (nobody.returncode, "no agent follows branch release" in nobody.stderr) == (2, True)
