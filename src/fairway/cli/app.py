"""`fairway app …`: applications: register, look, change, deploy now, stop deploying."""

from typing import Annotated, Any, Literal

import typer

from fairway.cli.call import Call, UsageError, decode, noun, with_server
from fairway.cli.find import find_id, list_of
from fairway.cli.options import Labels, Limit, Timeout, Yes, confirm, key_values, length_of_time
from fairway.cli.remote import Refused, segments
from fairway.cli.suggest import agents, applications
from fairway.errors import UserError
from fairway.model.application import Application, SyncStatus
from fairway.model.deployment import Deployment

commands = noun("Applications: what is deployed, from where in Git.")

App = Annotated[str, typer.Argument(help="Its id, the beginning of it, or its name.", autocompletion=applications)]
Kind = Literal["", "kubernetes", "terraform", "lambda", "cloudrun", "ecs"]
Strategy = Literal["auto", "quick_sync", "pipeline"]
Targets = Annotated[list[str] | None, typer.Option(help="PLUGIN:TARGET, for agents with plugins; may be repeated.")]


class NothingTold(UserError):
    """An application of which nobody has looked yet at what runs."""


@commands.command("list")
@with_server
def list_applications(
    call: Call,
    name: Annotated[str, typer.Option(help="Only with this name.")] = "",
    agent: Annotated[str, typer.Option(help="Only of this agent.", autocompletion=agents)] = "",
    label: Labels = None,
    disabled: Annotated[
        bool | None, typer.Option("--disabled/--enabled", help="Only disabled, or only enabled ones.")
    ] = None,
    status: Annotated[list[SyncStatus] | None, typer.Option(help="May be repeated: any of them.")] = None,
    limit: Limit = 50,
) -> None:
    """List applications, newest change first."""
    from fairway.cli.lists import application_table

    agent_id = find_id(call, "agents", agent) if agent else ""
    statuses = tuple(each.value for each in status or ())
    labels = tuple(label or ())
    query = {"name": name, "agent_id": agent_id, "label": labels, "disabled": disabled, "sync_status": statuses}
    call.answer_list(list_of(call, "applications", Application, query, limit), application_table)


@commands.command("get")
@with_server
def get_application(call: Call, app: App) -> None:
    """Show one application: how it stands and why, what runs, where it comes from."""
    _show(call, call.remote.get(segments("applications", find_id(call, "applications", app))))


@commands.command("live")
@with_server
def show_live_state(call: Call, app: App) -> None:
    """Show what runs of an application: each resource, its health and why, below what it belongs to."""
    from fairway.cli.live import live_card
    from fairway.cli.output import now
    from fairway.model.live_state import LiveState

    path = segments("applications", find_id(call, "applications", app))
    try:
        body = call.remote.get(f"{path}/live-state")
    except Refused as error:
        if error.status != 404:
            raise
        raise NothingTold(f"no agent has told yet what runs of {app}") from error
    call.answer(body, LiveState, lambda live: live_card(call.get(Application, path), live, now()))


@commands.command("add")
@with_server
def add_application(
    call: Call,
    name: Annotated[str, typer.Argument(help="What people call it.")],
    agent: Annotated[str, typer.Option(help="The agent that deploys it.", autocompletion=agents)],
    repository: Annotated[str, typer.Option(help="The repository's id in the agent's configuration.")],
    path: Annotated[str, typer.Option(help="Its directory, from the root of the repository.")],
    config_filename: Annotated[str, typer.Option(help="Its file there; without it, app.pipecd.yaml.")] = "",
    kind: Annotated[Kind, typer.Option(help="Its platform, for agents without plugins.")] = "",
    platform_provider: Annotated[str, typer.Option(help="With --kind: the place it is deployed to.")] = "",
    target: Targets = None,
    label: Labels = None,
    description: Annotated[str, typer.Option(help="A sentence about it.")] = "",
) -> None:
    """Register an application that stands in Git."""
    said: dict[str, Any] = {
        "config_filename": config_filename,
        "kind": kind,
        "platform_provider": platform_provider,
        "deploy_targets_by_plugin": _targets(target or []),
        "labels": key_values("label", label),
        "description": description,
    }
    agent_id = find_id(call, "agents", agent)
    body = {"name": name, "agent_id": agent_id, "repository_id": repository, "path": path}
    body |= {field: value for field, value in said.items() if value}
    _show(call, call.remote.send("POST", segments("applications"), body))


