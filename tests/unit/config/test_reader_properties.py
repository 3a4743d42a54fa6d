"""What holds for every file: problems are where they are said to be, none hides another, warnings change nothing."""

import copy
import json
from datetime import timedelta
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from fairway.config.problems import Position, Severity
from fairway.config.read import Reading, read_file
from fairway.config.scalars import Duration, Percentage, Replicas

Path = tuple[str | int, ...]
HEAD: Final = {"apiVersion": "pipecd.dev/v1beta1", "kind": "KubernetesApp"}
#: A good application, in which each of `SLOTS` holds something other than a text.
APPLICATION: Final[dict[str, Any]] = {
    "name": "shop",
    "labels": {"env": "prod", "team": "a"},
    "timeout": "1h",
    "planner": {"alwaysUsePipeline": True},
    "trigger": {"onCommit": {"disabled": False, "paths": ["a/**", "b"]}, "onOutOfSync": {"minWindow": "10m"}},
    "input": {"manifests": ["a.yaml"], "autoRollback": True, "helmOptions": {"setValues": {"a": "b"}}},
    "quickSync": {"prune": True},
    "variantLabel": {"key": "k"},
    "pipeline": {
        "stages": [
            {"name": "K8S_CANARY_ROLLOUT", "with": {"replicas": "10%", "createService": True}},
            {"name": "WAIT", "desc": "let it settle", "with": {"duration": "5m"}},
            {"name": "WAIT_APPROVAL", "with": {"minApproverNum": 2, "approvers": ["a", "b"]}},
            {"name": "K8S_PRIMARY_ROLLOUT"},
        ]
    },
}
STAGES: Final = ("pipeline", "stages")
SLOTS: Final[tuple[Path, ...]] = (
    ("labels",),
    ("timeout",),
    ("planner", "alwaysUsePipeline"),
    ("trigger", "onCommit", "disabled"),
    ("trigger", "onCommit", "paths"),
    ("trigger", "onOutOfSync", "minWindow"),
    ("input", "autoRollback"),
    ("input", "helmOptions", "setValues"),
    ("quickSync", "prune"),
    ("variantLabel",),
    (*STAGES, 0, "with", "replicas"),
    (*STAGES, 0, "with", "createService"),
    (*STAGES, 1, "with", "duration"),
    (*STAGES, 2, "with", "minApproverNum"),
    (*STAGES, 2, "with", "approvers"),
    (*STAGES, 3),
)


def planted(spec: dict[str, Any], values: dict[Path, Any]) -> dict[str, Any]:
    """A copy with other values at some paths."""
    spec = copy.deepcopy(spec)
    for path, value in values.items():
        below: Any = spec
        for step in path[:-1]:
            below = below[step]
        below[path[-1]] = value
    return spec


class Writer:
    """Writes YAML as different people do: indentation, blank lines, comments, flow or block, quotes or none."""

    def __init__(self, choose: st.DataObject) -> None:
        self._choose = choose
        self._indent = choose.draw(st.integers(1, 5))

    def write(self, value: Any, depth: int = 0) -> str:
        """The lines of a mapping or list, or the rest of a line for anything else."""
        if not isinstance(value, dict | list) or not value or self._choose.draw(st.integers(0, 5)) == 0:
            return f" {self._flow(value)}\n"
        margin = " " * (depth * self._indent)
        marks = [f"{key}:" for key in value] if isinstance(value, dict) else ["-"] * len(value)
        items = list(value.values()) if isinstance(value, dict) else value
        lines = [f"{margin}{mark}{self.write(item, depth + 1)}" for mark, item in zip(marks, items, strict=True)]
        return "\n" + "".join(self._noise() + line for line in lines)

    def _noise(self) -> str:
        return self._choose.draw(st.sampled_from(["", "", "", "\n", "# a: b\n", "   # ü ©\n\n"]))

    def _flow(self, value: Any) -> str:
        plain = isinstance(value, str) and value.replace("-", "").isalnum() and not value[0].isdigit()
        if plain and self._choose.draw(st.booleans()):
            return str(value)
        return json.dumps(value)


def read_spec(text: str) -> Reading:
    (reading,) = read_file(text.encode(), "f")
    return reading


def position_of(word: str, text: str) -> Position:
    start = text.index(word)
    quoted = text[start - 1] in "\"'"
    line = text.count("\n", 0, start) + 1
    return Position(line, start - text.rfind("\n", 0, start) - quoted)


