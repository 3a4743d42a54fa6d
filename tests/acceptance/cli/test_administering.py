"""What administrators do with the `fairway` command: people, audit, several servers, and words that are misspelt."""

import csv
import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fairway.model.stage import ManualOperation, StageStatus
from fairway.rpc.agent_api import messages as agent_messages
from tests.acceptance.cli.sites import Site, a_site, an_agent, an_application, stages
from tests.acceptance.server.processes import FAIRWAY, a_server
from tests.certificates import self_signed


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with one of everything."""
    with a_site(tmp_path_factory.mktemp("site")) as site:
        agent = an_agent(site)
        analysis, primary = stages("ANALYSIS", "PRIMARY")
        skippable = msgspec.structs.replace(analysis, available_operation=ManualOperation.SKIP)
        agent.deploy(an_application(site, agent), "d-1", (skippable, primary))
        agent.stage("d-1", "stage-0", StageStatus.RUNNING)
        site.ok("user", "add", "jo", "--role", "Viewer", "--display-name", "Jo")
        site.ok("webhook", "add", "forge", "--provider", "gitea")
        site.ok("event", "register", "push-image", "--data", "v2")
        skipped = site.ok("deployment", "skip", "d-1", "--json")
        (command,) = agent.call("ListUnhandledCommands", agent_messages.ListUnhandledCommandsRequest()).commands
        assert (command.skip_stage.stage_id, command.id) == ("stage-0", json.loads(skipped)["id"])
        yield site


def test_a_person_is_looked_at_locked_out_let_in_and_given_a_new_link(site: Site) -> None:
    first = site.ok("user", "link", "jo")
    card = site.ok("user", "get", "jo")
    without_yes = site.run("user", "disable", "jo")
    gone = site.ok("user", "disable", "jo", "--yes")
    refused = site.run("user", "link", "jo")
    back = site.ok("user", "enable", "jo")

    assert first.startswith(f"{site.server.http}/sign-in/link/")
    assert card.splitlines()[0] == "Jo  ✓ enabled"
    assert "not set yet; `fairway user link`" in card
    assert (without_yes.returncode, "say --yes" in without_yes.stderr) == (2, True)
    assert (gone, refused.returncode, back) == ("jo is disabled\n", 1, "jo may sign in again\n")


def test_what_was_changed_is_listed_and_exported(site: Site, tmp_path: Path) -> None:
    listed = site.ok("audit", "list", "--action", "webhook.create")
    site.ok("audit", "export", "--format", "csv", "--output", tmp_path / "audit.csv")
    lines = [json.loads(line) for line in site.ok("audit", "export", "--subject", "d-1").splitlines()]

    assert [line.split()[-2] for line in listed.splitlines()[1:]] == ["forge"]
    table = list(csv.DictReader(io.StringIO((tmp_path / "audit.csv").read_text())))
    assert {"agent.create", "application.create", "user.create", "webhook.create"} <= {row["action"] for row in table}
    assert [(line["action"], line["actor"]) for line in lines] == [("deployment.skip_stage", "first")]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("agent list", dict),
        ("agent get near", dict),
        ("apikey list", dict),
        ("app get cart", dict),
        ("app list", dict),
        ("audit list", dict),
        ("deployment get d-1", dict),
        ("deployment list", dict),
        ("event list", dict),
        ("profile list", list),
        ("project list", dict),
        ("role get Viewer", dict),
        ("role list", dict),
        ("user get jo", dict),
        ("user link jo", dict),
        ("user list", dict),
        ("webhook list", dict),
    ],
)
def test_programs_get_json_of_everything(site: Site, words: str, kind: type) -> None:
    assert isinstance(json.loads(site.ok(*words.split(), "--json")), kind)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param("deploymnt list", 2, "Did you mean 'deployment'?", id="a command"),
        pytest.param("app get crat", 1, "did you mean 'cart'?", id="a name"),
        pytest.param("webhook delete frge", 2, "did you mean 'forge'?", id="a name in a short list"),
    ],
)
def test_a_misspelt_word_is_told_what_was_meant(site: Site, words: str, code: int, said: str) -> None:
    done = site.run(*words.split(), COLUMNS="200")

    assert (done.returncode, done.stdout, said in done.stderr) == (code, "", True)


def test_servers_are_changed_with_a_word(site: Site, tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path), "FAIRWAY_SERVER": "", "FAIRWAY_API_KEY": ""}
    for name in ("here", "there"):
        site.ok("profile", "add", name, "--server", site.server.http, stdin=f"{site.key}\n", **home)

    used = site.ok("profile", "use", "here", **home)
    known = json.loads(site.ok("profile", "list", "--json", **home))
    wrong = site.run("profile", "use", "her", **home)

    assert used == f"here ({site.server.http}) is used from now on\n"
    assert [(each["name"], each["current"], each["has_key"]) for each in known] == [
        ("here", True, True),
        ("there", False, True),
    ]
    assert site.key not in json.dumps(known)
    assert (wrong.returncode, "here" in wrong.stderr) == (1, True)
    assert site.ok("app", "list", **home).startswith("NAME")


def test_a_server_with_a_certificate_of_its_own_is_trusted_by_a_file(tmp_path: Path) -> None:
    pair, certificate, key = self_signed(), tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    with a_server(tmp_path / "data", "--cert-file", certificate, "--key-file", key) as server:
        person = Site(server, tmp_path, server.api_key)
        home = {"XDG_CONFIG_HOME": str(tmp_path), "FAIRWAY_SERVER": "", "FAIRWAY_API_KEY": ""}
        add = ("profile", "add", "own", "--server", server.http)
        stranger = person.run(*add, stdin=f"{server.api_key}\n", **home)
        person.ok(*add, "--ca-file", certificate, stdin=f"{server.api_key}\n", **home)
        listed = person.ok("project", "list", **home)

    assert (stranger.returncode, "certificate" in stranger.stderr.lower()) == (1, True)
    assert listed.splitlines()[1].startswith("default")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(site: Site, shell: str) -> None:
    assert "_FAIRWAY_COMPLETE" in site.ok("completion", shell)


def test_bash_completes_with_the_script(site: Site, tmp_path: Path) -> None:
    (tmp_path / "fairway.bash").write_text(site.ok("completion", "bash"))
    press_tab = (
        f"source {tmp_path}/fairway.bash; COMP_WORDS=(fairway app get ca); COMP_CWORD=3; "
        'on=$(complete -p fairway); on=${on##*-F }; ${on%% *} fairway ca get; echo "${COMPREPLY[@]}"'
    )
    environment = site.environment()
    environment["PATH"] = f"{FAIRWAY.parent}:{environment['PATH']}"

    done = subprocess.run(["bash", "-c", press_tab], capture_output=True, text=True, env=environment, check=False)

    assert (done.stdout, done.stderr) == ("cart\n", "")
