"""One application or one deployment as a card: how it stands, why, what it waits for, and its stages.

Pure: a noun and the time in, something to print out. The list of stages is also what `deployment wait` shows live.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from textwrap import indent
from typing import TYPE_CHECKING

from fairway.cli.output import LOOKS, ago, fields, labels_text, log_text, plain, reason_text, status, took
from fairway.model.application import Application, DeploymentReference, SyncState, SyncStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import DISPLAY, ManualOperation, Stage, StageStatus
from fairway.model.trigger import Commit
from fairway.model.undoing import stage_undone_by, what_it_undoes

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_SHORT_HASH = 7
#: What a plan says where no plugin has told a version, as PipeCD does.
_NO_VERSION = "unknown"
#: Colours of lines by what they begin with.
_DIFFERENCE = {"-": "red", "+": "green"}


class ShownDeployment(Deployment, frozen=True, kw_only=True):
    """A deployment, and what it waits for in the server's words."""

    waiting_for: str = ""


def deployment_card(deployment: ShownDeployment, now: datetime) -> "RenderableType":
    """Everything about a deployment that a person asks first."""
    from rich.console import Group
    from rich.text import Text

    return Group(
        headline(deployment, now),
        fields(
            [
                ("id", deployment.id),
                ("application", f"{deployment.application_name} ({deployment.application_id})"),
                ("commit", commit_text(deployment.trigger.commit)),
                ("asked by", _asked_by(deployment)),
                ("created", ago(deployment.created_at, now)),
                ("strategy", _strategy(deployment)),
                ("summary", deployment.summary),
                ("versions", _versions(deployment)),
                ("labels", labels_text(deployment.labels)),
                ("waits for", Text(waits_for(deployment))),
            ]
        ),
        Text(),
        stage_list(deployment, now),
    )


def headline(deployment: Deployment, now: datetime) -> "Text":
    """Name, status, how long, and the reason in words."""
    from rich.text import Text

    end = deployment.completed_at
    length = took((end or now) - deployment.created_at)
    when = f"took {length}, {ago(end, now)}" if end else f"for {length}"
    line = Text.assemble((plain(deployment.application_name), "bold"), "  ", status(deployment.status.value))
    line.append(f"  {when}", style="dim")
    # While stages run, it is they who say what happens.
    told_below = deployment.status is DeploymentStatus.RUNNING and deployment.stages
    reason = "" if told_below else reason_text(deployment.status_reason)
    return line.append(f"\n{indent(reason, '  ')}") if reason else line


def stage_list(deployment: Deployment, now: datetime) -> "RenderableType":
    """Each stage with its mark, how long it took and why it ended so; a rollback that never began is not shown."""
    from rich.table import Table
    from rich.text import Text

    if not deployment.stages:
        return Text("  no stages" if deployment.status.is_terminal else "  no stages yet", style="dim")
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(no_wrap=True, justify="right")
    made.add_column(overflow="fold")
    for stage in deployment.stages:
        if stage.is_rollback and not stage.was_started:
            continue
        look = LOOKS[stage_word(stage)]
        length = ran_for(stage, deployment.stages, now)
        name = Text(f"  {look.mark} {plain(stage.name)}", style=look.colour)
        made.add_row(
            name, Text(took(length) if length is not None else "", style="dim"), stage_note(stage, deployment.stages)
        )
    return made


def stage_word(stage: Stage) -> str:
    """The status of a stage, with the one difference that people act on."""
    waits = stage.status is StageStatus.RUNNING and stage.available_operation is ManualOperation.APPROVE
    return "waits for approval" if waits else stage.status.value


def stage_note(stage: Stage, stages: Sequence[Stage]) -> str:
    """Why it ended so, what it waits for, and which of the stages it undoes."""
    if stage_word(stage) == "waits for approval":
        return f"waits for approval by {', '.join(stage.authorized_operators) or 'anybody who may'}"
    undone = stage_undone_by(stage, stages)
    waits = f"waits for {stage.waits_for}" if stage.waits_for else ""
    if undone is None:
        return reason_text(_own_note(stage, waits))
    # While it runs, its reason says no more than that.
    says = stage.status_reason if stage.status.is_terminal else waits
    return "; ".join(filter(None, (plain(what_it_undoes(undone)), reason_text(says))))


def _own_note(stage: Stage, waits: str) -> str:
    """With what its plugin shows of it, such as how traffic is shared out; how it ended, in words, says more."""
    shown = "; ".join(stage.metadata.get(DISPLAY, "").splitlines())
    match stage.status:
        case StageStatus.NOT_STARTED:
            return "; ".join(filter(None, (shown, stage.desc)))
        case StageStatus.RUNNING:
            return "; ".join(filter(None, (shown, waits))) or stage.status_reason or stage.desc
        case StageStatus.SUCCEEDED:
            return stage.status_reason or shown
    return stage.status_reason or stage.desc


