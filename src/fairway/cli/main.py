"""`fairway`: the list of commands."""

from typing import Annotated

import typer

from fairway import __version__
from fairway.cli.on_demand import GroupOnDemand, OnDemand

_RUN, _WORK, _PEOPLE, _HERE, _FILES = "Run", "Deliver", "People and programs", "This machine", "Files"


class Commands(GroupOnDemand):
    """All commands; each is loaded when it is called."""

    on_demand = {
        "up": OnDemand("fairway.cli.up.command", "Run everything on this machine, with a demo.", _RUN),
        "server": OnDemand("fairway.cli.server", "Run the control plane; keep its data safe.", _RUN),
        "app": OnDemand("fairway.cli.app", "Applications: register, look, deploy now.", _WORK),
        "deployment": OnDemand("fairway.cli.deployment", "Deployments: follow, wait, approve, give up.", _WORK),
        "agent": OnDemand("fairway.cli.agent", "Agents: run, register, look, change keys.", _WORK),
        "plugin": OnDemand("fairway.cli.plugin", "Plugins: start one under an agent, begin your own.", _WORK),
        "event": OnDemand("fairway.cli.event", "Events: tell of a new image.", _WORK),
        "plan-preview": OnDemand("fairway.cli.plan_preview", "See what merging a branch would deploy.", _WORK),
        "encrypt": OnDemand("fairway.cli.encrypt", "Seal a secret that only one agent can open.", _WORK),
        "project": OnDemand("fairway.cli.project", "Projects: owners of applications and agents.", _PEOPLE),
        "user": OnDemand("fairway.cli.user", "Users: people who sign in.", _PEOPLE),
        "role": OnDemand("fairway.cli.role", "Roles: what people may do.", _PEOPLE),
        "apikey": OnDemand("fairway.cli.apikey", "API keys: how programs are known.", _PEOPLE),
        "webhook": OnDemand("fairway.cli.webhook", "Webhooks: let Git hosts tell of pushes.", _PEOPLE),
        "audit": OnDemand("fairway.cli.audit", "Audit: who changed what.", _PEOPLE),
        "profile": OnDemand("fairway.cli.profile", "Profiles: the servers you work with, and your keys.", _HERE),
        "completion": OnDemand("fairway.cli.completion", "Print the completion script of a shell.", _HERE),
        "lint": OnDemand("fairway.cli.lint", "Check configuration files, and manifests.", _FILES),
        "schema": OnDemand("fairway.cli.schema", "Print the JSON Schema of a kind of file.", _FILES),
    }


app = typer.Typer(
    name="fairway",
    help="One continuous-delivery system for every platform.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    cls=Commands,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairway {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """One continuous-delivery system for every platform."""
