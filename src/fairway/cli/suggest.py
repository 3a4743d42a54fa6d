"""What the shell offers when somebody presses Tab: names and ids from the server.

Bounded in time and silent: a shell that hangs or prints errors over the prompt is worse than no suggestion.
"""

import os
from collections.abc import Callable
from typing import TypeVar

import typer

#: Seconds in which the server must have answered: half of them to connect, half to speak. The variable is for servers
#: that are far away.
PATIENCE = 1.0
SECONDS = "FAIRWAY_COMPLETION_SECONDS"

T = TypeVar("T")
Suggestions = list[tuple[str, str]]


def applications(context: typer.Context, incomplete: str) -> Suggestions:
    return _from_server(context, "applications", incomplete)


def agents(context: typer.Context, incomplete: str) -> Suggestions:
    return _from_server(context, "agents", incomplete)


def deployments(context: typer.Context, incomplete: str) -> Suggestions:
    return _from_server(context, "deployments", incomplete)


def profile_names(start: str) -> list[str]:
    """The profiles that begin so."""
    from fairway.cli.profiles import load_profiles, profiles_path

    return _quietly(
        lambda: [name for name in load_profiles(profiles_path(os.environ)).profiles if name.startswith(start)]
    )


def _from_server(context: typer.Context, nouns: str, incomplete: str) -> Suggestions:
    given = context.params
    return _quietly(lambda: _ask(nouns, incomplete, given.get("profile") or "", given.get("project") or ""))


def _ask(nouns: str, incomplete: str, profile: str, project: str) -> Suggestions:
    import msgspec

    from fairway.cli.find import Named, Page
    from fairway.cli.profiles import choose, load_profiles, profiles_path
    from fairway.cli.remote import Remote, segments

    chosen = choose(load_profiles(profiles_path(os.environ)), os.environ, profile, project)
    with Remote(chosen, patience=float(os.environ.get(SECONDS) or PATIENCE) / 2) as remote:
        body = remote.get_once(segments(nouns), {"limit": 100})
    found = [msgspec.json.decode(item, type=Named) for item in msgspec.json.decode(body, type=Page).items]
    # A name where names are unique, else the id; what fits either is offered.
    names = [each.name for each in found]
    offered = [
        (each.name, each.id) if each.name and names.count(each.name) == 1 else (each.id, each.application_name)
        for each in found
    ]
    return [(word, about) for word, about in offered if word.startswith(incomplete)]


def _quietly(look: Callable[[], list[T]]) -> list[T]:
    try:
        return look()
    except Exception:  # whatever it is, nobody asked for an answer
        return []