@commands.command("change")
@with_server
def change_application(
    call: Call,
    app: App,
    target: Targets = None,
    platform_provider: Annotated[str, typer.Option(help="The place of one with a kind.")] = "",
) -> None:
    """Deploy it elsewhere, from its next deployment on."""
    if not target and not platform_provider:
        raise UsageError("nothing is to change; give --target or --platform-provider")
    said = {"deploy_targets_by_plugin": _targets(target or []), "platform_provider": platform_provider}
    change = {field: value for field, value in said.items() if value}
    path = segments("applications", find_id(call, "applications", app))
    former = call.get(Application, path)
    body = call.remote.send("PATCH", path, change)
    _show(call, body)
    if left := _left(former, decode(body, Application)):
        call.say(
            f"\nWhat runs at {', '.join(left)} stays there until a deployment with `prune` removes it; "
            f"`fairway app live {app}` shows it."
        )


@commands.command("sync")
@with_server
def sync_application(
    call: Call,
    app: App,
    strategy: Annotated[Strategy, typer.Option(help="How to get there; auto leaves it to the plan.")] = "auto",
    wait: Annotated[bool, typer.Option("--wait", help="Follow it to its end; 0 only when it succeeds.")] = False,
    timeout: Timeout = "",
) -> None:
    """Deploy the head of the branch now."""
    from fairway.cli.sync import follow_command
    from fairway.model.command import Command

    give_up = length_of_time("timeout", timeout)
    if give_up and not wait:
        raise UsageError("--timeout is about waiting; give --wait as well")
    application_id = find_id(call, "applications", app)
    body = call.remote.send("POST", segments("applications", application_id, "sync"), {"strategy": strategy})
    if wait:
        follow_command(call, body, give_up)
    elif call.as_json:
        call.print_json(body)
    else:
        asked = decode(body, Command)
        call.say(f"asked agent {asked.agent_id} to deploy {app}; command {asked.id}")


@commands.command("enable")
@with_server
def enable_application(call: Call, app: App) -> None:
    """Deploy it again from now on."""
    _show(call, call.remote.send("POST", segments("applications", find_id(call, "applications", app), "enable")))


@commands.command("disable")
@with_server
def disable_application(call: Call, app: App) -> None:
    """Leave it alone: nothing is deployed until it is enabled."""
    _show(call, call.remote.send("POST", segments("applications", find_id(call, "applications", app), "disable")))


@commands.command("delete")
@with_server
def delete_application(call: Call, app: App, yes: Yes = False) -> None:
    """Take it off the list. What runs goes on running; its deployments stay on record."""
    application_id = find_id(call, "applications", app)
    confirm(f"Delete application {app} ({application_id})?", yes)
    call.print_json(call.remote.send("DELETE", segments("applications", application_id)))
    call.say(f"deleted {application_id}")


def _show(call: Call, body: bytes) -> None:
    from fairway.cli.cards import application_card
    from fairway.cli.output import now

    call.answer(
        body, Application, lambda application: application_card(application, now(), _failure(call, application))
    )


def _failure(call: Call, application: Application) -> str:
    """Why the newest deployment of an application that is not deployed failed; empty while none has."""
    from fairway.cli.cards import application_word

    newest = application.last_triggered
    if newest is None or application_word(application) != "not_deployed":
        return ""
    try:
        deployment = call.get(Deployment, segments("deployments", newest.deployment_id))
    except Refused as error:
        if error.status != 404:
            raise
        return ""
    return deployment.status_reason if deployment.status.is_terminal else ""


def _left(before: Application, after: Application) -> list[str]:
    """The places to which an application is not deployed any more."""

    def places(application: Application) -> list[str]:
        provider = [application.platform_provider] if application.platform_provider else []
        named = application.deploy_targets_by_plugin.items()
        return [*provider, *(f"{plugin}:{target}" for plugin, targets in named for target in targets)]

    return [each for each in places(before) if each not in places(after)]


def _targets(texts: list[str]) -> dict[str, list[str]]:
    """PLUGIN:TARGET, as often as there are places."""
    found: dict[str, list[str]] = {}
    for text in texts:
        plugin, colon, target = text.partition(":")
        if not (plugin and colon and target):
            raise UsageError(f"--target is {text!r}; expected PLUGIN:TARGET")
        found.setdefault(plugin, []).append(target)
    return found
