"""The door of this package: one file → what it says, and everything that is wrong with it.

`read_file` never raises for what a user wrote: it returns a `Reading` for each document. `read_application` and its
siblings are for code that needs the one thing a file holds and wants a `ConfigError` otherwise.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from fairway.config.agent import AgentConfig, settle_agent
from fairway.config.agent_file import AgentSpec
from fairway.config.analysis import AnalysisTemplateSpec
from fairway.config.application import ApplicationConfig
from fairway.config.application_file import KINDS, SPEC_TYPES, settle_application
from fairway.config.control_plane import ControlPlaneSpec
from fairway.config.event_watcher import EventWatcherSpec
from fairway.config.pipeline import GROUPS, VERSION, PipelineConfig, PipelineSpec, settle_pipeline
from fairway.config.problems import (
    ConfigError,
    Problem,
    Severity,
    did_you_mean,
    in_order,
    shown,
    without_consequences,
)
from fairway.config.reader.convert import convert_checked
from fairway.config.reader.document import MOST_PROBLEMS, Document, TooManyProblems, read_documents
from fairway.config.reader.rules import broken_rules
from fairway.config.rejected import rejected_shape
from fairway.config.settings import Settings
from fairway.config.terms import UNKNOWN_AGENT, Terms

API_VERSION: Final = "pipecd.dev/v1beta1"
#: Manifests that carry PipeCD's version but are a platform's own input, as a Deployment is Kubernetes'.
_MANIFEST_KINDS: Final = ("LambdaFunction",)
_WEAVE: Final = ("wego.weave.works/", *(f"{group}/" for group in GROUPS))
T = TypeVar("T")


class Reading(msgspec.Struct, frozen=True):
    """What one document of a file says."""

    file: str
    #: Empty where the document does not say.
    kind: str
    #: None where an error makes the document useless.
    config: Any
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)


class Metadata(Settings, frozen=True):
    """Kubernetes' header; only what Fairway looks at, the rest is Kubernetes' own."""

    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}


class _Context(NamedTuple):
    document: Document
    kind: str
    api_version: str
    metadata: Metadata


_Settle = Callable[[_Context, Any], tuple[Any, list[Problem]]]


class _Kind(NamedTuple):
    spec: type[Settings]
    settle: _Settle
    #: What may stand in the envelope beside apiVersion, kind and spec.
    envelope: frozenset[str] = frozenset()


def _application(context: _Context, spec: Any) -> tuple[Any, list[Problem]]:
    return settle_application(context.document, context.kind, context.metadata.labels, spec)


def _agent(context: _Context, spec: AgentSpec) -> tuple[Any, list[Problem]]:
    config = settle_agent(spec)
    document = context.document
    if not document.elided:
        return config, [document.problem(("spec", name), "is missing; expected a text") for name in config.left_out]
    # An example that leaves things out with `...` is no mistake, but no agent can start from it either.
    needs = f"is not enough to start an agent: it leaves out {', '.join(config.left_out)}"
    return config, [document.problem(("spec",), needs, Severity.WARNING)] if config.left_out else []


def _pipeline(context: _Context, spec: PipelineSpec) -> tuple[Any, list[Problem]]:
    group = context.api_version.partition("/")[0]
    problems: list[Problem] = []
    if not context.metadata.name:
        problems.append(context.document.problem(("metadata", "name"), "is missing; expected a text"))
    return settle_pipeline(group, context.metadata.name, context.metadata.namespace or "default", spec), problems


def _as_it_is(_context: _Context, spec: Any) -> tuple[Any, list[Problem]]:
    return spec, []


_KUBERNETES: Final = frozenset({"metadata", "status"})
_READERS: Final[dict[str, _Kind]] = {
    **{name: _Kind(SPEC_TYPES[name], _application) for name in KINDS},
    "Application": _Kind(SPEC_TYPES["Application"], _application, frozenset({"metadata"})),
    "Piped": _Kind(AgentSpec, _agent),
    "ControlPlane": _Kind(ControlPlaneSpec, _as_it_is),
    "EventWatcher": _Kind(EventWatcherSpec, _as_it_is),
    "AnalysisTemplate": _Kind(AnalysisTemplateSpec, _as_it_is),
    "Pipeline": _Kind(PipelineSpec, _pipeline, _KUBERNETES),
}
#: Every kind a file may have, and the type of its spec.
KIND_TYPES: Final[dict[str, type[Settings]]] = {name: kind.spec for name, kind in _READERS.items()}


def api_versions(kind: str) -> tuple[str, ...]:
    """The `apiVersion` a kind may have."""
    return tuple(f"{group}/{VERSION}" for group in GROUPS) if kind == "Pipeline" else (API_VERSION,)


def read_file(data: bytes, file: str, *, skip_foreign: bool = False, terms: Terms = UNKNOWN_AGENT) -> list[Reading]:
    """Every document of a file; a text that is no YAML is one reading with its problems.

    `skip_foreign` passes over documents of other people's versions, for files that hold a Pipeline among others.
    """
    documents, problems = read_documents(data, file)
    if not documents:
        return [Reading(file, "", None, tuple(in_order(problems)))]
    documents = [each for each in documents if not (skip_foreign and _is_foreign(each))]
    # A separator at the beginning or the end makes an empty document, which says nothing.
    documents = [each for each in documents if each.value is not None] or documents[:1]
    for document in documents:
        document.terms = terms
    problems += _not_alone(documents)
    readings = [_read(document) for document in documents]
    if problems and readings:
        first = readings[0]
        spoilt = any(problem.severity is Severity.ERROR for problem in problems)
        config = None if spoilt else first.config
        readings[0] = Reading(file, first.kind, config, tuple(in_order([*problems, *first.problems])))
    return readings


def read_application_file(data: bytes, file: str, terms: Terms = UNKNOWN_AGENT) -> Reading:
    """The verdict on an application's file. Lint and agents have no other."""
    readings = read_file(data, file, terms=terms)
    # PipeCD takes the first document and drops the others.
    readings = readings[:1] if terms.accepted else readings
    problems = [problem for reading in readings for problem in reading.problems]
    first = readings[0]
    errors = any(problem.severity is Severity.ERROR for problem in problems)
    if not errors and not isinstance(first.config, ApplicationConfig):
        kinds = ", ".join(("Application", *KINDS))
        problems.append(_at_start(file, f"is of the kind {first.kind}; expected an application (kind {kinds})"))
        errors = True
    return Reading(file, first.kind, None if errors else first.config, tuple(in_order(problems)))


