"""`fairway deployment …`: deployments: look, follow, wait, approve, skip, give up."""

from typing import Annotated, Literal

import typer

from fairway.cli.call import Call, UsageError, decode, noun, with_server
from fairway.cli.find import find_id, list_of
from fairway.cli.logs import pick_stages
from fairway.cli.options import Labels, Limit, Timeout, length_of_time
from fairway.cli.remote import segments
from fairway.cli.suggest import applications, deployments
from fairway.errors import UserError
from fairway.model.command import Command
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import ManualOperation, Stage, StageStatus

commands = noun("Deployments: each one attempt to bring one commit.")

Id = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", autocompletion=deployments)]
StageOption = Annotated[str, typer.Option("--stage", help="Its name or id; without it, the one that waits.")]
Rollback = Literal["default", "always", "never"]
Sort = Literal["updated_at", "created_at"]


@commands.command("list")
@with_server
def list_deployments(
    call: Call,
    app: Annotated[str, typer.Option(help="Only of this application.", autocompletion=applications)] = "",
    status: Annotated[list[DeploymentStatus] | None, typer.Option(help="May be repeated: any of them.")] = None,
    label: Labels = None,
    sort: Annotated[Sort, typer.Option(help="By the last change or by the beginning, newest first.")] = "updated_at",
    reverse: Annotated[bool, typer.Option("--reverse", "-r", help="From the other end: oldest first.")] = False,
    limit: Limit = 20,
) -> None:
    """List deployments, newest change first."""
    from fairway.cli.cards import ShownDeployment
    from fairway.cli.lists import deployment_table

    application_id = find_id(call, "applications", app) if app else ""
    query = {
        "application_id": application_id,
        "status": tuple(each.value for each in status or ()),
        "label": tuple(label or ()),
        # An older server does not know these; what it does by itself need not be said.
        "sort": "" if sort == "updated_at" else sort,
        "order": "asc" if reverse else "",
    }
    call.answer_list(list_of(call, "deployments", ShownDeployment, query, limit), deployment_table)


@commands.command("get")
@with_server
def get_deployment(call: Call, deployment: Id) -> None:
    """Show one deployment: how it stands and why, what it waits for, its stages."""
    from fairway.cli.cards import ShownDeployment, deployment_card
    from fairway.cli.output import now

    body = call.remote.get(segments("deployments", find_id(call, "deployments", deployment)))
    call.answer(body, ShownDeployment, lambda found: deployment_card(found, now()))


@commands.command("logs")
@with_server
def show_logs(
    call: Call,
    deployment: Id,
    stage: Annotated[str, typer.Option(help="Only of this stage: its name or id.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the deployment ends.")] = False,
    timestamps: Annotated[bool, typer.Option("--timestamps", "-t", help="Show when each line was written.")] = False,
) -> None:
    """Show the logs of the stages.

    With -f, lines are shown as they are written, and the command ends with the
    deployment: with 0 when it succeeded, with 1 when it did not.
    With --json, each piece of a log is one JSON object on a line of its own.
    """
    from fairway.cli.follow import LogPrinter, follow_logs

    deployment_id = find_id(call, "deployments", deployment)
    printer = LogPrinter(call, deployment_id, stage, timestamps)
    if follow:
        follow_logs(call, deployment_id, printer)
    else:
        printer.print_unread(call.get(Deployment, segments("deployments", deployment_id)))


@commands.command("wait")
@with_server
def wait_for_deployment(
    call: Call,
    deployment: Id,
    status: Annotated[
        list[DeploymentStatus] | None,
        typer.Option(help="Wait for this one, rather than for the end; may be repeated."),
    ] = None,
    timeout: Timeout = "",
) -> None:
    """Wait until a deployment has ended, or has a status.

    Without --status: to its end, a rollback included; 0 only when it succeeds.
    With it: 0 when it has that status, 1 as soon as it cannot have it any more.
    Either way 1 after --timeout.
    """
    from fairway.cli.follow import wait_for

    give_up = length_of_time("timeout", timeout)
    wait_for(call, find_id(call, "deployments", deployment), frozenset(status or ()), give_up)


@commands.command("cancel")
@with_server
def cancel_deployment(
    call: Call,
    deployment: Id,
    rollback: Annotated[
        Rollback,
        typer.Option(help="Whether to undo; default is what its file says, never also ends a rollback that runs."),
    ] = "default",
) -> None:
    """Give a deployment up.

    One that is rolling back already is given up with --rollback never; what is not undone by then stays.
    """
    deployment_id = find_id(call, "deployments", deployment)
    found = call.get(Deployment, segments("deployments", deployment_id))
    if found.status is DeploymentStatus.ROLLING_BACK and rollback != "never":
        # The agent would pass over it: what it is asked for is what it does.
        raise UserError(
            f"deployment {deployment_id} is rolling back already; to end that, too, and leave the rest as it is: "
            f"fairway deployment cancel {deployment_id} --rollback never"
        )
    body = call.remote.send("POST", segments("deployments", deployment_id, "cancel"), {"rollback": rollback})
    _asked(call, body, f"to give up deployment {deployment_id}")


@commands.command("approve")
@with_server
def approve_stage(call: Call, deployment: Id, stage: StageOption = "") -> None:
    """Say yes to a stage that waits for it."""
    _operate(call, deployment, stage, ManualOperation.APPROVE)


@commands.command("skip")
@with_server
def skip_stage(call: Call, deployment: Id, stage: StageOption = "") -> None:
    """Go on without the rest of a stage."""
    _operate(call, deployment, stage, ManualOperation.SKIP)


def _operate(call: Call, deployment: str, stage: str, operation: ManualOperation) -> None:
    deployment_id = find_id(call, "deployments", deployment)
    found = call.get(Deployment, segments("deployments", deployment_id))
    meant = the_stage(found, stage, operation)
    path = segments("deployments", deployment_id, "stages", meant.id, operation.value)
    _asked(call, call.remote.send("POST", path), f"to {operation.value} {meant.name} of deployment {deployment_id}")


def the_stage(deployment: Deployment, given: str, operation: ManualOperation) -> Stage:
    """The stage that is meant: the named one, or the only one that waits for this."""
    stages = list(deployment.stages)
    open_ones = [
        stage for stage in stages if stage.status is StageStatus.RUNNING and stage.available_operation is operation
    ]
    found = pick_stages(stages, given) if given else open_ones
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no stage of deployment {deployment.id} waits for somebody to {operation.value} it")
    lines = "".join(f"\n  {stage.id}  {stage.name}" for stage in found)
    raise UsageError(f"several stages may be meant; say which with --stage:{lines}")


def _asked(call: Call, body: bytes, what: str) -> None:
    def sentence() -> str:
        asked = decode(body, Command)
        return f"asked agent {asked.agent_id} {what}; command {asked.id}"

    call.done(body, sentence)
