"""`fairway lint` and an agent reach one verdict on an application's file, and lint's options change it for both."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from fairway.agent.applications import Whose, view
from fairway.cli.lint import commands, lint_paths
from fairway.config.built_in import ALWAYS
from fairway.config.read import read_agent
from fairway.config.remembered import RememberedReadings
from fairway.config.terms import UNKNOWN_AGENT, Terms
from fairway.model.application import GitPath, Repository
from tests.unit.model.builders import an_application

HEAD = "apiVersion: pipecd.dev/v1beta1\nkind: {}\n"
V1, V0 = HEAD.format("Application"), HEAD.format("LambdaApp")
AGENT = HEAD.format("Piped") + "spec: {{projectID: p, pipedID: i, apiAddress: 'a:1', pipedKeyFile: k{}}}\n"
STAGES = "spec: {{name: web, pipeline: {{stages: [{}]}}}}\n"
FILES = {
    "good": V1 + STAGES.format("{name: WAIT, with: {duration: 1s}}"),
    "good of v0": V0 + "spec: {name: web}\n",
    "typo": V1 + "spec: {name: web, piepline: {stages: []}}\n",
    "typo in an option": V1 + STAGES.format("{name: WAIT_APPROVAL, with: {approver: [ada]}}"),
    "two documents": 2 * (V1 + "spec: {name: web}\n---\n"),
    "no spec": V1,
    "no stages": V1 + STAGES.format(""),
    "sealed with nothing": V0 + "spec: {encryption: {encryptedSecrets: {a: no-base64}, decryptionTargets: [f]}}\n",
    "unknown stage": V1 + STAGES.format("{name: TELEPORT}"),
    "unknown stage of v0": V0 + STAGES.format("{name: TELEPORT}"),
    "another kind": HEAD.format("EventWatcher") + "spec: {events: []}\n",
    "no YAML": "a: [",
    "empty": "",
    "separator": f"---\n{V1}spec: {{name: web}}\n---\n",
}
AGENTS = {
    "unknown": UNKNOWN_AGENT,
    "built-in plugins": Terms(foreign_plugins=()),
    "a foreign plugin": Terms(foreign_plugins=("own",)),
    "lenient": Terms(foreign_plugins=(), allow_unknown_fields=True),
}


@pytest.mark.parametrize("terms", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_lint_and_agent_reach_one_verdict(tmp_path: Path, text: str, terms: Terms) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(text)
    (tmp_path / "f").write_text("")
    readings = RememberedReadings(terms).read({"app.pipecd.yaml": "1"}, {"1": text.encode()})
    application = an_application(git_path=GitPath(repository=Repository(id="r"), path=""))

    (known,) = view("c0ffee", readings, [application], Whose(repository_id="r", agent_id="a")).known
    found = lint_paths([tmp_path], terms).problems

    errors = [str(each).removeprefix(f"{tmp_path}/") for each in found if each.severity.value == "error"]
    assert known.problem == "; ".join(errors)
    assert (known.config is None) == bool(errors)


def lint(*arguments: object) -> tuple[int, dict[str, list[dict[str, str]]]]:
    result = CliRunner().invoke(commands, [*map(str, arguments), "--json"])
    return result.exit_code, msgspec.json.decode(result.stdout)


def said(answer: dict[str, list[dict[str, str]]]) -> list[tuple[str, str]]:
    return [(each["severity"], each["path"]) for each in answer["problems"]]


def test_warnings_are_errors_with_strict(tmp_path: Path) -> None:
    file = tmp_path / "app.pipecd.yaml"
    file.write_text(FILES["unknown stage"])

    lenient, strict = lint(file), lint(file, "--strict")

    assert (lenient[0], said(lenient[1])) == (0, [("warning", "spec.pipeline.stages[0].name")])
    assert (strict[0], said(strict[1])) == (1, [("error", "spec.pipeline.stages[0].name")])


def test_unknown_fields_are_warnings_where_they_are_allowed(tmp_path: Path) -> None:
    file = tmp_path / "app.pipecd.yaml"
    file.write_text(V1 + "spec: {name: web, piepline: {}, plugins: {own: {}}}\n")

    refused, allowed = lint(file), lint(file, "--allow-unknown-fields")

    assert (refused[0], said(refused[1])) == (1, [("error", "spec.piepline")])
    assert (allowed[0], said(allowed[1])) == (0, [("warning", "spec.piepline")])


@pytest.mark.parametrize(
    ("fields", "file", "ends"),
    [
        pytest.param("", "unknown stage", 1, id="an agent with built-in plugins only"),
        pytest.param(", plugins: [{name: own, url: /opt/own}]", "unknown stage", 0, id="an agent with a foreign one"),
        pytest.param(", allowUnknownFields: true", "typo in an option", 0, id="an agent that allows unknown fields"),
        pytest.param("", "typo in an option", 1, id="an agent that does not"),
    ],
)
def test_the_file_of_the_agent_decides_as_the_agent_would(tmp_path: Path, fields: str, file: str, ends: int) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(FILES[file])
    (tmp_path / "agent.yaml").write_text(AGENT.format(fields))

    assert lint(tmp_path / "app.pipecd.yaml", "--agent-file", tmp_path / "agent.yaml")[0] == ends


def test_an_agents_file_with_an_unknown_field_is_refused_unless_it_allows_them() -> None:
    allowing = read_agent(AGENT.format(", colour: red, allowUnknownFields: true").encode(), "f")

    assert allowing.terms == Terms(allow_unknown_fields=True, foreign_plugins=(), plugins=ALWAYS)
