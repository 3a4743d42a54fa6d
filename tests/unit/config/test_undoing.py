"""`onRollback` on a stage of any plugin: where it may stand, and who sees it."""

import pytest

from fairway.config.application import UndoScript
from fairway.config.read import Reading, read_file
from tests.unit.config.test_application_file import a_file, config_of, said

KINDS = ["KubernetesApp", "Application"]
ONE = UndoScript(on_rollback="undo it", env={"A": "b"})


def stages(*written: str) -> str:
    return "pipeline:\n  stages:\n" + "".join(f"    - {stage}\n" for stage in written)


def read(kind: str, *written: str) -> Reading:
    (reading,) = read_file(a_file(kind, stages(*written)), "app.pipecd.yaml")
    return reading


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "stage",
    [
        pytest.param(
            "{name: K8S_CANARY_ROLLOUT, onRollback: undo it, env: {A: b}, with: {replicas: 2}}", id="beside with"
        ),
        pytest.param(
            "{name: K8S_CANARY_ROLLOUT, with: {replicas: 2, onRollback: undo it, env: {A: b}}}", id="inside with"
        ),
    ],
)
def test_a_stage_says_how_it_is_undone_and_its_plugin_is_not_told(stage: str, kind: str) -> None:
    reading = read(kind, stage)

    (settled,) = config_of(kind, stages(stage)).stages
    assert (settled.undo, settled.written, said(reading)) == (ONE, {"replicas": 2}, [])


def test_a_stage_of_a_plugin_that_nobody_knows_keeps_its_own_env() -> None:
    inside, beside, without = config_of(
        "Application",
        stages(
            "{name: BUILD, with: {x: 1, onRollback: undo it, env: {A: b}}}",
            "{name: BUILD, onRollback: undo it, env: {A: b}, with: {env: [its own]}}",
            "{name: BUILD, with: {env: {C: d}}}",
        ),
    ).stages

    assert (inside.undo, inside.written, inside.options) == (ONE, {"x": 1}, {"x": 1})
    assert (beside.undo, beside.written) == (ONE, {"env": ["its own"]})
    assert (without.undo, without.written) == (None, {"env": {"C": "d"}})


def test_a_script_gets_all_of_it_from_either_place() -> None:
    stage = "{name: SCRIPT_RUN, onRollback: [one, two], env: {A: b}, with: {run: do, env: {A: x, C: d}}}"

    (settled,) = config_of("LambdaApp", stages(stage)).stages

    assert settled.undo is None
    assert settled.written == {"run": "do", "onRollback": ["one", "two"], "env": {"A": "b", "C": "d"}}
    assert (settled.options.rollback_commands, settled.options.env) == (("one", "two"), {"A": "b", "C": "d"})


@pytest.mark.parametrize("empty", ['""', "[]", ""], ids=["no text", "no commands", "nothing"])
def test_an_empty_script_is_none(empty: str) -> None:
    (settled,) = config_of("KubernetesApp", stages(f"{{name: WAIT, with: {{onRollback: {empty}}}}}")).stages

    assert (settled.undo, settled.written) == (None, {"duration": "1m"})


AT = "spec.pipeline.stages[0]"


@pytest.mark.parametrize(
    ("stage", "problem"),
    [
        pytest.param(
            "{name: K8S_CANARY_CLEAN, with: {onRollback: 5}}",
            ("error", f"{AT}.with.onRollback", "found the number 5, expected a text or a list"),
            id="a number",
        ),
        pytest.param(
            "{name: K8S_CANARY_CLEAN, with: {onRollback: x, env: [a]}}",
            ("error", f"{AT}.with.env", "found a list, expected a mapping"),
            id="variables that are none",
        ),
        pytest.param(
            "{name: K8S_CANARY_CLEAN, env: {A: b}}",
            ("warning", f"{AT}.env", "has no effect: it is for an `onRollback` beside it, and there is none"),
            id="variables for nobody",
        ),
        pytest.param(
            "{name: K8S_CANARY_CLEAN, onRollback: one, with: {onRollback: two}}",
            (
                "warning",
                f"{AT}.with.onRollback",
                "has no effect: the stage has onRollback beside `with`, which wins",
            ),
            id="twice",
        ),
        pytest.param(
            "{name: K8S_CANARY_CLEAN, onRollback: 'echo {{ .encryptedSecrets.gone }}'}",
            ("error", f"{AT}.onRollback", "uses the secret 'gone', which is not among the encryptedSecrets"),
            id="a secret that nobody sealed",
        ),
    ],
)
def test_what_is_wrong_is_said(stage: str, problem: tuple[str, str, str]) -> None:
    assert said(read("KubernetesApp", stage)) == [problem]
