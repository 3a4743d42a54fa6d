"""Why a deployment exists: the commit it brings, who or what asked for it, and which strategy was asked for.

A `Trigger` is recorded with its deployment and never changes, except that planning settles the strategy.
Whether a trigger should happen at all is decided in `delivery.trigger`.
"""

import enum
from datetime import datetime

import msgspec

#: Why an application is deployed again that nobody has changed in Git. The wire has no field for a trigger's kind, so
#: these words, which are kept with the trigger, are also how it is known.
DRIFTED = "What runs differs from what Git says"


class TriggerKind(enum.Enum):
    """What made us look at an application. Decisions know it; a recorded trigger does not carry it."""

    #: The head of the branch moved.
    COMMIT = "commit"
    #: A person or an API client asked for it.
    COMMAND = "command"
    #: What runs has drifted from Git.
    OUT_OF_SYNC = "out_of_sync"
    #: An application earlier in a chain has been deployed.
    CHAIN = "chain"


class SyncStrategy(enum.Enum):
    """How a deployment gets to the wanted state."""

    #: Not decided yet: planning chooses.
    AUTO = "auto"
    #: In one step, without the pipeline of the application.
    QUICK_SYNC = "quick_sync"
    #: Through the stages that the application's file lists.
    PIPELINE = "pipeline"


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The commit a deployment brings."""

    hash: str
    message: str
    author: str
    branch: str
    created_at: datetime
    #: 0 when the commit is not known to come from a pull request.
    pull_request: int = 0
    url: str = ""


class Trigger(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded cause of one deployment."""

    commit: Commit
    at: datetime
    #: Who asked; empty when a commit or drift was the cause. For a chain it is the chain's id.
    commander: str = ""
    sync_strategy: SyncStrategy = SyncStrategy.AUTO
    #: Why this strategy, in words.
    strategy_summary: str = ""

    @property
    def is_against_drift(self) -> bool:
        """Whether drift was the cause, and nobody's commit or command."""
        return not self.commander and self.strategy_summary == DRIFTED