def read_application(data: bytes, file: str, terms: Terms = UNKNOWN_AGENT) -> ApplicationConfig:
    """The application a file describes; ConfigError if it does not."""
    reading = read_application_file(data, file, terms)
    if reading.config is None:
        raise ConfigError(reading.errors)
    return reading.config  # type: ignore[no-any-return]  # an application's, as the verdict says


def read_agent(data: bytes, file: str) -> AgentConfig:
    """The agent a file describes; ConfigError if it does not."""
    config = _only(data, file, AgentConfig, "an agent (kind Piped)")
    if config.left_out:
        raise ConfigError([_at_start(file, f"leaves out {', '.join(config.left_out)}, which an agent needs to start")])
    return config


def read_pipeline(data: bytes, file: str) -> PipelineConfig:
    """The pipeline a file describes; ConfigError if it does not."""
    return _only(data, file, PipelineConfig, "a Pipeline")


def _only(data: bytes, file: str, wanted: type[T], name: str) -> T:
    readings = read_file(data, file)
    errors = [problem for reading in readings for problem in reading.errors]
    if errors:
        raise ConfigError(errors)
    if len(readings) > 1:
        raise ConfigError(
            [_at_start(file, f"has {len(readings)} documents; {name} is one document in a file of its own")]
        )
    config = readings[0].config
    if not isinstance(config, wanted):
        raise ConfigError([_at_start(file, f"is of the kind {readings[0].kind}; expected {name}")])
    return config


def _is_foreign(document: Document) -> bool:
    if not isinstance(document.value, dict):
        return document.value is None
    if document.value.get("kind") in _MANIFEST_KINDS:
        return True
    version = str(document.value.get("apiVersion", ""))
    return not version.startswith(("pipecd.dev/", *_WEAVE)) and rejected_shape(document) is None


