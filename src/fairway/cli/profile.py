"""`fairway profile …`: the servers you work with. A key is asked for, never an argument that others could read."""

import os
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
import typer

from fairway.cli.call import UsageError, decode, ending, noun
from fairway.cli.profiles import (
    API_KEY,
    Profile,
    Profiles,
    change_profiles,
    load_profiles,
    profiles_path,
    wrong_with_address,
)
from fairway.cli.remote import Refused, Remote
from fairway.cli.suggest import profile_names

commands = noun("Profiles: the servers you work with, and your keys.")

Name = Annotated[str, typer.Argument(help="Its name.", autocompletion=profile_names)]


class Session(msgspec.Struct):
    """Who the server says we are."""

    name: str = ""
    roles: tuple[str, ...] = ()
    project_id: str = ""


@commands.command("add")
def add_profile(
    name: Annotated[str, typer.Argument(help="What you call it.")],
    server: Annotated[str, typer.Option(help="Where its API is, such as https://fairway.example.com.")],
    project: Annotated[str, typer.Option(help="The project you mean when you do not say.")] = "",
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust, in PEM, not the machine's.")] = None,
) -> None:
    """Add a server, check that it knows you, and use it from now on.

    The API key is asked for without showing it, or read from stdin, or from FAIRWAY_API_KEY.
    """

    def work() -> None:
        certificates = str(ca_file.absolute()) if ca_file else ""
        address = checked_address(server)
        profile = Profile(server=address, api_key=_key(), project=project, ca_file=certificates)
        with Remote(profile) as remote:
            who = introduce(remote)
        path = profiles_path(os.environ)
        change_profiles(path, lambda saved: saved.with_profile(name, profile))
        typer.echo(f"{address} knows you as {who}")
        typer.echo(f"profile {name} is stored in {path} and used from now on")

    ending(work)


@commands.command("list")
def list_profiles(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, without the keys.")] = False,
) -> None:
    """List the servers; the one with a mark is used when you do not say."""

    def work() -> None:
        from fairway.cli.output import a_console, show, table

        saved = load_profiles(profiles_path(os.environ))
        if as_json:
            typer.echo(msgspec.json.encode([_told(name, saved) for name in saved.profiles]))
            return
        rows = [
            ("✓" if name == saved.current else "", name, each.server, each.project, "yes" if each.api_key else "no")
            for name, each in saved.profiles.items()
        ]
        empty = "no profiles; `fairway profile add NAME --server URL` makes one"
        show(a_console(), table(("", "NAME", "SERVER", "PROJECT", "KEY"), rows, empty))

    ending(work)


@commands.command("use")
def use_profile(name: Name) -> None:
    """Use this server from now on."""

    def work() -> None:
        saved = change_profiles(profiles_path(os.environ), lambda saved: saved.with_profile(name, saved.named(name)))
        typer.echo(f"{name} ({saved.named(name).server}) is used from now on")

    ending(work)


@commands.command("remove")
def remove_profile(name: Name) -> None:
    """Forget a server and the key for it. The key stays valid; `fairway apikey disable` ends it."""

    def work() -> None:
        change_profiles(profiles_path(os.environ), lambda saved: saved.without_profile(name))
        typer.echo(f"{name} is forgotten")

    ending(work)


def _told(name: str, saved: Profiles) -> dict[str, str | bool]:
    """A profile for programs; whoever needs the key knows where it is."""
    profile = saved.profiles[name]
    return {
        "name": name,
        "server": profile.server,
        "project": profile.project,
        "ca_file": profile.ca_file,
        "has_key": bool(profile.api_key),
        "current": name == saved.current,
    }


def checked_address(server: str) -> str:
    """The address as it is stored; UsageError for what is none."""
    if wrong := wrong_with_address(server):
        raise UsageError(f"--server {wrong}")
    parts = urlsplit(server)
    if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
        typer.echo(f"fairway: the key will go to {parts.hostname} without TLS; use https:// where you can", err=True)
    return server.rstrip("/")


def introduce(remote: Remote) -> str:
    """Who the server takes us for."""
    try:
        session = decode(remote.get("/session"), Session)
    except Refused as error:
        if error.status != 404:
            raise
        # A server of before /session: any list tells whether the key is good.
        remote.get("/agents", {"limit": 1})
        return "the holder of a valid key"
    roles = f" ({', '.join(session.roles)})" if session.roles else ""
    return f"{session.name}{roles}"


def _key() -> str:
    if key := os.environ.get(API_KEY, ""):
        return key
    if sys.stdin.isatty():
        key = str(typer.prompt("API key", hide_input=True, err=True)).strip()
    else:
        key = sys.stdin.readline().strip()
    if not key:
        raise UsageError(f"there is no key; type it, pipe it in, or set {API_KEY}")
    return key
