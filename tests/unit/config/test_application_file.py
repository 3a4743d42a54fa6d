"""Both generations and all kinds of application files become one model; what is wrong is said all at once."""

import pytest

from fairway.config.application import ApplicationConfig, Encryption, Generation, SkipOn
from fairway.config.application_file import KINDS
from fairway.config.problems import ConfigError, Severity, path_text
from fairway.config.read import Reading, read_application, read_file
from fairway.config.scalars import Duration


def a_file(kind: str = "KubernetesApp", spec: str = "") -> bytes:
    body = "".join(f"  {line}\n" for line in spec.splitlines()) or "  {}\n"
    return f"apiVersion: pipecd.dev/v1beta1\nkind: {kind}\nspec:\n{body}".encode()


def read(kind: str = "KubernetesApp", spec: str = "") -> Reading:
    (reading,) = read_file(a_file(kind, spec), "app.pipecd.yaml")
    return reading


def config_of(kind: str = "KubernetesApp", spec: str = "") -> ApplicationConfig:
    return read_application(a_file(kind, spec), "app.pipecd.yaml")


def said(reading: Reading) -> list[tuple[str, str, str]]:
    return [(problem.severity.value, path_text(problem.path), problem.message) for problem in reading.problems]


@pytest.mark.parametrize("kind", KINDS)
def test_a_first_generation_kind_becomes_an_application_of_its_plugin(kind: str) -> None:
    config = config_of(kind)

    assert (config.generation, config.kind, list(config.plugins)) == (Generation.V0, kind, [KINDS[kind].plugin])


@pytest.mark.parametrize("kind", [*KINDS, "Application"])
@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("name: SCRIPT_RUN\n      with: {run: 'true'}", id="SCRIPT_RUN"),
        pytest.param("name: WAIT\n      with: {duration: 1m}", id="WAIT"),
        pytest.param("{name: WAIT_APPROVAL, with: {approvers: [ada]}}", id="WAIT_APPROVAL"),
        pytest.param("name: ANALYSIS\n      with: {duration: 1m}", id="ANALYSIS"),
    ],
)
def test_common_stages_fit_into_every_kind(kind: str, stage: str) -> None:
    assert said(read(kind, f"pipeline:\n  stages:\n    - {stage}")) == []


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        pytest.param("KubernetesApp", "", True, id="kubernetes rolls back"),
        pytest.param("TerraformApp", "", False, id="terraform does not"),
        pytest.param("TerraformApp", "input: {autoRollback: true}", True, id="unless told to"),
        pytest.param("KubernetesApp", "input: {autoRollback: false}", False, id="input decides in v0"),
        pytest.param("KubernetesApp", "planner: {autoRollback: false}", True, id="the planner's is v1's"),
        pytest.param("Application", "planner: {autoRollback: false}", False, id="the planner decides in v1"),
        pytest.param("Application", "", True, id="v1 rolls back"),
    ],
)
def test_automatic_rollback_follows_the_generation(kind: str, spec: str, expected: bool) -> None:
    assert config_of(kind, spec).planner.auto_rollback is expected


def test_wait_has_a_default_only_in_the_first_generation() -> None:
    stages = "pipeline:\n  stages:\n    - name: WAIT"

    assert config_of("KubernetesApp", stages).stages[0].options.duration == Duration(minutes=1)
    assert said(read("Application", stages)) == [
        ("error", "spec.pipeline.stages[0].with.duration", f"is missing; expected {Duration.expected}")
    ]


def test_a_standalone_task_is_the_default_of_the_first_generation_only() -> None:
    first = config_of("ECSApp").plugins["ecs"]
    second = config_of("Application", "plugins:\n  ecs: {}").plugins["ecs"]

    assert (first.input.run_standalone_task, second.input.run_standalone_task) == (True, False)


def test_terraform_is_configured_directly_under_its_plugin_in_the_second_generation() -> None:
    first = config_of("TerraformApp", "input: {workspace: dev}").plugins["terraform"]
    second = config_of("Application", "plugins:\n  terraform: {workspace: dev}").plugins["terraform"]

    assert first == second


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("{name: WAIT, id: pause, desc: d, timeout: 5m, skipOn: {paths: [docs]}}", id="beside with"),
        pytest.param(
            "{name: WAIT, with: {id: pause, desc: d, timeout: 5m, skipOn: {paths: [docs]}}}", id="inside with"
        ),
    ],
)
def test_stage_options_stand_beside_or_inside_with(stage: str) -> None:
    (settled,) = config_of("KubernetesApp", f"pipeline:\n  stages:\n    - {stage}").stages

    assert (settled.id, settled.desc, settled.timeout, settled.skip_on) == (
        "pause",
        "d",
        Duration(minutes=5),
        SkipOn(paths=("docs",)),
    )


