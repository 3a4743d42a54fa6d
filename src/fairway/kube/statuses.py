"""From the API server's answers to errors in words.

The server answers what it refuses with a `Status`; a proxy or load balancer on the way may answer anything. Everything
here is pure: what was asked for, the number and the body of the answer, and out comes the error.
"""

import re
from http import HTTPStatus

import msgspec

from fairway.errors import FairwayError
from fairway.kube.errors import (
    AlreadyThere,
    ClusterAway,
    Conflict,
    CredentialsRefused,
    Expired,
    Invalid,
    NotAllowed,
    NotThere,
    WebhookAway,
)

#: How much of an answer that is no Status is shown.
_SHOWN_CHARACTERS = 200
#: What is longer is more than anybody reads.
_LONGEST_CAUSE = 600


class Cause(msgspec.Struct, frozen=True):
    """One thing that is wrong."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, frozen=True):
    """What a Status is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: int = msgspec.field(name="retryAfterSeconds", default=0)


class Status(msgspec.Struct, frozen=True):
    """What the API server says instead of an object."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for, as permissions name it."""

    #: Name of the cluster.
    cluster: str
    verb: str
    resource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        what = f"{self.verb} {self.resource}".rstrip() + (f" {self.name!r}" if self.name else "")
        return what + (f" in namespace {self.namespace}" if self.namespace else "")


def status_of(body: bytes) -> Status | None:
    """The Status in an answer; None where it is something else."""
    try:
        found = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if found.kind == "Status" else None


def refusal(code: int, body: bytes, asked: Asked) -> FairwayError:
    """The error for an answer that is not a success."""
    status = status_of(body)
    if status is None:
        status = Status(message=_shown(body), code=code)
    return error_of(msgspec.structs.replace(status, code=code), asked)


#: What the server says, as a fault of its own, to an applied object whose fields or values are not those of its kind.
_UNTYPED = re.compile(
    r"failed to create typed patch object \([^)]*\): (?:errors:\s*)?|"
    r"failed to convert new object \([^)]*\) to proper version: unable to convert unstructured object to [^:]*: "
)
#: In what it says to whoever comes without credentials.
_NOBODY = 'User "system:anonymous"'
#: In what it says when somebody else is to judge or to convert an object, and does not answer.
_WEBHOOK = "webhook"


def error_of(status: Status, asked: Asked) -> FairwayError:
    """The error for a Status."""
    said = status.message or f"HTTP {status.code}"
    match status.code:
        case HTTPStatus.UNAUTHORIZED:
            return CredentialsRefused(
                f"The cluster {asked.cluster} does not take the credentials it was given ({said}); they may be over: "
                "renew them"
            )
        case HTTPStatus.FORBIDDEN if _NOBODY in status.message:
            return CredentialsRefused(
                f"The cluster {asked.cluster} was given no credentials ({said}); what says how it is reached may be in "
                "the middle of being written"
            )
        case HTTPStatus.FORBIDDEN:
            return _not_allowed(status, asked)
        case HTTPStatus.NOT_FOUND:
            return NotThere(f"The cluster {asked.cluster} does not have what is needed to {asked}: {said}")
        case HTTPStatus.GONE:
            return Expired(said)
        case HTTPStatus.CONFLICT if status.reason == "AlreadyExists":
            return AlreadyThere(f"{_subject(asked)} is there already, in the cluster {asked.cluster}")
        case HTTPStatus.CONFLICT:
            return _conflict(status, asked)
        # It says of objects that nobody converts that it has not read them yet.
        case HTTPStatus.TOO_MANY_REQUESTS if _WEBHOOK in status.message:
            return _webhook_away(said, asked)
        case HTTPStatus.TOO_MANY_REQUESTS:
            return ClusterAway(f"The cluster {asked.cluster} is too busy to {asked}: {said}")
        case code if HTTPStatus.BAD_REQUEST <= code < HTTPStatus.INTERNAL_SERVER_ERROR:
            return _invalid(status, asked)
    if untyped := _UNTYPED.match(status.message):
        return _invalid(_with_causes(status, status.message[untyped.end() :]), asked)
    if _WEBHOOK in status.message:
        return _webhook_away(said, asked)
    return ClusterAway(f"The cluster {asked.cluster} could not {asked}: HTTP {status.code}: {said}")


def _webhook_away(said: str, asked: Asked) -> WebhookAway:
    return WebhookAway(
        f"The cluster {asked.cluster} cannot {asked}, because a webhook that it has to ask does not answer as it "
        f"should: {said}; mend the webhook, or have whoever runs the cluster take its configuration away"
    )


