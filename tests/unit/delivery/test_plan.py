"""One plan from the answers of several plugins."""

from typing import Any

import pytest

from fairway.config.application import Generation, SkipOn, StageConfig, UndoScript
from fairway.delivery.owner import Serving
from fairway.delivery.plan import PlanDecision, PlanFacts, PluginStages, StageRequest, decide_plan
from fairway.model.artifact import ArtifactKind, ArtifactVersion
from fairway.model.plan import Plan
from fairway.model.stage import Stage
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_pipeline, a_stage_config
from tests.unit.model.builders import LATER, a_stage

OWNERS = {
    "K8S_CANARY_ROLLOUT": ("kubernetes",),
    "K8S_PRIMARY_ROLLOUT": ("kubernetes",),
    "SCRIPT_RUN": ("scriptrun",),
    "SCRIPT_RUN_ROLLBACK": ("scriptrun",),
    "ROLLBACK": ("kubernetes",),
}
CANARY, SCRIPT, PRIMARY = a_pipeline("K8S_CANARY_ROLLOUT", "SCRIPT_RUN", "K8S_PRIMARY_ROLLOUT")


def answered(name: str, index: int = 0, **fields: Any) -> Stage:
    return a_stage("", name=name, index=index, **fields)


def planned(id: str, name: str, index: int = 0, **fields: Any) -> Stage:
    return a_stage(id, name=name, index=index, created_at=LATER, updated_at=LATER, **fields)


K8S_ANSWER = (
    answered("K8S_PRIMARY_ROLLOUT", 2),
    answered("K8S_CANARY_ROLLOUT", 0),
    answered("K8S_ROLLBACK", 0, rollback=True),
)
SCRIPT_ANSWER = (answered("SCRIPT_RUN_ROLLBACK", 1, rollback=True), answered("SCRIPT_RUN", 1))


def pipeline_facts(
    k8s: tuple[Stage, ...] = K8S_ANSWER, script: tuple[Stage, ...] = SCRIPT_ANSWER, **f: Any
) -> PlanFacts:
    known: dict[str, Any] = {
        "config": a_config(CANARY, SCRIPT, PRIMARY),
        "strategy": SyncStrategy.PIPELINE,
        "strategy_reason": "Pipeline, because the image changed",
        "serving": Serving(of_stage=OWNERS),
        "requests": (
            StageRequest(plugin="kubernetes", stages=(CANARY, PRIMARY)),
            StageRequest(plugin="scriptrun", stages=(SCRIPT,)),
        ),
        "answers": (PluginStages(plugin="kubernetes", stages=k8s), PluginStages(plugin="scriptrun", stages=script)),
    }
    return PlanFacts(**{**known, **f})


def stages_of(decision: PlanDecision) -> tuple[Stage, ...]:
    assert decision.plan is not None, decision.reason
    return decision.plan.stages


def test_a_pipeline_is_merged_in_the_order_of_the_file() -> None:
    versions = (ArtifactVersion(kind=ArtifactKind.CONTAINER_IMAGE, name="cart", version="v2"),)

    decision = decide_plan(pipeline_facts(versions=versions, running_commit_hash="decade"), LATER)

    plan = Plan(
        sync_strategy=SyncStrategy.PIPELINE,
        summary="Pipeline, because the image changed",
        reason="The deployment has been planned",
        stages=(
            planned("stage-0", "K8S_CANARY_ROLLOUT", 0),
            planned("stage-1", "SCRIPT_RUN", 1, requires=("stage-0",)),
            planned("stage-2", "K8S_PRIMARY_ROLLOUT", 2, requires=("stage-1",)),
            planned("rollback-0", "K8S_ROLLBACK", 0, rollback=True),
            planned("rollback-1", "SCRIPT_RUN_ROLLBACK", 1, rollback=True, desc="undoes SCRIPT_RUN (stage 2)"),
        ),
        versions=versions,
        running_commit_hash="decade",
    )
    assert decision == PlanDecision(plan=plan, reason="Pipeline, because the image changed")


def test_a_plan_without_versions_says_that_they_are_unknown() -> None:
    plan = decide_plan(pipeline_facts(), LATER).plan

    assert plan is not None
    assert plan.versions == (ArtifactVersion(kind=ArtifactKind.UNKNOWN, version="unknown"),)


def test_planning_twice_gives_the_same_plan() -> None:
    assert decide_plan(pipeline_facts(), LATER) == decide_plan(pipeline_facts(), LATER)


