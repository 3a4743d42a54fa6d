"""Looking at a server with the `fairway` command: lists, cards, JSON, profiles, and what goes wrong."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairway.model.application import SyncState, SyncStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.live_state import Health, Resource
from fairway.model.log_block import LogSeverity
from fairway.model.stage import StageStatus
from tests.acceptance.cli.sites import Site, a_site, an_agent, an_application, stages

APPLICATION = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
#: On a busy machine seconds become minutes.
AGO = re.compile(r"\b\d+[hms] ago\b|\bnow\b")
TOOK = re.compile(r"\b(\d+[hm])?\d+[ms]\b")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with one failed and one running deployment of `cart`."""
    with a_site(tmp_path_factory.mktemp("site")) as site:
        agent = an_agent(site)
        cart = an_application(site, agent)
        agent.deploy(cart, "d-failed", stages("K8S_SYNC"))
        agent.stage("d-failed", "stage-0", StageStatus.RUNNING)
        agent.log("d-failed", "stage-0", "\x1b[31mno pods\x1b[0m\n", severity=LogSeverity.ERROR)
        agent.stage("d-failed", "stage-0", StageStatus.FAILED, "the pods are not ready")
        agent.complete("d-failed", DeploymentStatus.FAILED, "Stage K8S_SYNC failed")
        agent.deploy(cart, "d-running", stages("CANARY", "PRIMARY"))
        agent.stage("d-running", "stage-0", StageStatus.RUNNING)
        agent.log("d-running", "stage-0", "one", "two\nthree")
        yield site


def test_applications_are_listed_for_people(site: Site) -> None:
    said = re.sub(r"  [0-9a-f]{8}  ", "  ID  ", AGO.sub("AGO", site.ok("app", "list")))

    # Of other tests there may be more; columns are as wide as what is in them.
    table = [re.split(r"  +", line) for line in said.splitlines()]
    assert table[0] == ["NAME", "ID", "STATUS", "KIND", "LAST DEPLOYMENT", "PATH"]
    assert ["cart", "ID", "! not deployed", "kubernetes", "AGO", "shop:apps/cart"] in table


def test_deployments_are_listed_newest_first_and_by_status(site: Site) -> None:
    everything = site.ok("deployment", "list")
    failed = site.ok("deployment", "list", "--status", "failed")
    unchanged = site.ok("deployment", "list", "--reverse")
    created = site.ok("deployment", "list", "--sort", "created_at")

    assert [line.split()[0] for line in everything.splitlines()] == ["ID", "d-running", "d-failed"]
    assert [line.split()[0] for line in failed.splitlines()] == ["ID", "d-failed"]
    assert [line.split()[0] for line in unchanged.splitlines()] == ["ID", "d-failed", "d-running"]
    # Agents give whole seconds, and both may have begun in one.
    assert {line.split()[0] for line in created.splitlines()} == {"ID", "d-failed", "d-running"}


def test_programs_get_the_json_of_the_server(site: Site) -> None:
    listed = json.loads(site.ok("deployment", "list", "--json"))
    one = json.loads(site.ok("deployment", "get", "d-failed", "--json"))

    assert [each["id"] for each in listed["items"]] == ["d-running", "d-failed"]
    assert one == listed["items"][1]


def test_a_list_longer_than_a_page_is_one_document(site: Site) -> None:
    agent = an_agent(site, "busy")
    for number in range(3):
        an_application(site, agent, f"page-{number}")

    listed = json.loads(site.ok("app", "list", "--agent", "busy", "--limit", "2", "--json"))

    assert ([each["name"] for each in listed["items"]], bool(listed["next_cursor"])) == (["page-2", "page-1"], True)


def test_a_deployment_is_shown_as_a_card(site: Site) -> None:
    said = APPLICATION.sub("ID", site.ok("deployment", "get", "d-failed"))

    assert TOOK.sub("#", AGO.sub("AGO", said)) == (
        "cart  ✗ failed  took #, AGO\n"
        "  Stage K8S_SYNC failed\n"
        "  id           d-failed\n"
        "  application  cart (ID)\n"
        "  commit       c0ffee1 Say hello (main)\n"
        "  asked by     the commit, by ada\n"
        "  created      AGO\n"
        "  strategy     pipeline\n"
        "  summary      Version 2 of cart\n"
        "\n"
        "  ✗ K8S_SYNC  #  the pods are not ready\n"
    )


def test_what_runs_is_shown_to_people_and_programs(site: Site) -> None:
    agent = an_agent(site, "looking")
    seen = an_application(site, agent, "seen")
    now = datetime.now(UTC)
    pod = Resource(id="1", type="Pod", name="seen-1", health=Health.HEALTHY, created_at=now, updated_at=now)
    agent.look(seen, SyncState(status=SyncStatus.SYNCED, at=now), Health.HEALTHY, pod)

    people = site.ok("app", "live", "seen")
    program = json.loads(site.ok("app", "live", "seen", "--json"))

    table = [re.split(r"  +", line) for line in AGO.sub("AGO", people).splitlines()]
    assert table[0] == ["seen", "✓ synced", "✓ healthy", "told AGO"]
    assert table[-1][:2] == ["Pod seen-1", "✓ healthy"]
    assert (program["application_id"], [each["name"] for each in program["resources"]]) == (seen, ["seen-1"])


