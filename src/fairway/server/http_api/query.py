"""What lists are asked with, from the text of a query into the words of the store.

Pure. Everything that is not understood is refused with the parameter's name, what was found and what was expected: a
list that ignores a filter would look like an answer.
"""

import enum
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import Request
from litestar.params import QueryParameter

from fairway.config.problems import did_you_mean
from fairway.model.application import ApplicationKind, SyncStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.live_state import Health
from fairway.server.http_api.answers import place_of_answer
from fairway.server.http_api.bodies import share_of
from fairway.server.http_api.body import refuse_bad_body
from fairway.server.status_codes import InvalidRequest
from fairway.server.store.page import PageRequest, Sort

#: Nouns and blocks on one page: what is given when nobody says, and what at most.
DEFAULT_LIMIT = 50
MOST_ITEMS = 100
MOST_BLOCKS = 1000
#: A query has one condition for each id and label; a database takes only so many.
MOST_FILTERS = 32

E = TypeVar("E", bound=enum.Enum)


class Direction(enum.Enum):
    """From which end a list is read."""

    #: What is oldest, or first in the alphabet, comes first.
    ASCENDING = "asc"
    #: What is newest, or last in the alphabet, comes first.
    DESCENDING = "desc"


def _one_of(kind: type[enum.Enum]) -> str:
    return f"May be repeated; one of {', '.join(member.value for member in kind)}."


# Taken as text, because our own refusal of a word says more than Litestar's.
KindsQuery = Annotated[list[str] | None, QueryParameter(description=_one_of(ApplicationKind))]
StatusesQuery = Annotated[list[str] | None, QueryParameter(description=_one_of(DeploymentStatus))]
SyncStatusesQuery = Annotated[list[str] | None, QueryParameter(description=_one_of(SyncStatus))]
HealthsQuery = Annotated[list[str] | None, QueryParameter(description=_one_of(Health))]
LabelsQuery = Annotated[list[str] | None, QueryParameter(description="May be repeated; key:value, all must fit.")]
TimeQuery = Annotated[str | None, QueryParameter(description="A time such as 2026-01-31T12:00:00Z.")]
LimitQuery = Annotated[int, QueryParameter(description=f"How many at most: 1 to {MOST_ITEMS}.")]
OrderQuery = Annotated[
    str, QueryParameter(description="asc or desc; without it, times come newest first and names from A to Z.")
]
CursorQuery = Annotated[str, QueryParameter(description="The next_cursor of the page before; empty for the first.")]


async def check_request(request: Request[Any, Any, Any]) -> None:
    """Raise InvalidRequest for a parameter, or a body, that the route does not take; wait for room for the answer."""
    refuse_unknown_parameters(request)
    await refuse_bad_body(request)
    await place_of_answer(request.scope, share_of(request.scope))  # type: ignore[arg-type]  # a mapping, to us


def refuse_unknown_parameters(request: Request[Any, Any, Any]) -> None:
    """Raise InvalidRequest when the query has a parameter that the route does not have."""
    handler = request.route_handler
    providers = handler.resolve_dependencies()
    signatures = [handler.parsed_fn_signature, *(provider.parsed_fn_signature for provider in providers.values())]
    parameters = {name for signature in signatures for name in signature.parameters}
    known = sorted(parameters - set(providers) - set(request.path_params) - {"request", "data"} | {"project"})
    for name in request.query_params:
        if name not in known:
            near = did_you_mean(name, known)
            raise InvalidRequest(f"{name} is no parameter here; expected {', '.join(known)}{near}")


async def page(cursor: CursorQuery = "", limit: LimitQuery = DEFAULT_LIMIT) -> PageRequest:
    """The page that is asked for."""
    return PageRequest(cursor=cursor, limit=in_range("limit", limit, 1, MOST_ITEMS))


async def ordered_page(
    cursor: CursorQuery = "", limit: LimitQuery = DEFAULT_LIMIT, order: OrderQuery = ""
) -> PageRequest:
    """The page that is asked for, of a list that can be read from either end."""
    direction = the_word("order", order, Direction)
    ascending = None if direction is None else direction is Direction.ASCENDING
    return msgspec.structs.replace(await page(cursor, limit), ascending=ascending)


def in_range(name: str, number: int, least: int, most: int) -> int:
    """The number, when it is one of those that are allowed."""
    if not least <= number <= most:
        raise InvalidRequest(f"{name} is {number}; expected {least} to {most}")
    return number


def known_words(name: str, words: Iterable[str] | None, kind: type[E]) -> tuple[E, ...]:
    """What the words stand for, each once."""
    known = {member.value: member for member in kind}
    asked = few(name, words)
    for word in asked:
        if word not in known:
            near = did_you_mean(word, known)
            raise InvalidRequest(f"{name} is {word!r}; expected one of {', '.join(known)}{near}")
    return tuple(known[word] for word in asked)


def the_word(name: str, word: str, kind: type[E]) -> E | None:
    """What the word stands for; `None` for an empty one, which lets all through."""
    return known_words(name, [word], kind)[0] if word else None


def sorting(asked: PageRequest, sort: str, *choices: Sort) -> PageRequest:
    """The page of a list that is sorted so, when an index serves it."""
    known = {choice.value: choice for choice in choices}
    if sort not in known:
        near = did_you_mean(sort, known)
        raise InvalidRequest(f"sort is {sort!r}; expected {' or '.join(known)}{near}")
    return msgspec.structs.replace(asked, sort=known[sort])


def a_moment(name: str, text: str | None) -> datetime | None:
    """The moment that is written; `None` for none, which leaves an end open."""
    if text is None:
        return None
    try:
        # A plus that nobody escaped arrives as a space.
        moment = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError as error:
        raise InvalidRequest(f"{name} is {text[:40]!r}; expected a time such as 2026-01-31T12:00:00Z") from error
    if moment.tzinfo is None:
        raise InvalidRequest(f"{name} is {text!r}; expected a time with its zone, such as 2026-01-31T12:00:00Z")
    return moment


def few(name: str, values: Iterable[str] | None) -> tuple[str, ...]:
    """The values, each once; InvalidRequest when they are too many for one query."""
    given = tuple(values or ())
    if len(given) > MOST_FILTERS:
        raise InvalidRequest(f"{name} is given {len(given)} times; expected at most {MOST_FILTERS}, ask in turns")
    return tuple(dict.fromkeys(given))


def labels(texts: Iterable[str] | None) -> dict[str, str]:
    """The labels that are asked for, each written as `key:value`; a value may hold colons of its own."""
    found: dict[str, str] = {}
    for text in few("label", texts):
        key, colon, value = text.partition(":")
        if not (key and colon):
            raise InvalidRequest(f"label is {text!r}; expected key:value")
        if key in found:
            raise InvalidRequest(f"label {key!r} is asked for with two values; expected one, since all must fit")
        found[key] = value
    return found
