"""`fairway up --repo`: a repository of the user's own."""

from pathlib import Path

import pytest

from tests.acceptance.cli.machines import Machine
from tests.integration.agent.running import an_application_file, script
from tests.integration.git.repositories import an_origin


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_repository_of_the_users_own_is_looked_at_and_left_alone(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("echo from my own"))})

    with machine.up("--repo", origin.work) as up:
        found = up.until("found web in web")
        deployments = machine.listed("deployment")
        up.interrupt()

    assert "app add web --agent up --repository work --path web" in found
    assert deployments == []
    assert not (machine.data / "demo").exists()


def test_what_is_found_in_it_is_deployed_when_asked_and_watched_from_then_on(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("cat words"))})
    origin.commit({"web/words": "first words"})

    registered = machine.until_idle("--repo", origin.bare, "--register")
    with machine.up() as up:
        up.until("starting the agent")
        origin.commit({"web/words": "second words"})
        up.until("│ second words")
        up.interrupt()

    assert registered.returncode == 0, registered.stdout + registered.stderr
    assert "│ first words" in registered.stdout


def test_where_no_application_is_registered_it_ends_and_says_what_to_do(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"README": "nothing to deploy"})

    none = machine.until_idle("--repo", origin.bare, "--register")
    origin.commit({"web/app.pipecd.yaml": an_application_file(script("true"))})
    found = machine.until_idle()

    assert (none.returncode, found.returncode) == (1, 1)
    assert none.stderr == f"fairway: no application is registered; none was found in {origin.bare}, branch main\n"
    assert found.stderr == "fairway: no application is registered; found web: add --register\n"


def test_what_was_committed_meanwhile_is_left_to_do(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("cat words"))})

    failed = machine.until_idle("--repo", origin.bare, "--register")
    origin.commit({"web/words": "the right words"})
    mended = machine.until_idle()

    assert (failed.returncode, mended.returncode) == (1, 0), mended.stdout + mended.stderr
    assert "│ the right words" in mended.stdout


def test_what_ends_otherwise_than_it_should_is_said_by_the_status(machine: Machine, tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("exit 3"))})

    done = machine.until_idle("--repo", origin.bare, "--register")

    assert done.returncode == 1
    assert "fairway: web failed (Stage SCRIPT_RUN failed: exit status 3 after" in done.stderr


def test_an_application_that_cannot_be_registered_is_said_and_is_not_as_it_should_be(
    machine: Machine, tmp_path: Path
) -> None:
    good = an_application_file(script("true"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": good, "web/second.pipecd.yaml": f"{good}  labels: 7\n"})

    broken = machine.until_idle("--repo", origin.bare, "--register")
    origin.commit({"web/second.pipecd.yaml": good.replace("name: web", "name: second")})
    mended = machine.until_idle("--register")

    why = "web/second.pipecd.yaml:10:11: error: spec.labels: "
    assert broken.returncode == 1
    assert f" ! {why}" in broken.stdout
    assert f"fairway: {why}" in broken.stderr
    assert (mended.returncode, "second: deployment succeeded" in mended.stdout) == (0, True), mended.stdout


def test_a_file_that_breaks_while_up_runs_is_said_at_once_and_so_is_its_end(machine: Machine, tmp_path: Path) -> None:
    good = an_application_file(script("true"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": good})

    with machine.up("--repo", origin.bare, "--register") as up:
        up.until("web: deployment succeeded")
        origin.commit({"new/app.pipecd.yaml": "a: ["})
        up.until("! new/app.pipecd.yaml:1:")
        origin.commit({"new/app.pipecd.yaml": good.replace("name: web", "name: new")})
        up.until("new/app.pipecd.yaml is no longer unusable")
        up.interrupt()


def test_a_secret_that_was_sealed_for_its_agent_is_opened_for_a_script_and_masked_in_its_log(
    machine: Machine, tmp_path: Path
) -> None:
    stage = script("cat token.txt; test $(wc -c < token.txt) = 17")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("true"))})

    with machine.up("--repo", origin.bare, "--register") as up:
        up.until("web: deployment succeeded")
        sealed = machine.run("encrypt", "--agent", "up", "--profile", "up", stdin="hush-hush-1")
        spec = f"  encryption: {{encryptedSecrets: {{token: {sealed.stdout.strip()}}}, decryptionTargets: [token.txt]}}"
        target = "token {{ .encryptedSecrets.token }}"
        origin.commit({"web/app.pipecd.yaml": an_application_file(stage, spec=spec), "web/token.txt": target})
        logged = up.until("SCRIPT_RUN │ token")
        up.until("web: deployment succeeded")
        up.interrupt()

    assert sealed.returncode == 0, sealed.stderr
    assert logged.endswith("│ token •••\n")
