"""Schemathesis over our own OpenAPI document: a whole run of it against one server, and what came of it.

What it invents has no ids that exist, and names projects that the key is not for, so that nearly every request would
end at the same two refusals. So it gets the document with the ids of things that are there, and without the parameters
that nobody can guess. It still says wrong ids of its own, when it means to.
"""

import copy
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import schemathesis
from jsonschema import Draft202012Validator, FormatChecker
from schemathesis import engine
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.engine.events import EngineEvent, FatalError, NonFatalError, ScenarioFinished
from schemathesis.engine.recorder import ScenarioRecorder

Document = dict[str, Any]
#: What an operation is called: its method and its path.
Operation = str

#: A stream has no end to wait for; its own tests read it.
_ENDLESS = "/api/v1/stream"
#: Invented ones are refused, and rightly so.
_NOT_GUESSED = ("project", "cursor")
#: How good requests are refused for what a schema cannot say: a text that a database cannot hold, one that cannot be
#: written on a line, and 1.0, which is a whole number in a schema and none in a program.
_UNSAID = re.compile(r"has a NUL character|, all printable|is the number -?[0-9]+\.0; expected a whole number")
#: Things whose names are chosen by who makes them, by the parameters in paths: by then there may be one of any name.
_CHOSEN = {"user_id", "name"}


class Known(NamedTuple):
    """What there is to be asked for."""

    #: By the names of parameters in paths.
    ids: Mapping[str, str]
    #: Instead of these, for operations that end a thing or bring it into a state that others do not like.
    ends: Mapping[Operation, Mapping[str, str]]
    #: What fields of bodies may be, by the names of their types.
    fields: Mapping[str, Mapping[str, Any]]


class Told(NamedTuple):
    """What is told of the routes."""

    #: As the server does.
    whole: Document
    #: With the ids of things that are there.
    asked: Document

    def about(self, tags: Collection[str]) -> "Told":
        """Of the routes that have one of the tags."""
        paths = {
            path: {method: each for method, each in item.items() if not set(each["tags"]).isdisjoint(tags)}
            for path, item in self.asked["paths"].items()
        }
        return Told(self.whole, {**self.asked, "paths": {path: item for path, item in paths.items() if item}})


class Outcome(NamedTuple):
    """What came of a run."""

    #: The statuses that each operation answered with, and how often.
    statuses: dict[Operation, Counter[int]]
    #: Each sort of mistake of each operation once, in words.
    mistakes: dict[tuple[Operation, str], str]
    #: Everything that was answered, headers and all.
    answers: list[str]

    @property
    def reached(self) -> set[Operation]:
        """The operations that did at least once what they are for."""
        return {operation for operation, found in self.statuses.items() if any(200 <= code < 300 for code in found)}

    def note(self, recorder: ScenarioRecorder) -> None:
        """Take in what was asked of one operation."""
        method = recorder.label.partition(" ")[0]
        for interaction in recorder.interactions.values():
            answer = interaction.response
            if answer is None:
                self.mistakes[recorder.label, "no answer"] = f"{interaction.request.method} {interaction.request.uri}"
                continue
            self.answers.append(f"{answer.headers}\n{answer.text}")
            if interaction.request.method == method:
                self.statuses.setdefault(recorder.label, Counter())[answer.status_code] += 1
        for check in (check for checks in recorder.checks.values() for check in checks):
            if check.failure_info is not None:
                said = f"{check.failure_info.failure}\n{check.failure_info.code_sample}"
                self.mistakes[recorder.label, check.name] = said


def with_what_is_there(document: Document, known: Known) -> Told:
    """The document, and the same in which ids are those of things that are there."""
    told = copy.deepcopy(document)
    told["paths"].pop(_ENDLESS)
    for path, item in told["paths"].items():
        for method, operation in item.items():
            ids = {**known.ids, **known.ends.get(f"{method.upper()} {path}", {})}
            operation["parameters"] = [
                {**each, "schema": {"type": "string", "enum": [ids[each["name"]]]}} if each["in"] == "path" else each
                for each in operation.get("parameters", [])
                if each["name"] not in _NOT_GUESSED
            ]
    for kind, fields in known.fields.items():
        properties = told["components"]["schemas"][kind]["properties"]
        properties.update({name: {**properties[name], **field} for name, field in fields.items()})
    return Told(document, told)


class Effort(NamedTuple):
    """How much is tried."""

    #: How many requests are made up at random for each operation, and as many wrong ones.
    examples: int
    #: Whether each limit of each parameter and field is tried as well, on both of its sides.
    limits: bool


def run(told: Told, url: str, key: str | None, effort: Effort) -> Outcome:
    """What Schemathesis can think of, the same each time."""
    sources = {"extra-data-sources": {"responses": False}}
    settings = {
        "seed": 1,
        "base-url": url,
        "auth": {"openapi": {"apiKey": {"bearer": key}}} if key else {},
        "continue-on-failure": True,
        "workers": 1,
        "request-timeout": 60,
        # It would leave a folder behind.
        "cache": {"enabled": False},
        "analysis": {"constants": {"enabled": False}},
        "generation": {"max-examples": effort.examples, "deterministic": True, "no-shrink": True},
        "phases": {
            "examples": {"enabled": False},
            "coverage": {**sources, "enabled": effort.limits, "unexpected-methods": ["DELETE", "TRACE"]},
            "fuzzing": {**sources, "error-feedback": {"enabled": False}},
            "stateful": {"enabled": False},
        },
        # Each good request without the key again would take as long as the rest; a stranger has a run of its own.
        "checks": {"ignored_auth": {"enabled": False}},
    }
    schema = schemathesis.openapi.from_dict(told.asked, config=schemathesis.Config.from_dict(settings))
    schema.hook("filter_failure")(_mistakes(told.whole))
    return _outcome(engine.from_schema(schema).execute())


def _mistakes(whole: Document) -> Callable[..., bool]:
    """Which failures are mistakes of the server, and not of what Schemathesis was told."""

    def is_mistake(
        context: schemathesis.HookContext,
        failure: Failure,
        case: schemathesis.Case[Any],
        response: schemathesis.Response,
    ) -> bool:
        if "positive_data_acceptance" in failure.checks:
            return not _UNSAID.search(response.text)
        return "negative_data_rejection" not in failure.checks or not _is_right(case, whole)

    return is_mistake


def _is_right(case: schemathesis.Case[Any], whole: Document) -> bool:
    """Whether a request that was meant to be wrong is right by the server's own document."""
    assert case.meta is not None
    data = case.meta.phase.data
    wrong: set[ParameterLocation | None] = {each.parameter_location for each in data.mutations}
    wrong = wrong or {data.parameter_location}
    if not wrong <= {ParameterLocation.PATH, ParameterLocation.BODY}:
        return False
    if ParameterLocation.PATH in wrong and not set(case.path_parameters) <= _CHOSEN:
        return False
    return ParameterLocation.BODY not in wrong or _takes(whole, case)


def _takes(whole: Document, case: schemathesis.Case[Any]) -> bool:
    operation = whole["paths"][case.operation.path][case.operation.method.lower()]
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    schema = {**body, "components": whole["components"]}
    return Draft202012Validator(schema, format_checker=FormatChecker()).is_valid(case.body)


def _outcome(events: Iterator[EngineEvent]) -> Outcome:
    outcome = Outcome({}, {}, [])
    for event in events:
        match event:
            case ScenarioFinished():
                outcome.note(event.recorder)
            case NonFatalError():
                outcome.mistakes[event.label, "error"] = repr(event.value)
            case FatalError():
                raise event.exception
    return outcome