def test_a_platform_undoes_before_a_script_that_stands_before_it() -> None:
    script, canary = a_pipeline("SCRIPT_RUN", "K8S_CANARY_ROLLOUT")
    k8s = (answered("K8S_CANARY_ROLLOUT", 1), answered("K8S_ROLLBACK", 1, rollback=True))
    facts = pipeline_facts(
        k8s,
        (answered("SCRIPT_RUN"), answered("SCRIPT_RUN_ROLLBACK", rollback=True)),
        config=a_config(script, canary),
        requests=(
            StageRequest(plugin="kubernetes", stages=(canary,)),
            StageRequest(plugin="scriptrun", stages=(script,)),
        ),
    )

    names = [stage.name for stage in stages_of(decide_plan(facts, LATER))]

    assert names == ["SCRIPT_RUN", "K8S_CANARY_ROLLOUT", "K8S_ROLLBACK", "SCRIPT_RUN_ROLLBACK"]


def test_a_quick_sync_runs_what_each_plugin_wants_and_undoes_at_the_end() -> None:
    facts = pipeline_facts(
        (answered("K8S_SYNC"), answered("K8S_ROLLBACK", rollback=True)),
        (answered("TERRAFORM_APPLY"), answered("TERRAFORM_ROLLBACK", rollback=True)),
        strategy=SyncStrategy.QUICK_SYNC,
    )

    assert stages_of(decide_plan(facts, LATER)) == (
        planned("sync-0", "K8S_SYNC"),
        planned("sync-1", "TERRAFORM_APPLY", requires=("sync-0",)),
        planned("rollback-0", "K8S_ROLLBACK", rollback=True),
        planned("rollback-1", "TERRAFORM_ROLLBACK", rollback=True),
    )


def test_a_v0_application_is_undone_under_its_own_names() -> None:
    config = a_config(CANARY, SCRIPT, PRIMARY, generation=Generation.V0, kind="KubernetesApp")

    stages = stages_of(decide_plan(pipeline_facts(K8S_ANSWER[:2], SCRIPT_ANSWER[1:], config=config), LATER))

    v0 = {"rollback": True, "predefined": True, "visible": False}
    assert stages[3:] == (
        planned("rollback", "ROLLBACK", **v0),
        planned(
            "stage-1-rollback",
            "SCRIPT_RUN_ROLLBACK",
            1,
            desc="undoes SCRIPT_RUN (stage 2)",
            metadata={"baseStageID": "stage-1"},
            **v0,
        ),
    )


def test_a_v0_quick_sync_has_the_platforms_rollback_alone() -> None:
    config = a_config(CANARY, SCRIPT, generation=Generation.V0, kind="KubernetesApp")
    facts = pipeline_facts((answered("K8S_SYNC"),), (), config=config, strategy=SyncStrategy.QUICK_SYNC)

    assert [stage.name for stage in stages_of(decide_plan(facts, LATER))] == ["K8S_SYNC", "ROLLBACK"]


def test_a_v0_application_of_scripts_alone_is_not_undone_by_another_platforms_plugin() -> None:
    (script,) = a_pipeline("SCRIPT_RUN")
    config = a_config(script, generation=Generation.V0, kind="LambdaApp", plugins={"lambda": {}})
    requests = (StageRequest(plugin="scriptrun", stages=(script,)),)
    answers = (PluginStages(plugin="scriptrun", stages=(answered("SCRIPT_RUN"),)),)

    facts = pipeline_facts(config=config, requests=requests, answers=answers)

    assert [stage.name for stage in stages_of(decide_plan(facts, LATER))] == ["SCRIPT_RUN", "SCRIPT_RUN_ROLLBACK"]


def test_a_v0_application_that_nobody_could_undo_has_no_rollback() -> None:
    config = a_config(CANARY, SCRIPT, PRIMARY, generation=Generation.V0, kind="KubernetesApp")
    facts = pipeline_facts(K8S_ANSWER[:2], SCRIPT_ANSWER[1:], config=config, serving=Serving(of_stage={}))

    assert [stage.name for stage in stages_of(decide_plan(facts, LATER))] == [
        "K8S_CANARY_ROLLOUT",
        "SCRIPT_RUN",
        "K8S_PRIMARY_ROLLOUT",
    ]


UNDO = UndoScript(on_rollback="undo")


def undone(name: str, index: int) -> StageConfig:
    return a_stage_config(name, index, undo=UNDO)


