"""What would lose safety in silence is an error: unknown fields, empty pipelines, values that no key opens."""

import pytest

from fairway.config.problems import Severity, path_text
from fairway.config.read import Reading, api_versions, read_application, read_application_file, read_file
from fairway.config.terms import ACCEPTED, UNKNOWN_AGENT, Terms


def read(kind: str = "Application", spec: str = "{}", terms: Terms = UNKNOWN_AGENT) -> Reading:
    body = "".join(f"  {line}\n" for line in spec.splitlines())
    data = f"apiVersion: pipecd.dev/v1beta1\nkind: {kind}\nspec:\n{body}".encode()
    return read_application_file(data, "app.pipecd.yaml", terms)


def said(reading: Reading) -> list[tuple[str, str, str]]:
    return [(problem.severity.value, path_text(problem.path), problem.message) for problem in reading.problems]


UNKNOWN_FIELDS = [
    pytest.param("KubernetesApp", "nonsense: 1", id="the spec of a v0 kind"),
    pytest.param("KubernetesApp", "input: {nonsense: 1}", id="its platform's input"),
    pytest.param("KubernetesApp", "pipeline: {stages: [{name: WAIT, nonsense: 1}]}", id="a stage"),
    pytest.param("KubernetesApp", "pipeline: {stages: [{name: WAIT, with: {nonsense: 1}}]}", id="its options"),
    pytest.param("Application", "nonsense: 1", id="a v1 spec"),
    pytest.param("Application", "trigger: {onCommit: {nonsense: 1}}", id="a mapping of a v1 spec"),
    pytest.param("Application", "plugins: {kubernetes: {nonsense: 1}}", id="a known plugin"),
]


@pytest.mark.parametrize(("kind", "spec"), UNKNOWN_FIELDS)
def test_unknown_fields_are_refused_in_every_kind(kind: str, spec: str) -> None:
    (problem,) = read(kind, spec).problems

    assert (problem.severity, problem.path[-1]) == (Severity.ERROR, "nonsense")


@pytest.mark.parametrize(("kind", "spec"), UNKNOWN_FIELDS)
def test_unknown_fields_are_warnings_where_the_terms_allow_them(kind: str, spec: str) -> None:
    reading = read(kind, spec, Terms(allow_unknown_fields=True))

    (problem,) = reading.problems
    assert (problem.severity, problem.path[-1]) == (Severity.WARNING, "nonsense")
    assert (reading.config.allows_unknown_fields, reading.config.ignored_fields) == (True, (path_text(problem.path),))


@pytest.mark.parametrize(
    ("spec", "path", "meant"),
    [
        ("piepline: {stages: [{name: WAIT, with: {duration: 1s}}]}", "spec.piepline", "pipeline"),
        (
            "pipeline: {stages: [{name: WAIT_APPROVAL, with: {approver: [ada]}}]}",
            "spec.pipeline.stages[0].with.approver",
            "approvers",
        ),
        (
            "pipeline: {stages: [{name: WAIT_APPROVAL, with: {minApproverNums: 2}}]}",
            "spec.pipeline.stages[0].with.minApproverNums",
            "minApproverNum",
        ),
        (
            "pipeline: {stages: [{name: SCRIPT_RUN, with: {run: ls, onRolback: ls}}]}",
            "spec.pipeline.stages[0].with.onRolback",
            "onRollback",
        ),
    ],
)
def test_a_typo_that_would_remove_safety_is_an_error_with_the_field_that_was_meant(
    spec: str, path: str, meant: str
) -> None:
    # WAIT_APPROVAL without approvers is a warning beside it.
    errors = [each for each in said(read(spec=spec)) if each[0] == "error"]
    assert errors == [("error", path, f"is not a field of this; did you mean {meant!r}?")]


def test_options_that_are_ignored_do_not_reach_the_plugin() -> None:
    stage = "{name: K8S_CANARY_ROLLOUT, with: {nonsense: 1, patches: [{target: {kind: D, name: web, no: 1}, ops: []}]}}"

    config = read(spec=f"pipeline: {{stages: [{stage}]}}", terms=Terms(allow_unknown_fields=True)).config

    assert config.stages[0].written == {"patches": [{"target": {"kind": "D", "name": "web"}, "ops": []}]}


@pytest.mark.parametrize(
    ("kind", "stage", "field"),
    [
        ("KubernetesApp", "{name: ANALYSIS, with: {duration: 5m, threshold: 2}}", "threshold"),
        ("KubernetesApp", "{name: CUSTOM_SYNC, with: {run: ls, env: {A: b}}}", "env"),
    ],
)
def test_fields_of_pipecds_examples_that_no_release_reads_are_warnings(kind: str, stage: str, field: str) -> None:
    reading = read(kind, f"pipeline: {{stages: [{stage}]}}")

    assert reading.errors == ()
    assert field in [problem.path[-1] for problem in reading.problems]


def test_the_plugins_of_a_first_generation_kind_have_no_effect() -> None:
    (problem,) = read("KubernetesApp", "plugins: {other: {}}").problems

    assert str(problem) == (
        "app.pipecd.yaml:4:3: warning: spec.plugins: has no effect: KubernetesApp is deployed by kubernetes; "
        "write kind: Application to name plugins"
    )


