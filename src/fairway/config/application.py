"""One deployable thing, as its file in Git describes it: what both generations and all kinds have in common.

`ApplicationConfig` is the one model that the rest of Fairway sees. A v0 kind (`KubernetesApp` …) becomes an
application of the matching plugin; where the generations differ, the generation of the file has decided by then.
"""

import enum
from typing import Any, Literal

import msgspec

from fairway.config.event_watcher import EventWatch
from fairway.config.notification import EVENTS
from fairway.config.problems import did_you_mean
from fairway.config.regex import Regex
from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, ZeroMeansDefault

DEFAULT_TIMEOUT = Duration(hours=6)


class Generation(enum.Enum):
    """Which generation of PipeCD's files a file belongs to."""

    #: The kinds named after a platform, and agents with `platformProviders`.
    V0 = "v0"
    #: `kind: Application`, and agents with `plugins`.
    V1 = "v1"


class Planner(Settings, frozen=True):
    """How a deployment is planned."""

    #: Run the pipeline even where a quick sync would do.
    always_use_pipeline: bool = False
    #: Undo what was started when a stage fails (v1; v0 has it under `input`).
    auto_rollback: bool = True


class CommitMatcher(Settings, frozen=True):
    """Regular expressions on the commit message that choose the strategy."""

    quick_sync: Regex | None = None
    pipeline: Regex | None = None


class OnCommit(Settings, frozen=True):
    """Deploy when a commit touches the application."""

    disabled: bool = False
    #: Further paths, from the root of the repository, that count as the application's own.
    paths: tuple[str, ...] = ()
    #: Paths whose changes alone do not deploy.
    ignores: tuple[str, ...] = ()


class OnCommand(Settings, frozen=True):
    """Deploy when somebody asks for it."""

    disabled: bool = False


class OnOutOfSync(ZeroMeansDefault, frozen=True):
    """Deploy when what runs has drifted from Git."""

    disabled: bool = True
    #: How long after the last deployment drift may start another one.
    min_window: Duration = Duration(minutes=5)


class OnChain(Settings, frozen=True):
    """Deploy when an application earlier in a chain has been deployed."""

    disabled: bool = True


class Trigger(Settings, frozen=True):
    """What may start a deployment."""

    on_commit: OnCommit = OnCommit()
    on_command: OnCommand = OnCommand()
    on_out_of_sync: OnOutOfSync = OnOutOfSync()
    on_chain: OnChain = OnChain()
    #: Which of the deployments that wait for their turn are made: each in its order, or the newest commit's alone.
    waiting: Literal["all", "newest"] = "all"


class ChainMatcher(Settings, frozen=True):
    """The applications of one block of a chain."""

    name: str = ""
    kind: str = ""
    labels: dict[str, str] = {}

    def problems(self) -> Problems:
        if not (self.name or self.kind or self.labels):
            return [("", "needs at least one of name, kind and labels")]
        return []


class Chain(Settings, frozen=True):
    """The applications that are deployed after this one, block by block."""

    applications: tuple[ChainMatcher, ...]

    def problems(self) -> Problems:
        return [] if self.applications else [("applications", "is empty; a chain needs at least one application")]


class PostSync(Settings, frozen=True):
    """What happens after a successful deployment."""

    chain: Chain | None = None


def _empty(field: str, texts: dict[str, str], expected: str) -> Problems:
    return [(f"{field}.{name}", f"is empty; expected {expected}") for name, text in texts.items() if not text]


class Encryption(Settings, frozen=True):
    """Sealed values and the files they are rendered into."""

    encrypted_secrets: dict[str, str] = {}
    decryption_targets: tuple[str, ...] = ()

    def problems(self) -> Problems:
        return _empty("encryptedSecrets", self.encrypted_secrets, "a sealed value")


class Attachment(Settings, frozen=True):
    """Files whose content is rendered into other files."""

    sources: dict[str, str] = {}
    targets: tuple[str, ...] = ()

    def problems(self) -> Problems:
        return _empty("sources", self.sources, "the path of a file")