@pytest.mark.parametrize(
    ("written", "commands"),
    [
        pytest.param("undo", ("undo",), id="text"),
        pytest.param("[undo 1, undo 2]", ("undo 1", "undo 2"), id="list"),
        pytest.param('""', (), id="empty"),
    ],
)
def test_on_rollback_is_text_or_a_list(written: str, commands: tuple[str, ...]) -> None:
    stage = f"pipeline:\n  stages:\n    - {{name: SCRIPT_RUN, with: {{run: do, onRollback: {written}}}}}"

    assert config_of("LambdaApp", stage).stages[0].options.rollback_commands == commands


def test_sealed_values_are_read_from_both_places() -> None:
    spec = "encryptedSecrets: {a: AgEi}\nencryption:\n  encryptedSecrets: {b: AgEj}\n  decryptionTargets: [f.yaml]"

    assert config_of(spec=spec).encryption == Encryption(
        encrypted_secrets={"a": "AgEi", "b": "AgEj"}, decryption_targets=("f.yaml",)
    )


def test_a_script_that_names_an_unknown_secret_is_told_the_near_one() -> None:
    stages = "pipeline:\n  stages:\n    - {name: SCRIPT_RUN, with: {run: 'echo {{ .encryptedSecrets.pasword }}'}}"

    assert said(read("LambdaApp", "encryptedSecrets: {password: AgEi}\n" + stages)) == [
        (
            "error",
            "spec.pipeline.stages[0].with.run",
            "uses the secret 'pasword', which is not among the encryptedSecrets; did you mean 'password'?",
        )
    ]


def test_sealed_values_that_nothing_uses_need_a_target() -> None:
    (problem,) = read(spec="encryption: {encryptedSecrets: {a: AgEi}}").problems

    assert path_text(problem.path) == "spec.encryption.decryptionTargets"


def test_every_error_is_said_at_once_and_in_order() -> None:
    spec = """\
name: 12
planer: {}
timeout: soon
pipeline:
  stages:
    - name: K8S_CANARY_ROLOUT
    - name: SCRIPT_RUN
      with: {run: a, runs: [b]}
    - name: TERRAFORM_APPLY
    - name: ROLLBACK"""

    assert said(read(spec=spec)) == [
        ("error", "spec.name", 'found the number 12, expected a text; put it in quotes: "12"'),
        ("error", "spec.planer", "is not a field of this; did you mean 'planner'?"),
        ("error", "spec.timeout", f'found "soon"; expected {Duration.expected}'),
        (
            "error",
            "spec.pipeline.stages[0].name",
            "is 'K8S_CANARY_ROLOUT'; there is no such stage; did you mean 'K8S_CANARY_ROLLOUT'?",
        ),
        (
            "error",
            "spec.pipeline.stages[1].with.runs",
            "is given beside `run`; write either one script or a list of commands",
        ),
        (
            "error",
            "spec.pipeline.stages[2].name",
            "is TERRAFORM_APPLY, a stage of terraform; this application is deployed by kubernetes",
        ),
        (
            "error",
            "spec.pipeline.stages[3].name",
            "is ROLLBACK, which cannot be written in a pipeline: it is added when a deployment is planned",
        ),
    ]


def test_a_field_in_another_case_is_read_with_a_warning() -> None:
    reading = read(spec="Name: shop")

    assert said(reading) == [("warning", "spec.Name", "is spelled 'name'")]
    assert reading.config.name == "shop"


def test_an_empty_value_is_as_if_it_were_not_there() -> None:
    assert config_of(spec="name: shop\nlabels:\ntrigger:\n  onCommit:") == config_of(spec="name: shop")


def test_the_settings_of_an_unknown_plugin_are_left_to_it() -> None:
    config = config_of("Application", "plugins:\n  mine: {anything: [1, {goes: true}]}")

    assert config.plugins == {"mine": {"anything": [1, {"goes": True}]}}