def test_that_nobody_has_looked_yet_is_said_in_a_sentence(site: Site) -> None:
    result = site.run("app", "live", "cart")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "fairway: no agent has told yet what runs of cart\n"


def test_an_id_may_be_cut_and_an_application_named(site: Site) -> None:
    assert site.ok("deployment", "get", "d-f").startswith("cart  ✗ failed")
    assert site.ok("app", "get", "cart").startswith("cart  ! not deployed")


def test_an_application_says_why_its_newest_deployment_failed(site: Site) -> None:
    agent = an_agent(site)
    shop = an_application(site, agent, "shop")
    agent.deploy(shop, "x-failed", stages("SCRIPT_RUN"))
    before = site.ok("app", "get", "shop").splitlines()[1]
    agent.complete("x-failed", DeploymentStatus.FAILED, "Stage SCRIPT_RUN failed: exit status 7")

    after = site.ok("app", "get", "shop").splitlines()[1]
    assert (before.split()[0], after) == ("id", "  Stage SCRIPT_RUN failed: exit status 7")


def test_an_id_that_fits_several_lists_them(site: Site) -> None:
    result = site.run("deployment", "get", "d-")

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "fairway: 'd-' may be 2 deployments; say which:\n"  #
        "  d-running  cart\n"
        "  d-failed  cart\n"
    )


def test_logs_of_one_stage_have_no_prefix_and_no_escape_sequences(site: Site) -> None:
    assert site.ok("deployment", "logs", "d-failed") == "no pods\n"


def test_logs_of_several_stages_say_which(site: Site) -> None:
    assert site.ok("deployment", "logs", "d-running") == (
        "CANARY  │ one\n"  #
        "CANARY  │ two\n"
        "CANARY  │ three\n"
    )
    assert site.ok("deployment", "logs", "d-running", "--stage", "canary") == "one\ntwo\nthree\n"


def test_logs_for_programs_are_a_json_object_a_line(site: Site) -> None:
    lines = [json.loads(line) for line in site.ok("deployment", "logs", "d-running", "--json").splitlines()]

    assert [(line["stage"], line["index"], line["severity"], line["log"]) for line in lines] == [
        ("CANARY", 1, "info", "one"),
        ("CANARY", 2, "info", "two\nthree"),
    ]


def test_what_is_not_there_is_said_in_a_sentence(site: Site) -> None:
    result = site.run("app", "get", "nothing")

    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "fairway: there is no application 'nothing'; check the id, or whether it has been deleted\n"
    )


def test_an_id_that_looks_like_a_path_stays_one_segment(site: Site) -> None:
    assert site.run("deployment", "get", "../agents").returncode == 1


def test_a_wrong_key_is_refused_and_not_repeated(site: Site) -> None:
    result = site.run("app", "list", FAIRWAY_API_KEY="first.wrong")

    assert result.returncode == 1
    assert "does not accept the API key" in result.stderr
    assert "wrong" not in result.stderr


def test_a_server_that_is_not_there_is_said_so(site: Site) -> None:
    result = site.run("app", "list", FAIRWAY_SERVER="http://127.0.0.1:1")

    assert result.returncode == 1
    assert result.stderr.startswith("fairway: cannot reach http://127.0.0.1:1 (connection refused)")


def test_a_profile_is_checked_stored_and_used(site: Site, tmp_path: Path) -> None:
    there = {"XDG_CONFIG_HOME": str(tmp_path), "FAIRWAY_API_KEY": "", "FAIRWAY_SERVER": ""}

    added = site.ok("profile", "add", "here", "--server", site.server.http, stdin=site.key + "\n", **there)
    listed = site.ok("profile", "list", **there)

    assert added.splitlines()[0].startswith(f"{site.server.http} knows you as ")
    assert site.key not in added + listed
    assert listed.splitlines()[1].split() == ["✓", "here", site.server.http, "yes"]
    assert site.ok("agent", "list", **there).startswith("NAME")
    assert site.ok("profile", "remove", "here", **there) == "here is forgotten\n"
    assert "no server is set" in site.run("agent", "list", **there).stderr


def test_a_profile_with_a_wrong_key_is_not_stored(site: Site, tmp_path: Path) -> None:
    there = {"XDG_CONFIG_HOME": str(tmp_path), "FAIRWAY_API_KEY": "", "FAIRWAY_SERVER": ""}

    refused = site.run("profile", "add", "here", "--server", site.server.http, stdin="first.wrong\n", **there)

    assert refused.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_the_call_ends_with_two(site: Site) -> None:
    assert site.run("app", "get").returncode == 2
    assert site.run("deployment", "wait", "d-running", "--timeout", "soon").returncode == 2
    assert site.run("profile", "add", "x", "--server", "ftp://x").returncode == 2
