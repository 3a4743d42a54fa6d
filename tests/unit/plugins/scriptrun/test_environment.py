"""What a script knows of its deployment."""

import msgspec
import pytest

from fairway.model.application import Repository
from fairway.model.deployment import Deployment
from fairway.plugins.scriptrun.environment import script_environment
from tests.unit.model.builders import NOW, a_deployment, a_git_path, a_trigger


def deployed(commander: str = "bob") -> Deployment:
    repository = Repository(id="shop", remote="git@example.com:shop.git")
    return a_deployment(
        git_path=a_git_path(repository=repository),
        trigger=a_trigger(commander=commander),
        summary="Deploy c0ffee",
        labels={"env": "prod", "app.io/team": "cart"},
    )


def test_a_script_has_the_variables_that_pipecd_gives() -> None:
    environment = script_environment(deployed(), is_rollback=False)

    context = msgspec.json.decode(environment.pop("SR_CONTEXT_RAW"))
    assert environment == {
        "SR_DEPLOYMENT_ID": "d-1",
        "SR_APPLICATION_ID": "a-1",
        "SR_APPLICATION_NAME": "cart",
        "SR_TRIGGERED_AT": str(int(NOW.timestamp())),
        "SR_TRIGGERED_COMMIT_HASH": "c0ffee",
        "SR_TRIGGERED_COMMANDER": "bob",
        "SR_REPOSITORY_URL": "git@example.com:shop.git",
        "SR_SUMMARY": "Deploy c0ffee",
        "SR_IS_ROLLBACK": "false",
        "SR_LABELS_ENV": "prod",
        "SR_LABELS_APP.IO/TEAM": "cart",
    }
    assert context == {
        "deploymentID": "d-1",
        "applicationID": "a-1",
        "applicationName": "cart",
        "triggeredAt": int(NOW.timestamp()),
        "triggeredCommitHash": "c0ffee",
        "triggeredCommander": "bob",
        "repositoryURL": "git@example.com:shop.git",
        "summary": "Deploy c0ffee",
        "labels": {"env": "prod", "app.io/team": "cart"},
    }


@pytest.mark.parametrize(
    ("rollback", "told"), [pytest.param(True, "true", id="yes"), pytest.param(False, "false", id="no")]
)
def test_a_script_knows_whether_it_undoes(rollback: bool, told: str) -> None:
    environment = script_environment(deployed(), rollback)

    assert environment["SR_IS_ROLLBACK"] == told
    assert msgspec.json.decode(environment["SR_CONTEXT_RAW"]).get("isRollback", False) is rollback


def test_a_push_is_the_authors() -> None:
    assert script_environment(deployed(commander=""), False)["SR_TRIGGERED_COMMANDER"] == "ada"
