"""Which thing a person means: by its whole id, the beginning of it, or its name.

The server is asked for the id first; only when it knows none does the list come. When several fit, all of them are
named and nothing is done.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from fairway.cli.call import Call, UsageError, decode
from fairway.cli.remote import Query, Refused, segments

#: Pages of a list that are looked through for the beginning of an id; what is further back needs its whole id.
MOST_PAGES = 10
PAGE = 100


#: Lists that come in one piece, because there are never many; their things are not found by themselves.
WHOLE = frozenset({"api-keys", "projects", "roles", "webhooks"})
#: Lists that may be too long to be looked through, and that the server looks through by name.
_BY_NAME = frozenset({"applications"})


class Named(msgspec.Struct, frozen=True):
    """What is needed of anything in a list to find it."""

    id: str
    name: str = ""
    application_name: str = ""


class Page(msgspec.Struct, frozen=True):
    """A page of any list; the items stay as they came."""

    items: list[msgspec.Raw]
    next_cursor: str = ""


T = TypeVar("T")


def pages(call: Call, path: str, query: Query, most: int) -> Iterator[Page]:
    """The pages of a list, at most so many."""
    cursor = ""
    for _ in range(most):
        page = call.get(Page, path, {**query, "limit": PAGE, "cursor": cursor})
        yield page
        cursor = page.next_cursor
        if not cursor:
            return


def find_id(call: Call, nouns: str, given: str) -> str:
    """The whole id of what is meant; UsageError lists the candidates when there are several."""
    if not given or given.isspace():
        raise UsageError("an id is empty; expected an id, the beginning of one, or a name")
    noun = nouns.removesuffix("s").replace("api-key", "API key")
    if nouns in WHOLE:
        return pick(given, whole_list(call, nouns, Named)[1], UsageError(f"there is no {noun} {given!r}"), noun)
    try:
        return call.get(Named, segments(nouns, given)).id
    except Refused as error:
        if error.status != 404:
            raise
        missing = error
    if nouns in _BY_NAME and (known := listed(call, nouns, most=1, name=given)):
        return pick(given, known, missing, noun)
    return pick(given, listed(call, nouns), missing, noun)


def listed(call: Call, nouns: str, most: int = MOST_PAGES, **query: str) -> list[Named]:
    """The newest things of a list."""
    return [decode(item, Named) for page in pages(call, segments(nouns), query, most) for item in page.items]


def pick(given: str, known: list[Named], missing: Exception, noun: str) -> str:
    """The id of the one that has this name or begins so."""
    fits: tuple[Callable[[Named], bool], ...] = (
        lambda each: each.name == given,
        lambda each: each.id.startswith(given),
    )
    for fit in fits:
        found = [each for each in known if fit(each)]
        if len(found) == 1:
            return found[0].id
        if found:
            lines = "".join(f"\n  {each.id}  {each.name or each.application_name}" for each in found[:10])
            more = f"\n  and {len(found) - 10} more" if len(found) > 10 else ""
            raise UsageError(f"{given!r} may be {len(found)} {noun}s; say which:{lines}{more}")
    if newest := next((each.id for each in known if each.application_name == given), ""):
        raise UsageError(f"{given!r} is an application, and no {noun}; its newest {noun} is {newest[:8]}")
    from fairway.config.problems import did_you_mean

    missing.args = (f"{missing}{did_you_mean(given, (each.name for each in known if each.name))}",)
    raise missing


def list_of(call: Call, nouns: str, kind: type[T], query: Query, limit: int) -> tuple[bytes, list[T]]:
    """The first `limit` of a list, as JSON in the shape of a page and in our words."""
    body = call.remote.get(segments(nouns), {**query, "limit": min(limit, PAGE)})
    page = decode(body, Page)
    items, cursor = page.items, page.next_cursor
    if cursor and len(items) < limit:
        while cursor and len(items) < limit:
            more = {**query, "limit": min(limit - len(items), PAGE), "cursor": cursor}
            page = call.get(Page, segments(nouns), more)
            items, cursor = [*items, *page.items], page.next_cursor
        body = msgspec.json.encode(Page(items, cursor))
    return body, [decode(bytes(item), kind) for item in items]


def whole_list(call: Call, nouns: str, kind: type[T]) -> tuple[bytes, list[T]]:
    """A list that comes in one piece."""
    body = call.remote.get(segments(nouns))
    return body, [decode(bytes(item), kind) for item in decode(body, Page).items]