@pytest.mark.parametrize("pipeline", ["pipeline: {stages: []}", "pipeline: {}", "pipeline:", "pipeline: {stages: }"])
@pytest.mark.parametrize("kind", ["KubernetesApp", "Application"])
def test_a_pipeline_without_stages_is_refused(kind: str, pipeline: str) -> None:
    message = "is empty; write at least one stage, or remove pipeline to deploy by quick sync"
    assert said(read(kind, pipeline)) == [("error", "spec.pipeline.stages", message)]


@pytest.mark.parametrize("kind", ["KubernetesApp", "Application", "Piped", "ControlPlane", "EventWatcher", "Pipeline"])
def test_a_file_without_a_spec_is_refused(kind: str) -> None:
    data = f"apiVersion: {api_versions(kind)[0]}\nkind: {kind}\n".encode()
    (reading,) = read_file(data, "f")

    assert said(reading) == [("error", "spec", "is missing; expected a mapping")]


def test_a_misspelt_spec_is_named() -> None:
    data = b"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspce: {name: shop}\n"

    assert said(read_application_file(data, "f")) == [
        ("error", "spec", "is missing; expected a mapping"),
        ("error", "spce", "is not a field of this; did you mean 'spec'?"),
    ]


HEADER = b"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: shop}\n"


def test_two_documents_in_the_file_of_an_application_are_refused_where_the_second_begins() -> None:
    reading = read_application_file(HEADER + b"---\n" + HEADER, "app.pipecd.yaml")

    assert [str(problem) for problem in reading.errors] == [
        "app.pipecd.yaml:5:1: error: the file has 2 documents; an application is one document in a file of its own"
    ]


@pytest.mark.parametrize("data", [HEADER + b"---\n", b"---\n---\n" + HEADER])
def test_an_empty_document_beside_an_application_is_nothing(data: bytes) -> None:
    assert read_application_file(data, "f").problems == ()


def test_the_file_of_an_application_holds_an_application() -> None:
    data = b"apiVersion: pipecd.dev/v1beta1\nkind: EventWatcher\nspec: {events: []}\n"

    (problem,) = read_application_file(data, "app.pipecd.yaml").errors
    assert problem.message.startswith("is of the kind EventWatcher; expected an application (kind Application, ")


@pytest.mark.parametrize("place", ["encryptedSecrets: {{a: {}}}", "encryption: {{encryptedSecrets: {{a: {}}}}}"])
def test_a_sealed_value_that_is_not_base64_is_refused_and_not_repeated(place: str) -> None:
    stage = "pipeline: {stages: [{name: SCRIPT_RUN, with: {run: 'echo {{ .encryptedSecrets.a }}'}}]}"
    (problem,) = read(spec=f"{place.format('not-sealed')}\n{stage}").problems

    assert (problem.severity, problem.path[-2:]) == (Severity.ERROR, ("encryptedSecrets", "a"))
    assert problem.message == "is not base64; write what `fairway encrypt` prints"
    assert read(spec=f"{place.format('AgEi AgEi')}\n{stage}").problems == ()


@pytest.mark.parametrize(
    ("terms", "severity", "message"),
    [
        (
            UNKNOWN_AGENT,
            "warning",
            "is 'WIAT', which no built-in plugin has; a plugin of the agent must have it; did you mean 'WAIT'?",
        ),
        (
            Terms(foreign_plugins=("a", "b")),
            "warning",
            "is 'WIAT', which no built-in plugin has; known at planning: the stages of a, b; did you mean 'WAIT'?",
        ),
        (Terms(foreign_plugins=()), "error", "is 'WIAT', which no plugin of the agent has; did you mean 'WAIT'?"),
    ],
)
def test_an_unknown_stage_is_judged_by_what_is_known_of_the_agent(terms: Terms, severity: str, message: str) -> None:
    reading = read(spec="pipeline: {stages: [{name: WIAT}]}", terms=terms)

    assert said(reading) == [(severity, "spec.pipeline.stages[0].name", message)]


def test_a_plugin_that_the_agent_does_not_have_is_a_warning() -> None:
    agent = Terms(foreign_plugins=(), plugins=("process", "wait"))
    spec = "plugins: {procces: {}, process: {command: [sleep]}}"

    assert said(read(spec=spec, terms=agent))[0] == (
        "warning",
        "spec.plugins.procces",
        "is not a plugin of the agent; did you mean 'process'?",
    )
    assert all("is not a plugin" not in message for _, _, message in said(read(spec=spec, terms=UNKNOWN_AGENT)))


@pytest.mark.parametrize(
    "spec",
    ["nonsense: 1", "pipeline: {stages: []}", "encryption: {encryptedSecrets: {a: '-'}, decryptionTargets: [f]}"],
)
def test_what_an_agent_accepted_before_stays_readable(spec: str) -> None:
    assert read(spec=spec, terms=ACCEPTED).config is not None


def test_what_pipecd_deployed_stays_readable() -> None:
    assert read_application(b"apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\n", "f", ACCEPTED).name == ""
    assert read_application(HEADER + b"---\nkind: Deployment\n", "f", ACCEPTED).name == "shop"
