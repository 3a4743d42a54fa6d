"""The configuration reader against the facts: every kind, field and default that PipeCD and Weave document.

`config_facts.fields.tsv` lists the fields, a row each; `config_facts.places.tsv` says in which kind of file a place is
found, which spec stands around it (`HERE` marks it), what it cannot do without, and where the model keeps it. A
fact that is missing in the code, and a field of the code that is no fact, both turn a test red.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from msgspec import inspect

from fairway.config import providers
from fairway.config.application_file import KINDS, PLUGINS, ApplicationSpec
from fairway.config.read import KIND_TYPES, Reading, api_versions, read_file
from fairway.config.regex import Regex
from fairway.config.scalars import Duration, Percentage, Replicas
from fairway.config.stage_catalogue import STAGES
from fairway.config.stages import StageOptions

#: What a spec of this kind cannot do without.
NEEDED: Final[dict[str, dict[str, Any]]] = {
    "Piped": {"projectID": "p", "pipedID": "i", "apiAddress": "a", "pipedKeyFile": "k"},
    "Pipeline": {"environments": [{"name": "dev", "targets": [{"namespace": "n"}]}]},
}
SAMPLES: Final[dict[str, Any]] = {
    "text": "x",
    "regex": "(x)",
    "texts": ["x", "y"],
    "map": {"a": "b"},
    "mapping": {},
    "list": [],
    "bool": True,
    "int": 3,
    "number": 1.5,
    "duration": "7m",
    "percentage": "30%",
    "replicas": "20%",
}
SCALARS: Final[dict[str, Any]] = {
    "duration": Duration,
    "percentage": Percentage,
    "replicas": Replicas,
    "regex": Regex,
}
#: Fields that are no fact of PipeCD or Weave, and why they are there.
ADDITIONS: Final = {
    "StageOptions.id": "v0 has it beside `with`; read inside too, so that nothing written is lost",
    "StageOptions.desc": "as id",
    "StageOptions.timeout": "inside `with` in v0 for some stages, beside it in v1 for all; every stage may have either",
    "StageOptions.skipOn": "as timeout",
    "StageEntry.onRollback": "the seeds' idea: any stage may be undone by a script",
    "StageEntry.env": "variables of that script",
    "WaitApprovalOptions.groups": "who may approve, by the groups of the sign-in",
    "WaitApprovalOptions.onTimeout": "whether nobody's answer is a no or a yes",
    "ScriptRunOptions.runs": "the seeds' list of commands",
    "ScriptRunOptions.shell": "which shell reads the script",
    "ScriptRunOptions.retry": "a script that failed is run again",
    "ScriptRunOptions.onInterrupted": "what becomes of a script that was ended with its machine",
    "ScriptRunOptions.background": "whether processes that a script leaves running are ended with it",
    "Trigger.waiting": "whether each commit is deployed or only the newest that waits",
    "ApplicationSpec.encryptedSecrets": "where the seeds put sealed values",
    "AgentSpec.allowUnknownFields": "PipeCD's leniency, for those who need it",
    "AgentSpec.plugin": "the seeds' name of plugins",
    "PluginEntry.sourceURL": "the seeds' name of url",
    "PluginEntry.sha256": "downloads are by URL and checksum",
    "PluginEntry.isolation": "which plugins share a process",
    "PluginEntry.handover": "configuration off the process list",
    "PluginEntry.registryAuthFile": "registries that are not for everybody",
    **dict.fromkeys(
        (
            "AgentSpec.upgrade",
            "Upgrade.source",
            "Upgrade.checksums",
            "Upgrade.readyWithin",
            "Upgrade.settleFor",
        ),
        "an agent changes its own version",
    ),
    **dict.fromkeys(
        (
            "ProcessSpec.command",
            "ProcessSpec.replicas",
            "ProcessSpec.port",
            "ProcessSpec.host",
            "ProcessSpec.env",
            "ProcessSpec.health",
            "ProcessSpec.stopTimeout",
            "ProcessHealth.path",
            "ProcessHealth.timeout",
            "ProcessHealth.interval",
            "ProcessCanaryRolloutOptions.replicas",
            "ProcessTrafficRoutingOptions.primary",
            "ProcessTrafficRoutingOptions.canary",
        ),
        "the process platform is Fairway's own",
    ),
    "SharedSso.google": "so that GOOGLE is refused for what it is, not for an unknown field",
}


class Place(NamedTuple):
    """A mapping somewhere in a file of some kind."""

    name: str
    type: str
    generation: str
    kind: str
    spec: str
    needs: dict[str, Any]
    model: str

    def file(self, **changes: Any) -> bytes:
        """A file of the kind in which the mapping says what it needs and these; None takes a field away."""
        here = {name: value for name, value in {**self.needs, **changes}.items() if value is not None}
        around = NEEDED.get(self.kind, {})
        spec = {**around, **json.loads(self.spec.replace("HERE", json.dumps(here)))}
        spec = {name: value for name, value in spec.items() if not (name in changes and changes[name] is None)}
        head = {"apiVersion": api_versions(self.kind)[0], "kind": self.kind}
        header = {"metadata": {"name": "x"}} if self.kind == "Pipeline" else {}
        return json.dumps({**head, **header, "spec": spec}).encode()


class Fact(NamedTuple):
    """One field, as the facts have it."""

    place: str
    field: str
    type: str
    default: str
    generation: str
    sample: str
    instead_of: str

    def samples(self) -> list[Any]:
        if self.sample:
            return [json.loads(self.sample)]
        return [SAMPLES[self.type]] if self.type in SAMPLES else self.type.split("|")

    def meant(self, written: Any) -> Any:
        """What the model holds when this is written."""
        return SCALARS[self.type].parse(written) if self.type in SCALARS else written


def rows(name: str) -> Iterator[list[str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(lines)
        yield from lines


PLACES: Final = [
    Place(name, kind_of, generation, kind, spec, json.loads(needs), model)
    for name, kind_of, generation, kind, spec, needs, model in rows("config_facts.places.tsv")
]
FACTS: Final = [Fact(*row) for row in rows("config_facts.fields.tsv")]


def facts_in_places() -> Iterator[tuple[Fact, Place]]:
    for fact in FACTS:
        for place in PLACES:
            if place.name == fact.place and fact.generation in {"", place.generation}:
                yield fact, place


def named(pairs: Iterator[tuple[Fact, Place]]) -> list[Any]:
    return [
        pytest.param(fact, place, id=f"{place.generation} {place.kind} {fact.place} {fact.field}")
        for fact, place in pairs
    ]


def read(data: bytes) -> Reading:
    (reading,) = read_file(data, "f")
    return reading


MISSING: Final = object()


def in_model(config: Any, path: str) -> Any:
    """The value at a path such as `stages[0].options`; `.` is the whole."""
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        step = int(index) if index else name
        config = config[step] if isinstance(config, dict | tuple) else getattr(config, name)
    return config


def value_of(settings: Any, field: str) -> Any:
    if isinstance(settings, dict):
        return settings.get(field, MISSING)
    names = {known.encode_name: known.name for known in msgspec.structs.fields(settings)}
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", field).lower()
    return getattr(settings, names.get(field, snake), MISSING)


@pytest.mark.parametrize(("fact", "place"), named(facts_in_places()))
def test_every_field_of_the_facts_is_accepted(fact: Fact, place: Place) -> None:
    minimal = read(place.file())
    replaced: dict[str, Any] = dict.fromkeys(fact.instead_of.split())

    readings = [read(place.file(**replaced, **{fact.field: sample})) for sample in fact.samples()]

    # Nothing more is said than about the file without the field, but for the fields that have a warning of their own.
    said = [said_of(reading, fact.field) for reading in readings]
    assert said == [said_of(minimal, fact.field)] * len(said)
    assert minimal.errors == ()


#: Field → words of its warning: one must stand in two places, the others name plugins that Fairway does not have.
WARNINGS: dict[str, str] = {
    "addVariantLabelToSelector": "a selector cannot be changed",
    **dict.fromkeys(("type", "name", "url"), "; the agent works without it"),
}


def said_of(reading: Reading, field: str) -> list[tuple[Any, str]]:
    """The problems of a file, without the known warning of a field."""
    known = WARNINGS.get(field)
    return [(each.path, each.message) for each in reading.problems if known is None or known not in each.message]


@pytest.mark.parametrize(
    ("fact", "place"),
    named((fact, place) for fact, place in facts_in_places() if place.model and fact.type not in {"mapping", "list"}),
)
def test_every_value_of_the_facts_arrives_in_the_model(fact: Fact, place: Place) -> None:
    (written, *_) = fact.samples()
    replaced: dict[str, Any] = dict.fromkeys(fact.instead_of.split())

    config = read(place.file(**replaced, **{fact.field: written})).config

    value = value_of(in_model(config, place.model), fact.field)
    assert value is MISSING or (list(value) if isinstance(value, tuple) else value) == fact.meant(written)


@pytest.mark.parametrize(
    ("fact", "place"), named((fact, place) for fact, place in facts_in_places() if fact.default and place.model)
)
def test_every_default_of_the_facts_comes_out_of_a_minimal_file(fact: Fact, place: Place) -> None:
    config = read(place.file(**{fact.field: None})).config

    assert value_of(in_model(config, place.model), fact.field) == fact.meant(json.loads(fact.default))


PROVIDERS: Final = (
    *providers.DEPLOY_TARGETS.values(),
    *providers.ANALYSIS_PROVIDERS.values(),
    *providers.DATASTORES.values(),
    *providers.FILESTORES.values(),
)


@pytest.mark.parametrize(
    ("fact", "place"), named((fact, place) for fact, place in facts_in_places() if fact.default and not place.model)
)
def test_every_default_that_a_plugin_fills_in_is_that_of_its_type(fact: Fact, place: Place) -> None:
    (kind,) = [kind for kind in settings_types() if kind.__name__ == place.type]

    (default,) = [field.default for field in msgspec.structs.fields(kind) if field.encode_name == fact.field]

    assert default == fact.meant(json.loads(fact.default))


@pytest.mark.parametrize(
    ("kind", "rolls_back"),
    [("KubernetesApp", True), ("TerraformApp", False), ("LambdaApp", True), ("CloudRunApp", True), ("ECSApp", True)],
)
def test_each_kind_of_v0_rolls_back_by_default_as_the_facts_say(kind: str, rolls_back: bool) -> None:
    config = read(json.dumps({"apiVersion": "pipecd.dev/v1beta1", "kind": kind, "spec": {}}).encode()).config

    assert config.planner.auto_rollback is rolls_back


def test_every_stage_of_the_facts_is_known_and_no_other() -> None:
    shared = "WAIT WAIT_APPROVAL ANALYSIS SCRIPT_RUN K8S_PRIMARY_ROLLOUT K8S_CANARY_ROLLOUT K8S_CANARY_CLEAN"
    shared += (
        " K8S_BASELINE_ROLLOUT K8S_BASELINE_CLEAN K8S_TRAFFIC_ROUTING TERRAFORM_PLAN TERRAFORM_APPLY CLOUDRUN_SYNC"
    )
    shared += " CLOUDRUN_PROMOTE LAMBDA_SYNC LAMBDA_CANARY_ROLLOUT LAMBDA_PROMOTE ECS_SYNC ECS_CANARY_ROLLOUT"
    shared += " ECS_PRIMARY_ROLLOUT ECS_TRAFFIC_ROUTING ECS_CANARY_CLEAN"
    only_v0 = "CUSTOM_SYNC TERRAFORM_SYNC"
    only_v1 = "K8S_SYNC K8S_MULTI_SYNC K8S_MULTI_PRIMARY_ROLLOUT K8S_MULTI_CANARY_ROLLOUT K8S_MULTI_CANARY_CLEAN"
    # Fairway has a plugin for it, so that moving to v1 does not wait for rewriting the stage.
    only_v1 += " CUSTOM_SYNC K8S_MULTI_BASELINE_ROLLOUT K8S_MULTI_BASELINE_CLEAN K8S_MULTI_TRAFFIC_ROUTING"
    # A platform of Fairway's own.
    only_v1 += " PROCESS_SYNC PROCESS_CANARY_ROLLOUT PROCESS_TRAFFIC_ROUTING PROCESS_PRIMARY_ROLLOUT"
    only_v1 += " PROCESS_CANARY_CLEAN"

    assert {name for name, stage in STAGES.items() if stage.in_v0} == {*shared.split(), *only_v0.split()}
    assert {name for name, stage in STAGES.items() if stage.in_v1} == {*shared.split(), *only_v1.split()}


def settings_types() -> set[type[msgspec.Struct]]:
    """Every type that a configuration file can be read into."""
    found: set[type[msgspec.Struct]] = set()
    platforms = [kind.platform for kind in KINDS.values()]
    roots = [ApplicationSpec, *platforms, *PLUGINS.values(), *PROVIDERS]
    roots += [kind for name, kind in KIND_TYPES.items() if name not in KINDS and name != "Application"]
    open_ends: list[inspect.Type] = [inspect.type_info(kind) for kind in roots]
    open_ends += [inspect.type_info(stage.options) for stage in STAGES.values()]
    while open_ends:
        match open_ends.pop():
            case inspect.StructType(cls=kind, fields=fields) if kind not in found:
                found.add(kind)
                open_ends += [field.type for field in fields]
            case inspect.VarTupleType(item_type=item):
                open_ends.append(item)
            case inspect.DictType(value_type=value):
                open_ends.append(value)
            case inspect.UnionType(types=types):
                open_ends += types
    return found


def test_every_field_of_the_code_is_a_fact_or_an_addition_with_a_reason() -> None:
    common = set(StageOptions.__struct_encode_fields__)
    known = {f"StageOptions.{field}" for field in common}
    for kind in settings_types():
        own = set(kind.__struct_encode_fields__) - (common if issubclass(kind, StageOptions) else set())
        known |= {f"{kind.__name__}.{field}" for field in own}

    types = {place.name: place.type for place in PLACES}
    facts = {f"{types[fact.place]}.{fact.field}" for fact in FACTS}

    assert sorted(known - facts) == sorted(ADDITIONS)
