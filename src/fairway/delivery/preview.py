"""Whether merging a branch would deploy an application, asked before anybody merges.

The rules are those of a commit (`trigger`), with two differences: what counts is what the branch itself changes, not
what else waits to be deployed, and a file that the branch breaks, takes away or brings is worth telling.
"""

import enum
import posixpath

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.delivery.commit import Touched
from fairway.model.application import Application, DiscoveredApplication


class PreviewOutcome(enum.Enum):
    """What to tell of one application."""

    #: What would be deployed.
    PREVIEW = "preview"
    #: Nothing: the merge leaves it alone.
    NO = "no"
    #: That it could not be deployed, and why.
    FAILED = "failed"
    #: That its file is gone, and what becomes of it then.
    GONE = "gone"


class PreviewFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one application after the merge."""

    application: Application
    #: `None` when the file cannot be used; then `config_problem` says why.
    config: ApplicationConfig | None
    config_problem: str = ""
    #: Its file, where that is not there; empty where it is.
    gone: str = ""
    #: Where the branch brings an application of the same name that is not registered.
    moved_to: DiscoveredApplication | None = None
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
    if facts.gone:
        then = gone_in_words(name, facts.moved_to)
        return PreviewDecision(PreviewOutcome.GONE, f"After the merge it has no file {facts.gone}: {then}")
    if facts.config is None:
        problem = facts.config_problem or "it cannot be read"
        return PreviewDecision(PreviewOutcome.FAILED, f"After the merge its configuration is invalid: {problem}")
    if facts.config.trigger.on_commit.disabled:
        return PreviewDecision(PreviewOutcome.NO, "trigger.onCommit is disabled")
    return PreviewDecision(PreviewOutcome.PREVIEW, facts.touched.reason)


def gone_in_words(name: str, moved_to: DiscoveredApplication | None = None) -> str:
    """What becomes of an application without a file, and what to do about it."""
    stays = "nothing of it is deployed any more, and nothing is removed from the platform; it stays registered"
    advice = f"{stays} without a file: `fairway app delete {name}` ends that"
    if moved_to is None:
        return advice
    return f"{advice}, and `{_add(moved_to)}` registers the place where it is then"


def found_in_words(found: DiscoveredApplication) -> str:
    """What becomes of an application that the branch brings."""
    until = "nothing of it is deployed until somebody registers it"
    return f"Found, not registered: {until}: {_add(found)}"


def _add(found: DiscoveredApplication) -> str:
    path = posixpath.normpath(found.path)
    return f"fairway app add {found.name} --agent {found.agent_id} --repository {found.repository_id} --path {path}"