def test_stages_of_any_plugin_are_undone_by_their_scripts_in_pipeline_order() -> None:
    config = a_config(undone("K8S_CANARY_ROLLOUT", 0), SCRIPT, undone("K8S_PRIMARY_ROLLOUT", 2))

    stages = stages_of(decide_plan(pipeline_facts(config=config), LATER))

    assert stages[3:] == (
        planned("rollback-0", "K8S_ROLLBACK", 0, rollback=True),
        planned(
            "rollback-1",
            "SCRIPT_RUN_ROLLBACK",
            0,
            rollback=True,
            desc="undoes K8S_CANARY_ROLLOUT (stage 1)",
            metadata={"baseStageID": "stage-0"},
        ),
        planned("rollback-2", "SCRIPT_RUN_ROLLBACK", 1, rollback=True, desc="undoes SCRIPT_RUN (stage 2)"),
        planned(
            "rollback-3",
            "SCRIPT_RUN_ROLLBACK",
            2,
            rollback=True,
            desc="undoes K8S_PRIMARY_ROLLOUT (stage 3)",
            metadata={"baseStageID": "stage-2"},
        ),
    )


def test_a_stage_of_a_v0_application_is_undone_by_its_script_too() -> None:
    config = a_config(undone("K8S_CANARY_ROLLOUT", 0), SCRIPT, PRIMARY, generation=Generation.V0, kind="KubernetesApp")

    answered_by_plugins = stages_of(decide_plan(pipeline_facts(config=config), LATER))
    by_nobody = stages_of(decide_plan(pipeline_facts(K8S_ANSWER[:2], SCRIPT_ANSWER[1:], config=config), LATER))

    assert [(stage.name, stage.index) for stage in answered_by_plugins[3:]] == [
        ("K8S_ROLLBACK", 0),
        ("SCRIPT_RUN_ROLLBACK", 0),
        ("SCRIPT_RUN_ROLLBACK", 1),
    ]
    assert [(stage.name, stage.index) for stage in by_nobody[3:]] == [
        ("ROLLBACK", 0),
        ("SCRIPT_RUN_ROLLBACK", 0),
        ("SCRIPT_RUN_ROLLBACK", 1),
    ]


def test_what_undoes_a_stage_says_which_with_the_words_of_the_file() -> None:
    script = (
        answered("SCRIPT_RUN_ROLLBACK", 1, rollback=True, desc="Migrate"),
        answered("SCRIPT_RUN", 1, desc="Migrate"),
    )

    stages = stages_of(decide_plan(pipeline_facts(script=script), LATER))

    assert stages[-1].desc == "undoes SCRIPT_RUN (stage 2): Migrate"


NOT_SCRIPTS = {name: plugins for name, plugins in OWNERS.items() if name != "SCRIPT_RUN_ROLLBACK"}


@pytest.mark.parametrize(
    ("stages", "owners", "reason"),
    [
        pytest.param(
            (undone("K8S_CANARY_ROLLOUT", 0), SCRIPT, PRIMARY),
            NOT_SCRIPTS,
            "stage 1 (K8S_CANARY_ROLLOUT) has onRollback, which is run by the stage SCRIPT_RUN_ROLLBACK. "
            "No plugin of this agent has SCRIPT_RUN_ROLLBACK; add the plugin scriptrun (url builtin:scriptrun) to the "
            "agent's file, or take onRollback away",
            id="nobody",
        ),
        pytest.param(
            (undone("K8S_CANARY_ROLLOUT", 0), SCRIPT, undone("K8S_PRIMARY_ROLLOUT", 2)),
            {**OWNERS, "SCRIPT_RUN_ROLLBACK": ("one", "two")},
            "stages 1 (K8S_CANARY_ROLLOUT), 3 (K8S_PRIMARY_ROLLOUT) have onRollback, which is run by the stage "
            "SCRIPT_RUN_ROLLBACK. Plugins one and two both have SCRIPT_RUN_ROLLBACK; list exactly one of them under "
            "spec.plugins of the application, or register the application with a deploy target of one of them",
            id="two",
        ),
    ],
)
def test_a_stage_whose_script_nobody_would_run_fails_the_plan(
    stages: tuple[StageConfig, ...], owners: dict[str, tuple[str, ...]], reason: str
) -> None:
    decision = decide_plan(pipeline_facts(config=a_config(*stages), serving=Serving(of_stage=owners)), LATER)

    assert decision == PlanDecision(plan=None, reason=f"Planning failed: {reason}")


