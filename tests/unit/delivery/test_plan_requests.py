"""Which plugin is asked for which stages."""

from fairway.config.application import StageConfig
from fairway.delivery.owner import Serving
from fairway.delivery.plan import RequestDecision, StageRequest, decide_requests
from fairway.model.trigger import SyncStrategy
from tests.unit.delivery.builders import a_config, a_pipeline
from tests.unit.delivery.test_plan import CANARY, OWNERS, PRIMARY, SCRIPT

SERVING = Serving(of_stage=OWNERS)


def test_a_quick_sync_asks_the_platform_even_if_only_scripts_are_in_the_pipeline() -> None:
    config = a_config(SCRIPT, plugins={"lambda": {}})

    decision = decide_requests(config, SyncStrategy.QUICK_SYNC, Serving(of_stage={"SCRIPT_RUN": ("scriptrun",)}))

    assert decision.requests == (StageRequest(plugin="lambda"), StageRequest(plugin="scriptrun"))


def requests(*asked: tuple[str, tuple[StageConfig, ...]], reason: str, unsettled: bool = False) -> RequestDecision:
    made = tuple(StageRequest(plugin=plugin, stages=stages) for plugin, stages in asked)
    return RequestDecision(requests=made, reason=reason, unsettled=unsettled)


def test_each_plugin_is_asked_for_its_own_stages() -> None:
    decision = decide_requests(a_config(CANARY, SCRIPT, PRIMARY), SyncStrategy.PIPELINE, SERVING)

    asked = (("kubernetes", (CANARY, PRIMARY)), ("scriptrun", (SCRIPT,)))
    assert decision == requests(*asked, reason="kubernetes, scriptrun plan this application")


def test_a_quick_sync_asks_the_plugins_of_the_pipeline_for_no_stage() -> None:
    decision = decide_requests(a_config(CANARY, SCRIPT), SyncStrategy.QUICK_SYNC, SERVING)

    assert decision == requests(
        ("kubernetes", ()), ("scriptrun", ()), reason="kubernetes, scriptrun plan this application"
    )


def test_without_a_pipeline_the_plugins_of_the_file_are_asked() -> None:
    decision = decide_requests(a_config(plugins={"terraform": {}}), SyncStrategy.QUICK_SYNC, SERVING)

    assert decision == requests(("terraform", ()), reason="terraform plan this application")


def test_a_stage_that_no_plugin_has_is_named() -> None:
    decision = decide_requests(a_config(*a_pipeline("SCRIPT_RUN", "SCRIPTRUN", "X")), SyncStrategy.PIPELINE, SERVING)

    known = "K8S_CANARY_ROLLOUT, K8S_PRIMARY_ROLLOUT, ROLLBACK, SCRIPT_RUN, SCRIPT_RUN_ROLLBACK"
    unknown = "SCRIPTRUN (stage 2; did you mean 'SCRIPT_RUN'?), X (stage 3)"
    assert decision == requests(reason=f"No plugin of this agent has {unknown}; it has {known}", unsettled=True)


def test_a_stage_of_a_plugin_that_the_agent_lacks_is_not_taken_for_another() -> None:
    serving = Serving(of_stage={"PROCESS_PRIMARY_ROLLOUT": ("process",)})

    lacking = decide_requests(a_config(*a_pipeline("ECS_PRIMARY_ROLLOUT")), SyncStrategy.PIPELINE, serving)
    both = decide_requests(a_config(*a_pipeline("ECS_SYNC", "X", "ECS_SYNC")), SyncStrategy.PIPELINE, serving)

    remedy = "add the plugin ecs to the agent's file"
    assert lacking == requests(
        reason=f"No plugin of this agent has ECS_PRIMARY_ROLLOUT (stage 1); {remedy}", unsettled=True
    )
    assert both == requests(
        reason="No plugin of this agent has ECS_SYNC (stage 1), X (stage 2), ECS_SYNC (stage 3); "
        f"it has PROCESS_PRIMARY_ROLLOUT; {remedy}",
        unsettled=True,
    )


def test_an_application_without_plugins_says_what_to_write() -> None:
    decision = decide_requests(a_config(plugins={}), SyncStrategy.QUICK_SYNC, SERVING)

    advice = "write the plugin's settings under spec.plugins, or a pipeline"
    assert decision == requests(reason=f"The application names no plugin: {advice}")
