"""What is said of one object's health, and the few words for reading a status that all kinds share."""

import enum
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from fairway.kube.manifest import Body
from fairway.model.live_state import Health


class Standing(enum.Enum):
    """What somebody who waits for an object does next."""

    #: It is as it should be: go on.
    DONE = "done"
    #: It is on its way: wait.
    WAITING = "waiting"
    #: Waiting will not help: give up.
    STUCK = "stuck"


class Healthiness(msgspec.Struct, frozen=True):
    """How an object is."""

    health: Health
    #: In words; empty where there is nothing to say.
    reason: str = ""
    standing: Standing = Standing.DONE


def healthy(reason: str = "") -> Healthiness:
    """As it should be."""
    return Healthiness(Health.HEALTHY, reason)


def on_its_way(reason: str) -> Healthiness:
    """Not as it should be yet."""
    return Healthiness(Health.UNHEALTHY, reason, Standing.WAITING)


def stuck(reason: str) -> Healthiness:
    """Not as it should be, and waiting will not change that."""
    return Healthiness(Health.UNHEALTHY, reason, Standing.STUCK)


def section(body: Body, name: str) -> Mapping[str, Any]:
    """A part of an object that may be missing or, in a custom resource, be anything."""
    found = body.get(name)
    return found if isinstance(found, Mapping) else {}


def number(of: Mapping[str, Any], name: str, otherwise: int = 0) -> int:
    """A count that may be missing; some custom resources write their generation as text."""
    found = of.get(name)
    if isinstance(found, str) and found.isdecimal():
        return int(found)
    return found if isinstance(found, int) else otherwise


def counted(count: int, what: str) -> str:
    """So many of something: `1 pod`, `2 pods`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def conditions(body: Body) -> dict[str, Mapping[str, Any]]:
    """The conditions of an object by type."""
    found = section(body, "status").get("conditions")
    listed = found if isinstance(found, Iterable) and not isinstance(found, str | Mapping) else ()
    return {str(each["type"]): each for each in listed if isinstance(each, Mapping) and "type" in each}


def is_true(condition: Mapping[str, Any] | None) -> bool:
    """Whether a condition holds."""
    return condition is not None and condition.get("status") == "True"


def is_false(condition: Mapping[str, Any] | None) -> bool:
    """Whether a condition is known not to hold."""
    return condition is not None and condition.get("status") == "False"


def said(condition: Mapping[str, Any]) -> str:
    """What a condition says, in one line: its reason and message."""
    parts = (" ".join(str(condition.get(name) or "").split()) for name in ("reason", "message"))
    return ": ".join(part for part in parts if part) or f"{condition['type']} is {condition.get('status')}"


def not_observed(body: Body) -> bool:
    """Whether its controller has not seen its newest form yet."""
    generation = number(section(body, "metadata"), "generation")
    return number(section(body, "status"), "observedGeneration") < generation
