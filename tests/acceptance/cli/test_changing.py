"""Changing things with the `fairway` command, from nothing to a finished deployment."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.command import CommandStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import ManualOperation, StageStatus
from fairway.rpc.agent_api import messages
from fairway.rpc.convert.command import COMMAND_STATUSES
from tests.acceptance.cli.sites import PlayedAgent, Site, a_site, stages


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with a_site(tmp_path_factory.mktemp("site")) as site:
        yield site


def an_agent(site: Site, name: str) -> PlayedAgent:
    made = json.loads(site.ok("agent", "add", name, "--json"))
    agent = PlayedAgent(site.server.address, made["agent"]["id"], made["key"])
    agent.start()
    return agent


def an_application(site: Site, agent: str, name: str) -> str:
    where = ("--agent", agent, "--repository", "shop", "--path", f"apps/{name}")
    kind = ("--kind", "kubernetes", "--platform-provider", "cluster")
    return str(json.loads(site.ok("app", "add", name, *where, *kind, "--label", "team:shop", "--json"))["id"])


def next_command(agent: PlayedAgent) -> Any:
    """The oldest command that waits for the agent."""
    while True:
        found = agent.call("ListUnhandledCommands", messages.ListUnhandledCommandsRequest()).commands
        if found:
            return found[0]


def answer(agent: PlayedAgent, command: Any, **metadata: str) -> None:
    request = messages.ReportCommandHandledRequest(command_id=command.id, metadata=metadata, handled_at=1)
    request.status = COMMAND_STATUSES.to_wire(CommandStatus.SUCCEEDED)
    agent.call("ReportCommandHandled", request)


def test_the_key_of_an_agent_is_alone_on_stdout_and_is_rotated(site: Site) -> None:
    added = site.run("agent", "add", "rotated")
    agent_id = json.loads(site.ok("agent", "get", "rotated", "--json"))["id"]
    second = site.ok("agent", "rotate-key", "rotated").strip()

    PlayedAgent(site.server.address, agent_id, added.stdout.strip()).start()
    PlayedAgent(site.server.address, agent_id, second).start()
    assert site.run("agent", "rotate-key", "rotated").returncode == 1
    assert site.ok("agent", "drop-old-key", "rotated").startswith("the older key of agent")
    PlayedAgent(site.server.address, agent_id, second).start()


def test_an_application_is_sent_elsewhere(site: Site) -> None:
    an_agent(site, "moving")
    an_application(site, "moving", "moved")

    assert "deploys to  another" in site.ok("app", "change", "moved", "--platform-provider", "another")
    site.ok("app", "change", "moved", "--target", "kubernetes:east", "--target", "kubernetes:west")

    moved = json.loads(site.ok("app", "get", "moved", "--json"))
    assert moved["deploy_targets_by_plugin"] == {"kubernetes": ["east", "west"]}
    left = site.ok("app", "change", "moved", "--target", "kubernetes:west")
    assert "What runs at kubernetes:east stays there until a deployment with `prune` removes it" in " ".join(
        left.split()
    )
    unknown = site.run("app", "change", "moved", "--platform-provider", "nowhere")
    assert (unknown.returncode, "'nowhere', it has cluster, another" in unknown.stderr) == (1, True)
    refused = site.run("app", "change", "moved")
    assert (refused.returncode, "give --target or --platform-provider" in refused.stderr) == (2, True)


def test_a_sync_is_followed_from_the_command_to_the_end_of_its_deployment(site: Site) -> None:
    agent = an_agent(site, "syncing")
    application_id = an_application(site, "syncing", "synced")

    with site.running("app", "sync", "synced", "--wait", "--strategy", "pipeline") as waiting:
        assert waiting.line() == f"asked agent {agent.id}; waiting for it to start a deployment"
        command = next_command(agent)
        agent.deploy(application_id, "d-sync", stages("CANARY"))
        answer(agent, command, TriggeredDeploymentID="d-sync")
        assert waiting.line()[9:] == "deployment running"
        agent.complete("d-sync", DeploymentStatus.SUCCEEDED, "Done")
        code, said, complained = waiting.end()

    assert (code, said[9:], complained) == (0, "deployment succeeded: Done\n", "")
    assert command.sync_application.application_id == application_id


def test_a_stage_that_waits_is_approved(site: Site) -> None:
    agent = an_agent(site, "approving")
    (waiting,) = stages("WAIT_APPROVAL")
    waiting = msgspec.structs.replace(waiting, available_operation=ManualOperation.APPROVE)
    agent.deploy(an_application(site, "approving", "approved"), "d-approve", (waiting,))

    refused = site.run("deployment", "approve", "d-approve")
    agent.stage("d-approve", "stage-0", StageStatus.RUNNING)
    shown = site.ok("deployment", "get", "d-approve")
    site.ok("deployment", "approve", "d-approve")

    assert (refused.returncode, refused.stderr) == (
        2,
        "fairway: no stage of deployment d-approve waits for somebody to approve it\n",
    )
    assert "◆ WAIT_APPROVAL" in shown
    assert "→ fairway deployment approve d-approve" in shown
    assert next_command(agent).approve_stage.stage_id == "stage-0"


def test_a_deployment_is_given_up(site: Site) -> None:
    agent = an_agent(site, "cancelling")
    agent.deploy(an_application(site, "cancelling", "cancelled"), "d-cancel", stages("CANARY"))

    site.ok("deployment", "cancel", "d-cancel", "--rollback", "never")

    command = next_command(agent)
    assert (command.cancel_deployment.deployment_id, command.cancel_deployment.force_no_rollback) == ("d-cancel", True)


def test_an_application_is_disabled_enabled_and_deleted(site: Site) -> None:
    an_agent(site, "owning")
    application_id = an_application(site, "owning", "owned")

    assert site.ok("app", "disable", "owned").startswith("owned  ⊘ disabled")
    assert site.ok("app", "enable", "owned").startswith("owned  ○ unknown")
    assert site.run("app", "delete", "owned").returncode == 2
    assert site.ok("app", "delete", "owned", "--yes") == f"deleted {application_id}\n"
    assert site.run("app", "get", "owned").returncode == 1


def test_an_agent_is_switched_off_and_on_and_restarted(site: Site) -> None:
    agent = an_agent(site, "switched")

    assert site.run("agent", "disable", "switched").returncode == 2
    assert site.ok("agent", "disable", "switched", "--yes").startswith("switched  ⊘ disabled")
    assert site.ok("agent", "enable", "switched").startswith("switched  ✓ online")
    assert site.ok("agent", "restart", "switched").startswith(f"asked agent {agent.id} to restart; command ")
    assert next_command(agent).HasField("restart_piped")


def test_events_are_told_and_listed(site: Site) -> None:
    said = site.ok("event", "register", "image", "--data", "v2", "--label", "app:cart", "--label", "env:prod")

    (listed,) = json.loads(site.ok("event", "list", "--name", "image", "--json"))["items"]
    assert said == f"event {listed['id']} is registered\n"
    assert (listed["data"], listed["labels"]) == ("v2", {"app": "cart", "env": "prod"})


def test_a_key_that_may_only_read_is_refused_a_change_in_a_sentence(site: Site) -> None:
    an_agent(site, "readable")
    an_application(site, "readable", "readable")
    key = site.ok("apikey", "add", "reader").strip()

    assert site.ok("app", "list", FAIRWAY_API_KEY=key).startswith("NAME")
    refused = site.run("agent", "add", "x", FAIRWAY_API_KEY=key)
    assert (refused.returncode, refused.stdout, len(refused.stderr.splitlines())) == (1, "", 1)
    site.ok("apikey", "disable", "reader", "--yes")
    assert "does not accept the API key" in site.run("app", "list", FAIRWAY_API_KEY=key).stderr


def test_people_and_roles_are_made_and_changed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(
        "permissions:\n- resources: [application]\n  actions: [read, sync]\n  labels: {team: shop}\n"
    )

    site.ok("role", "set", "Shop", "--file", tmp_path / "shop.yaml")
    link = site.ok("user", "add", "ada", "--role", "Shop", "--display-name", "Ada")

    assert link.startswith(f"{site.server.http}/sign-in/link/")
    assert [line.split()[0] for line in site.ok("user", "list").splitlines()] == ["ID", "ada", "admin"]
    assert "labels:\n    team: shop\n" in site.ok("role", "get", "Shop")
    assert site.ok("role", "set", "Shop", "--file", "-", stdin=site.ok("role", "get", "Shop")) == "role Shop is set\n"
    assert site.ok("user", "disable", "ada", "--yes") == "ada is disabled\n"
    assert site.run("role", "delete", "Shop", "--yes").returncode == 1


def test_a_mistake_in_a_role_is_found_and_nothing_is_allowed_by_it(site: Site, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("permissions:\n- ressources: [application]\n")

    done = site.run("role", "set", "Bad", "--file", tmp_path / "bad.yaml")

    assert done.returncode == 1
    assert "ressources" in done.stderr
    assert site.run("role", "get", "Bad").returncode == 1


def test_webhooks_and_projects_are_made(site: Site) -> None:
    made = json.loads(site.ok("webhook", "add", "pushes", "--provider", "github", "--json"))
    site.ok("project", "add", "bank", "--desc", "Money")

    assert made["url"] in site.ok("webhook", "list")
    assert site.ok("project", "list").startswith("ID")
    assert site.ok("webhook", "delete", "pushes", "--yes") == f"webhook {made['webhook']['id']} is gone\n"