@given(st.data())
def test_a_good_application_is_read_the_same_however_it_is_written(data: st.DataObject) -> None:
    text = Writer(data).write({**HEAD, "spec": APPLICATION})

    assert read_spec(text) == read_spec(json.dumps({**HEAD, "spec": APPLICATION}))


@given(st.data(), st.sets(st.sampled_from(SLOTS), min_size=1))
def test_every_wrong_value_is_reported_at_once_and_where_it_stands(data: st.DataObject, slots: set[Path]) -> None:
    words = {slot: f"wrong{chr(97 + number)}" for number, slot in enumerate(sorted(slots, key=str))}
    text = Writer(data).write({**HEAD, "spec": planted(APPLICATION, words)})

    reading = read_spec(text)

    found = {(problem.path, problem.position, problem.severity) for problem in reading.problems}
    wanted = {(("spec", *slot), position_of(word, text), Severity.ERROR) for slot, word in words.items()}
    assert (found, reading.config) == (wanted, None)


#: An agent, and mappings in it.
AGENT: Final[dict[str, Any]] = {
    "projectID": "p",
    "pipedID": "i",
    "apiAddress": "a:443",
    "pipedKeyFile": "/key",
    "git": {"username": "u"},
    "repositories": [{"repoId": "r", "remote": "m", "branch": "main"}],
    "eventWatcher": {"checkInterval": "5m"},
    "planPreview": {"workerNum": 2},
    "plugins": [{"name": "wait", "deployTargets": [{"name": "t"}]}],
}
MAPPINGS: Final[tuple[Path, ...]] = (
    (),
    ("git",),
    ("repositories", 0),
    ("eventWatcher",),
    ("planPreview",),
    ("plugins", 0),
    ("plugins", 0, "deployTargets", 0),
)
AGENT_HEAD: Final = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Piped"}


@given(st.data(), st.sets(st.sampled_from(MAPPINGS), min_size=1), st.sampled_from(["x", 5, None, [], {"a": [1]}]))
def test_unknown_fields_that_the_file_allows_are_warnings_that_change_nothing(
    data: st.DataObject, places: set[Path], value: Any
) -> None:
    agent = {**AGENT, "allowUnknownFields": True}
    spec = planted(agent, {(*place, "unheardOf"): value for place in places})

    reading = read_spec(Writer(data).write({**AGENT_HEAD, "spec": spec}))

    said = {(problem.path, problem.severity) for problem in reading.problems}
    assert said == {(("spec", *place, "unheardOf"), Severity.WARNING) for place in places}
    assert reading.config == read_spec(json.dumps({**AGENT_HEAD, "spec": agent})).config


def recased(word: str, upper: list[bool]) -> str:
    return "".join(letter.upper() if up else letter.lower() for letter, up in zip(word, upper, strict=False))


@given(st.sampled_from(sorted(AGENT)), st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_case_of_letters_in_a_field_does_not_matter(field: str, upper: list[bool]) -> None:
    spelled = recased(field, upper)
    spec = {spelled if name == field else name: value for name, value in AGENT.items()}

    reading = read_spec(json.dumps({**AGENT_HEAD, "spec": spec}))

    assert reading.config == read_spec(json.dumps({**AGENT_HEAD, "spec": AGENT})).config
    assert [problem.message for problem in reading.problems] == ([] if spelled == field else [f"is spelled {field!r}"])


UNITS: Final = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1, "µs": 1}


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(sorted(UNITS))), min_size=1, max_size=6))
def test_a_duration_is_the_sum_of_its_parts_in_any_order(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{number}{unit}" for number, unit in parts)

    assert Duration.parse(text) == timedelta(microseconds=sum(number * UNITS[unit] for number, unit in parts))


@given(st.integers(0, 100))
def test_a_percentage_is_the_same_with_and_without_its_sign(number: int) -> None:
    read = [Percentage.parse(written) for written in (number, f"{number}", f"{number}%")]

    assert read == [Percentage(number)] * 3


@given(st.integers(0, 1000), st.booleans(), st.integers(0, 500))
def test_replicas_read_back_what_they_write_and_a_share_is_rounded_up(number: int, share: bool, primary: int) -> None:
    replicas = Replicas.parse(f"{number}%" if share else number)

    assert Replicas.parse(str(replicas)) == replicas
    assert not share or 0 <= replicas.of(primary) * 100 - primary * number < 100
