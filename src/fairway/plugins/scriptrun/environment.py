"""What a script knows about its deployment: the SR_ variables, the same in both generations of PipeCD."""

from collections.abc import Mapping
from typing import Any

import msgspec

from fairway.model.deployment import Deployment

#: The fencing token of the lease under which the script was started. A later holder of the lease has a larger one.
FENCING_VARIABLE = "FAIRWAY_FENCING_TOKEN"


def script_environment(deployment: Deployment, is_rollback: bool) -> dict[str, str]:
    """The variables of a script; what the user writes under `env` comes on top."""
    trigger = deployment.trigger
    facts = {
        "deploymentID": deployment.id,
        "applicationID": deployment.application_id,
        "applicationName": deployment.application_name,
        "triggeredAt": int(trigger.at.timestamp()),
        "triggeredCommitHash": trigger.commit.hash,
        "triggeredCommander": trigger.commander or trigger.commit.author,
        "repositoryURL": deployment.git_path.repository.remote,
        "summary": deployment.summary,
        "labels": deployment.labels,
        "isRollback": is_rollback,
    }
    named = {
        "SR_DEPLOYMENT_ID": facts["deploymentID"],
        "SR_APPLICATION_ID": facts["applicationID"],
        "SR_APPLICATION_NAME": facts["applicationName"],
        "SR_TRIGGERED_AT": facts["triggeredAt"],
        "SR_TRIGGERED_COMMIT_HASH": facts["triggeredCommitHash"],
        "SR_TRIGGERED_COMMANDER": facts["triggeredCommander"],
        "SR_REPOSITORY_URL": facts["repositoryURL"],
        "SR_SUMMARY": facts["summary"],
        "SR_IS_ROLLBACK": "true" if is_rollback else "false",
        "SR_CONTEXT_RAW": _context(facts),
    }
    labels = {f"SR_LABELS_{key.upper()}": value for key, value in deployment.labels.items()}
    return {name: str(value) for name, value in {**named, **labels}.items()}


def _context(facts: Mapping[str, Any]) -> str:
    """All of it as JSON; what is empty or false is left out, as PipeCD does."""
    return msgspec.json.encode({name: value for name, value in facts.items() if value}).decode()