def test_a_second_generation_pipeline_may_have_stages_of_any_plugin() -> None:
    reading = read("Application", "pipeline:\n  stages:\n    - name: MY_OWN_STAGE\n      with: {x: 1}")

    assert reading.errors == ()
    assert (reading.config.stages[0].options, reading.config.stages[0].written) == ({"x": 1}, {"x": 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"", "the file is empty", id="empty"),
        pytest.param(b"- a\n", "found a list, expected a mapping with apiVersion and kind", id="a list"),
        pytest.param(
            b"apiVersion: pipecd.dev/v1beta2\nkind: Piped\n",
            "found \"pipecd.dev/v1beta2\", expected pipecd.dev/v1beta1; did you mean 'pipecd.dev/v1beta1'?",
            id="another version",
        ),
        pytest.param(b"apiVersion: pipecd.dev/v1beta1\nspec: {}\n", "kind is missing", id="no kind"),
        pytest.param(b"apiVersion: pipecd.dev/v1beta1\nkind: KubernetsApp\n", 'found "KubernetsApp"', id="a near kind"),
    ],
)
def test_what_is_no_file_of_ours_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_application(text, "app.pipecd.yaml")

    assert error.value.problems[0].message.startswith(message)


def test_an_agents_file_is_no_application() -> None:
    agent = b"apiVersion: pipecd.dev/v1beta1\nkind: EventWatcher\nspec: {}\n"

    with pytest.raises(ConfigError, match="is of the kind EventWatcher; expected an application"):
        read_application(agent, "app.pipecd.yaml")


def test_an_application_stands_alone_in_its_file() -> None:
    with pytest.raises(ConfigError, match="has 2 documents"):
        read_application(a_file() + b"---\n" + a_file(), "app.pipecd.yaml")


@pytest.mark.parametrize("kind", ["KubernetesApp", "Application"])
def test_a_script_without_anything_to_run_is_refused(kind: str) -> None:
    stage = "pipeline:\n  stages:\n    - {name: SCRIPT_RUN, with: {onRollback: undo}}"

    assert said(read(kind, stage)) == [
        ("error", "spec.pipeline.stages[0].with.run", "is missing; write the script to run")
    ]


def test_an_id_that_two_stages_have_is_told_of_the_second_as_people_count() -> None:
    stages = "pipeline:\n  stages:\n    - {name: K8S_CANARY_CLEAN, id: a}\n    - {name: K8S_BASELINE_CLEAN, id: a}"

    assert said(read("KubernetesApp", stages)) == [
        ("error", "spec.pipeline.stages[1].id", "is 'a', the id of stage 1 already")
    ]


STAGE = "pipeline:\n  stages:\n    - {name: WAIT_APPROVAL, with: {approvers: [ada]}}\n    - name: K8S_PRIMARY_ROLLOUT\n"
WITH_LABEL = "      with:\n        addVariantLabelToSelector: true\n"
QUICK = "quickSync: {addVariantLabelToSelector: true}\n"


@pytest.mark.parametrize(
    ("kind", "spec", "where", "words"),
    [
        pytest.param(
            "KubernetesApp",
            STAGE + WITH_LABEL,
            (9, "spec.pipeline.stages[1].with.addVariantLabelToSelector"),
            "but not in spec.quickSync: the first deployment is a quick sync",
            id="not in the quick sync",
        ),
        pytest.param(
            "Application",
            STAGE + WITH_LABEL + "plugins: {kubernetes: {}}",
            (9, "spec.pipeline.stages[1].with.addVariantLabelToSelector"),
            "but not in spec.plugins.kubernetes.quickSync",
            id="not in the quick sync of the second generation",
        ),
        pytest.param(
            "KubernetesApp",
            STAGE + QUICK,
            (8, "spec.quickSync.addVariantLabelToSelector"),
            "but not in stage 2, K8S_PRIMARY_ROLLOUT",
            id="not in the stage",
        ),
    ],
)
def test_a_label_that_only_one_way_of_deploying_puts_into_selectors_is_warned_of(
    kind: str, spec: str, where: tuple[int, str], words: str
) -> None:
    (problem,) = read(kind, spec).problems

    assert (problem.severity, problem.position.line, path_text(problem.path)) == (Severity.WARNING, *where)
    assert words in problem.message
    assert "a selector cannot be changed" in problem.message


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        pytest.param("KubernetesApp", STAGE, id="in neither"),
        pytest.param("KubernetesApp", STAGE + WITH_LABEL + QUICK, id="in both"),
        pytest.param("KubernetesApp", QUICK, id="without a pipeline"),
        pytest.param("Application", STAGE + WITH_LABEL + "plugins: {mine: {}}", id="by a plugin of another name"),
    ],
)
def test_a_label_that_every_way_of_deploying_puts_into_selectors_is_no_matter(kind: str, spec: str) -> None:
    assert said(read(kind, spec)) == []