def test_a_quick_sync_runs_no_script_of_the_pipeline() -> None:
    config = a_config(undone("K8S_CANARY_ROLLOUT", 0), SCRIPT)
    sync = (answered("K8S_SYNC"), answered("K8S_ROLLBACK", rollback=True))
    facts = pipeline_facts(
        sync, (), config=config, strategy=SyncStrategy.QUICK_SYNC, serving=Serving(of_stage=NOT_SCRIPTS)
    )

    assert [stage.name for stage in stages_of(decide_plan(facts, LATER))] == ["K8S_SYNC", "K8S_ROLLBACK"]


def test_ids_from_the_file_are_kept() -> None:
    named = (a_stage_config("K8S_CANARY_ROLLOUT", 0, id="canary"), SCRIPT, PRIMARY)

    stages = stages_of(decide_plan(pipeline_facts(config=a_config(*named)), LATER))

    assert [(stage.id, stage.requires) for stage in stages[:2]] == [("canary", ()), ("stage-1", ("canary",))]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param(
            {"k8s": (*K8S_ANSWER, answered("K8S_SYNC", 9))},
            "plugin kubernetes answered with stage 10, which it was not asked for",
            id="an index nobody has",
        ),
        pytest.param(
            {"k8s": (*K8S_ANSWER, answered("K8S_SYNC", 1))},
            "plugin kubernetes answered with stage 2, which it was not asked for",
            id="an index of another plugin",
        ),
        pytest.param(
            {"k8s": (*K8S_ANSWER, answered("K8S_SYNC", 0))},
            "plugin kubernetes answered with 2 stages for stage 1 (K8S_CANARY_ROLLOUT); one was expected",
            id="an index twice",
        ),
        pytest.param(
            {"k8s": K8S_ANSWER[1:]},
            "plugin kubernetes answered with no stage for stage 3 (K8S_PRIMARY_ROLLOUT); one was expected",
            id="an index left out",
        ),
        pytest.param(
            {"k8s": (*K8S_ANSWER, answered("K8S_ROLLBACK", 0, rollback=True))},
            "plugin kubernetes answered with 2 rollbacks for stage 1 (K8S_CANARY_ROLLOUT)",
            id="two rollbacks for an index",
        ),
        pytest.param(
            {"config": a_config(a_stage_config("K8S_CANARY_ROLLOUT", 0, id="stage-1"), SCRIPT, PRIMARY)},
            "more than one stage has the id stage-1; give each its own",
            id="an id twice",
        ),
        pytest.param(
            {"config": a_config(a_stage_config("K8S_CANARY_ROLLOUT", skip_on=SkipOn(paths=("..",))), SCRIPT, PRIMARY)},
            'skipOn.paths of stage 1 (K8S_CANARY_ROLLOUT): ".." leaves the repository; patterns start at its root',
            id="a pattern that means nothing",
        ),
    ],
)
def test_an_answer_that_does_not_fit_fails_the_plan(changes: dict[str, Any], problem: str) -> None:
    decision = decide_plan(pipeline_facts(**changes), LATER)

    assert decision == PlanDecision(plan=None, reason=f"Planning failed: {problem}")


def test_every_finding_is_in_the_reason() -> None:
    decision = decide_plan(pipeline_facts(k8s=(), script=()), LATER)

    assert decision.reason.count("answered with no stage for stage") == 3


def test_a_pipeline_that_can_never_end_well_is_not_begun() -> None:
    config = a_config(CANARY, SCRIPT, PRIMARY, impossible=("stage 2 (K8S_TRAFFIC_ROUTING): sends half",))

    decision = decide_plan(pipeline_facts(config=config), LATER)

    assert decision == PlanDecision(plan=None, reason="Planning failed: stage 2 (K8S_TRAFFIC_ROUTING): sends half")


def test_the_pipeline_runs_where_no_plugin_has_a_quick_sync() -> None:
    decision = decide_plan(pipeline_facts((), (), strategy=SyncStrategy.QUICK_SYNC), LATER)

    assert decision == PlanDecision(
        plan=None,
        reason="Pipeline, because no plugin of this application has a quick sync",
        instead=SyncStrategy.PIPELINE,
    )


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"strategy_was_asked_for": True}, id="a person asked for a quick sync"),
        pytest.param({"config": a_config()}, id="there is no pipeline"),
    ],
)
def test_a_quick_sync_without_a_stage_fails_the_plan(facts: dict[str, Any]) -> None:
    decision = decide_plan(pipeline_facts((), (), strategy=SyncStrategy.QUICK_SYNC, **facts), LATER)

    assert decision == PlanDecision(plan=None, reason="Planning failed: the plugins answered with no stage at all")