def ran_for(stage: Stage, stages: tuple[Stage, ...], now: datetime) -> timedelta | None:
    """How long a stage has run, or did; None for one that never ran.

    Nobody records when a stage starts. They run one after another, so it started when the one before it ended.
    """
    if not stage.was_started:
        return None
    end = stage.completed_at or now
    before = [
        other.completed_at
        for other in stages
        if other is not stage and other.was_started and other.completed_at and other.completed_at <= end
    ]
    return end - max([stage.created_at, *before])


def waits_for(deployment: ShownDeployment) -> str:
    """What has to happen next, and the command for it where a person has to do it."""
    waits = plain(deployment.waiting_for)
    if any(stage_word(stage) == "waits for approval" for stage in deployment.stages) and waits:
        return f"{waits}\n→ fairway deployment approve {deployment.id}"
    return waits


def application_card(application: Application, now: datetime, failure: str = "") -> "RenderableType":
    """Everything about an application that a person asks first; `failure` is why its newest deployment failed."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    line = Text.assemble((plain(application.name), "bold"), "  ", status(application_word(application)))
    if failure := reason_text(failure):
        line.append(f"\n{indent(failure, '  ')}")
    state = application.sync_state
    if state and (reason := plain(state.short_reason)):
        line.append(f"\n  {reason}")
    git = application.git_path
    targets = (f"{plugin}: {', '.join(names)}" for plugin, names in application.deploy_targets_by_plugin.items())
    more = sync_reason(state)
    return Group(
        line,
        fields(
            [
                ("id", application.id),
                ("about", application.description),
                ("agent", application.agent_id),
                ("kind", application.kind.value if application.kind else ""),
                ("deploys to", "; ".join(targets) or application.platform_provider),
                ("repository", " ".join(filter(None, (git.repository.id, git.repository.branch)))),
                ("path", "/".join(filter(None, (git.path, git.config_filename)))),
                ("labels", labels_text(application.labels)),
                ("runs", _reference(application.last_succeeded, now)),
                ("last asked", _reference(application.last_triggered, now)),
            ]
        ),
        *((Text(), Padding(more, (0, 0, 0, 2), expand=False)) if more else ()),
    )


def sync_reason(state: SyncState | None) -> "Text":
    """Why an application stands as it does, in full: a difference line by line, or what is wrong with its file.

    Without the first line where that is the short reason, which the headline says.
    """
    from rich.text import Text

    lines = log_text(state.reason).rstrip().split("\n") if state else []
    if state and lines[0].strip() == plain(state.short_reason):
        lines = lines[1:]
    said = Text()
    for line in "\n".join(lines).strip("\n").split("\n"):
        said.append("\n" if said else "").append(line, style=_DIFFERENCE.get(line[:1], ""))
    return said


def application_word(application: Application) -> str:
    """How an application stands, in the word that matters most."""
    if application.deleted_at:
        return "deleted"
    if application.disabled:
        return "disabled"
    if application.deploying:
        return "deploying"
    state = application.sync_state.status if application.sync_state else SyncStatus.UNKNOWN
    if state is SyncStatus.UNKNOWN and (newest := application.last_triggered):
        # Nobody looks at what runs, as where scripts do it all; how the newest deployment ended is known.
        succeeded = application.last_succeeded
        if succeeded is None or succeeded.deployment_id != newest.deployment_id:
            return "not_deployed"
        # Whoever looks, and cannot see it now, says why.
        return "unknown" if application.sync_state and application.sync_state.short_reason else "deployed"
    return state.value


def commit_text(commit: Commit) -> str:
    """A commit as one line."""
    first = plain(commit.message.partition("\n")[0])
    return f"{short_commit(commit)} {first} ({commit.branch})"


def short_commit(commit: Commit) -> str:
    """As much of a commit's hash as git shows."""
    return commit.hash[:_SHORT_HASH]


def _asked_by(deployment: Deployment) -> str:
    """Who, or what, made it begin."""
    trigger = deployment.trigger
    if trigger.is_against_drift:
        return "nobody: what ran differed from Git (trigger.onOutOfSync)"
    if trigger.commander and trigger.commander == deployment.chain_id:
        return f"chain {trigger.commander}"
    return trigger.commander or f"the commit, by {trigger.commit.author}"


def _reference(reference: DeploymentReference | None, now: datetime) -> str:
    if reference is None:
        return ""
    what = reference.version or commit_text(reference.trigger.commit)
    return f"{what}, {ago(reference.completed_at or reference.started_at, now)}: deployment {reference.deployment_id}"


def _versions(deployment: Deployment) -> str:
    """What it brings; scripts alone bring nothing that has a version."""
    known = [each for each in deployment.versions if each.version != _NO_VERSION]
    return ", ".join(f"{each.name} {each.version}".strip() for each in known)


def _strategy(deployment: Deployment) -> str:
    trigger = deployment.trigger
    return ": ".join(filter(None, (trigger.sync_strategy.value.replace("_", " "), trigger.strategy_summary)))