class Mention(Settings, frozen=True):
    """Whom a notification mentions."""

    event: str
    slack: tuple[str, ...] = ()
    slackusers: tuple[str, ...] = msgspec.field(name="slackusers", default=())
    slackgroups: tuple[str, ...] = msgspec.field(name="slackgroups", default=())
    email: tuple[str, ...] = ()

    def problems(self) -> Problems:
        if self.event == "*" or self.event in EVENTS:
            return []
        return [("event", f"is {self.event!r}, which is not known{did_you_mean(self.event, EVENTS)}")]


class ApplicationNotification(Settings, frozen=True):
    """Whom to tell about this application's deployments."""

    mentions: tuple[Mention, ...] = ()


class DriftDetection(Settings, frozen=True):
    """What is left out when live state is compared with Git."""

    #: Each `apiVersion:kind:namespace:name#field.path`.
    ignore_fields: tuple[str, ...] = ()

    def problems(self) -> Problems:
        return [
            (
                f"ignoreFields[{position}]",
                "must be apiVersion:kind:namespace:name#field.path, with exactly one #",
            )
            for position, field in enumerate(self.ignore_fields)
            if field.count("#") != 1
        ]


class SkipOn(Settings, frozen=True):
    """When a stage is passed over: the commit message starts so, or all changed files match."""

    commit_message_prefixes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class UndoScript(Settings, frozen=True):
    """A script that runs in the rollback when its stage was started, whichever plugin that stage belongs to."""

    on_rollback: str | tuple[str, ...] = ()
    env: dict[str, str] = {}

    @property
    def commands(self) -> tuple[str, ...]:
        """What undoes the stage, in order, whichever way it was written."""
        if isinstance(self.on_rollback, str):
            return (self.on_rollback,) if self.on_rollback else ()
        return self.on_rollback


class StageConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the pipeline, settled: options stand where they belong, whichever spelling was used."""

    #: Position in the pipeline, from 0.
    index: int
    name: str
    #: Empty unless the file gives one.
    id: str = ""
    desc: str = ""
    #: How long the stage may take.
    timeout: Duration = DEFAULT_TIMEOUT
    skip_on: SkipOn = SkipOn()
    #: `with` as typed settings; a plain mapping for the stages of plugins Fairway does not know.
    options: Any
    #: `with` as it was written, for the plugin that owns the stage.
    written: dict[str, Any]
    #: What undoes a stage whose plugin does not see to that itself, as that of SCRIPT_RUN does.
    undo: UndoScript | None = None


class ApplicationConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What Git says about one application."""

    generation: Generation
    #: The file's `kind`, or for `Application` its `metadata.labels.kind` where that is given.
    kind: str
    name: str = ""
    labels: dict[str, str] = {}
    description: str = ""
    planner: Planner = Planner()
    commit_matcher: CommitMatcher = CommitMatcher()
    #: Empty when the file has no pipeline: then every deployment is a quick sync.
    stages: tuple[StageConfig, ...] = ()
    trigger: Trigger = Trigger()
    post_sync: PostSync = PostSync()
    timeout: Duration = DEFAULT_TIMEOUT
    encryption: Encryption = Encryption()
    attachment: Attachment = Attachment()
    notification: ApplicationNotification = ApplicationNotification()
    event_watcher: tuple[EventWatch, ...] = ()
    drift_detection: DriftDetection = DriftDetection()
    #: Plugin name → that plugin's settings, in the order of the file.
    plugins: dict[str, Any] = {}
    #: What keeps the pipeline from ever ending well, in words; a quick sync does without it.
    impossible: tuple[str, ...] = ()
    #: Whether the reader ignored unknown fields, and the paths of those it found.
    allows_unknown_fields: bool = False
    ignored_fields: tuple[str, ...] = ()
