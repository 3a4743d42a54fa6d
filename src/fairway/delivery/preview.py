"""Whether merging a branch would deploy an application, asked before anybody merges.

The rules are those of a commit (`trigger`), with two differences: what counts is what the branch itself changes, not
what else waits to be deployed, and a file that the branch breaks is worth telling.
"""

import enum

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.delivery.commit import Touched
from fairway.model.application import Application


class PreviewOutcome(enum.Enum):
    """What to tell of one application."""

    #: What would be deployed.
    PREVIEW = "preview"
    #: Nothing: the merge leaves it alone.
    NO = "no"
    #: That it could not be deployed, and why.
    FAILED = "failed"


class PreviewFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one application after the merge."""

    application: Application
    #: `None` when the file cannot be used; then `config_problem` says why.
    config: ApplicationConfig | None
    config_problem: str = ""
    #: What the branch changes of this application.
    touched: Touched | None = None


class PreviewDecision(msgspec.Struct, frozen=True):
    """Whether there is something to tell."""

    outcome: PreviewOutcome
    reason: str


def decide_preview(facts: PreviewFacts) -> PreviewDecision:
    """Whether the merge would deploy one application."""
    name = facts.application.name
    if facts.application.disabled or facts.application.deleted_at is not None:
        return PreviewDecision(PreviewOutcome.NO, f"{name} is disabled or deleted")
    if facts.touched is None:
        return PreviewDecision(PreviewOutcome.NO, f"The branch changes nothing of {name}")
    if facts.config is None:
        problem = facts.config_problem or "it cannot be read"
        return PreviewDecision(PreviewOutcome.FAILED, f"After the merge its configuration is invalid: {problem}")
    if facts.config.trigger.on_commit.disabled:
        return PreviewDecision(PreviewOutcome.NO, "trigger.onCommit is disabled")
    return PreviewDecision(PreviewOutcome.PREVIEW, facts.touched.reason)