_RBAC = re.compile(
    r'cannot (?P<verb>\S+) resource "(?P<plural>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)
_USER = re.compile(r'User "(?P<user>[^"]+)"')


def _not_allowed(status: Status, asked: Asked) -> FairwayError:
    denied = _RBAC.search(status.message)
    if denied is None:
        # A quota, an admission rule, a namespace that is about to go: the server's own words say it best.
        return NotAllowed(
            f"The cluster {asked.cluster} refuses to {asked}: {status.message}",
            verb=asked.verb,
            resource=asked.resource,
            namespace=asked.namespace,
        )
    group = denied["group"]
    resource = f"{denied['plural']}.{group}" if group else denied["plural"]
    # The server counts each namespace as one that is in itself; it belongs to none.
    namespace = "" if resource == "namespaces" else denied["namespace"] or ""
    who = _USER.search(status.message)
    where = f"in namespace {namespace} of" if namespace else "in all of"
    return NotAllowed(
        f"{who['user'] if who else 'The agent'} is not allowed to {denied['verb']} {resource} {where} "
        f"the cluster {asked.cluster}; grant it by a {'Role' if namespace else 'ClusterRole'}",
        verb=denied["verb"],
        resource=resource,
        namespace=namespace,
    )


_MANAGER = re.compile(r'conflict with "(?P<manager>[^"]+)"')


def _conflict(status: Status, asked: Asked) -> Conflict:
    causes = status.details.causes if status.details else ()
    theirs: dict[str, list[str]] = {}
    for cause in causes:
        named = _MANAGER.search(cause.message)
        if cause.reason == "FieldManagerConflict" and named:
            theirs.setdefault(named["manager"], []).append(cause.field)
    if not theirs:
        return Conflict(f"{_subject(asked)} changed in the cluster {asked.cluster} meanwhile: {status.message}")
    whose = "; ".join(f"{manager} manages {', '.join(fields)}" for manager, fields in theirs.items())
    return Conflict(
        f"{_subject(asked)} has other values in the cluster {asked.cluster} for fields that others manage: {whose}",
        theirs=theirs,
    )


NO_SUCH_FIELD = "there is no such field"
#: A field, and what is wrong with it; the names of a list's entries are in brackets and may hold anything.
_FIELD = re.compile(r"\s*\.(?P<field>(?:[^\s:\[]|\[[^\]]*\])+): (?P<message>.*)")
#: A value as the server's own language writes it.
_VALUE = re.compile(r"&(?:value\.valueUnstructured)?\{(?:Value:)?(?P<value>.*)\}$")


def _with_causes(status: Status, said: str) -> Status:
    """The Status as if the server had said field by field what it says in one text."""
    lines = [_FIELD.fullmatch(line) for line in said.splitlines()]
    causes = [
        Cause(
            field=found["field"],
            message=_VALUE.sub(r"\g<value>", found["message"]).replace("field not declared in schema", NO_SUCH_FIELD),
        )
        for found in lines
        if found
    ]
    details = Details(causes=tuple(causes)) if len(causes) == len(lines) else None
    return msgspec.structs.replace(status, message=said, details=details)


#: What the server calls a field and is none.
_FIELDS = {"[]": "all of it together"}


#: What it says of fields to whoever writes an object as a whole.
_STRICT = re.compile(r'.* cannot be handled as a .*: strict decoding error: (?P<said>unknown field "[^"]+".*)', re.S)
_UNKNOWN = re.compile(r'(?:^|, )unknown field "(?P<field>[^"]+)"')


def _invalid(status: Status, asked: Asked) -> Invalid:
    found = [Cause(message=NO_SUCH_FIELD, field=each) for each in _unknown_fields(status.message)]
    told = found or (status.details.causes if status.details else ())
    causes = tuple(dict.fromkeys((cause.field, cause.message) for cause in told))
    named = [f"{_FIELDS.get(field, field)}: {_without_value(message)}" for field, message in causes if field]
    said = "; ".join(named) if named and len(named) == len(causes) else _without_value(status.message)
    return Invalid(f"The cluster {asked.cluster} does not accept {_subject(asked)}: {said}", causes=causes)


def _unknown_fields(message: str) -> list[str]:
    """The fields that no object of the kind has, where there is nothing else wrong."""
    strict = _STRICT.fullmatch(message)
    if strict is None or _UNKNOWN.sub("", strict["said"]):
        return []
    return _UNKNOWN.findall(strict["said"])


def _without_value(message: str) -> str:
    """The server shows what it was given, which may be all of a pod's template, before it says what is wrong."""
    if len(message) <= _LONGEST_CAUSE:
        return message
    value, _, wrong = message.rpartition(": ")
    return f"{value[:_SHOWN_CHARACTERS]}…: {wrong}" if len(wrong) < _LONGEST_CAUSE else f"{message[:_LONGEST_CAUSE]}…"


def _subject(asked: Asked) -> str:
    where = f" in namespace {asked.namespace}" if asked.namespace else ""
    return f"{asked.resource or 'the request'} {asked.name!r}{where}" if asked.name else str(asked)


def _shown(body: bytes) -> str:
    text = " ".join(body[: 4 * _SHOWN_CHARACTERS].decode("utf-8", errors="replace").split())
    return text[:_SHOWN_CHARACTERS] + ("…" if len(text) > _SHOWN_CHARACTERS else "")