def _not_alone(documents: Sequence[Document]) -> list[Problem]:
    """An application is one document in a file of its own; PipeCD drops every document but the first."""
    kinds = [each.value.get("kind") if isinstance(each.value, dict) else None for each in documents]
    if len(documents) < 2 or not any(kind in SPEC_TYPES for kind in kinds if isinstance(kind, str)):
        return []
    message = f"the file has {len(documents)} documents; an application is one document in a file of its own"
    return [documents[1].later_rule((), message)]


def _at_start(file: str, message: str) -> Problem:
    return Document(file, "", None).problem((), message)


def _read(document: Document) -> Reading:
    try:
        return _read_document(document)
    except TooManyProblems:
        enough = _at_start(document.file, f"has more than {MOST_PROBLEMS} problems; the rest is not shown")
        kind = document.value.get("kind")
        problems = tuple(in_order([enough, *document.said]))
        return Reading(document.file, kind if isinstance(kind, str) else "", None, problems)


def _read_document(document: Document) -> Reading:
    value = document.value
    if not isinstance(value, dict):
        message = (
            "the file is empty"
            if value is None
            else f"found {shown(value)}, expected a mapping with apiVersion and kind"
        )
        return Reading(document.file, "", None, (document.problem((), message),))
    kind = value.get("kind")
    refused = rejected_shape(document) or _envelope_problem(document, kind)
    if refused is not None:
        return Reading(document.file, kind if isinstance(kind, str) else "", None, (refused,))
    reader = _READERS[str(kind)]
    if reader.spec is AgentSpec and document.at(("spec", "allowUnknownFields")) is True:
        document.terms = msgspec.structs.replace(document.terms, allow_unknown_fields=True)
    problems = list(_unknown_in_envelope(document, reader))
    if value.get("spec") is None and not document.terms.accepted:
        problems.append(document.problem(("spec",), "is missing; expected a mapping"))
        return Reading(document.file, str(kind), None, tuple(in_order(problems)))
    metadata, found = _metadata(document, reader)
    problems += found
    spec, found = convert_checked(document, _spec_value(value), reader.spec, ("spec",))
    problems += found
    context = _Context(document, str(kind), str(value["apiVersion"]), metadata)
    config, found = reader.settle(context, spec)
    found += broken_rules(document, spec, ("spec",))
    problems += without_consequences(found, problems)
    usable = not any(problem.severity is Severity.ERROR for problem in problems)
    return Reading(document.file, str(kind), config if usable else None, tuple(in_order(problems)) if problems else ())


def _spec_value(value: dict[str, Any]) -> Any:
    spec = value.get("spec")
    return {} if spec is None else spec


def _envelope_problem(document: Document, kind: Any) -> Problem | None:
    """Why the rest of the document cannot even be looked at."""
    if kind is None:
        return document.problem((), f"kind is missing; expected one of {', '.join(_READERS)}")
    if not isinstance(kind, str) or kind not in _READERS:
        near = did_you_mean(kind, _READERS) if isinstance(kind, str) else ""
        return document.problem(("kind",), f"found {shown(kind)}, expected one of {', '.join(_READERS)}{near}")
    found, expected = document.value.get("apiVersion"), api_versions(kind)
    if found is None:
        return document.problem((), f"apiVersion is missing; expected {' or '.join(expected)}")
    if found not in expected:
        near = did_you_mean(str(found), expected)
        return document.problem(("apiVersion",), f"found {shown(found)}, expected {' or '.join(expected)}{near}")
    return None


def _unknown_in_envelope(document: Document, reader: _Kind) -> Iterator[Problem]:
    known = {"apiVersion", "kind", "spec"} | reader.envelope
    for key in document.value:
        if key not in known:
            yield document.unknown_field((key,), did_you_mean(key, known))


def _metadata(document: Document, reader: _Kind) -> tuple[Metadata, list[Problem]]:
    written = document.value.get("metadata")
    if written is None or "metadata" not in reader.envelope:
        return Metadata(), []
    if isinstance(written, dict):
        # Names, uids, managedFields …: Kubernetes' fields are Kubernetes' business.
        written = {key: item for key, item in written.items() if key in {"name", "namespace", "labels"}}
    return convert_checked(document, written, Metadata, ("metadata",))
