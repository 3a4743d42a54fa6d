"""Where a plugin deploys an application."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from fairway.config.application import ApplicationConfig, Generation
from fairway.delivery.targets import lacking, targets_for, with_targets
from fairway.model.application import ApplicationKind
from tests.unit.delivery.builders import a_config, a_stage_config
from tests.unit.model.builders import a_deployment, an_application


class Placed(NamedTuple):
    platform_provider: str = ""
    deploy_targets_by_plugin: Mapping[str, tuple[str, ...]] = {}


@pytest.mark.parametrize(
    ("placed", "targets"),
    [
        pytest.param(Placed(deploy_targets_by_plugin={"kubernetes": ("a", "b")}), ("a", "b"), id="as v1 names them"),
        pytest.param(Placed("a"), ("a",), id="the provider of v0"),
        pytest.param(Placed("a", {"kubernetes": ()}), (), id="none, although a provider is left from v0"),
        pytest.param(Placed("a", {"ecs": ("b",)}), ("a",), id="a provider, and targets of another plugin"),
        pytest.param(Placed(), (), id="none"),
    ],
)
def test_a_plugin_gets_the_targets_that_the_application_names(placed: Placed, targets: tuple[str, ...]) -> None:
    assert targets_for("kubernetes", placed, ("a", "b")) == targets


@pytest.mark.parametrize(
    ("placed", "targets"),
    [
        pytest.param(Placed(), ("a",), id="none is named"),
        pytest.param(Placed(deploy_targets_by_plugin={"ecs": ("b",)}), ("a",), id="one of another plugin is"),
        pytest.param(Placed(deploy_targets_by_plugin={"kubernetes": ()}), (), id="it is to be none"),
        pytest.param(Placed("b"), ("b",), id="another one is, which is not there"),
    ],
)
def test_of_one_target_nobody_has_to_choose(placed: Placed, targets: tuple[str, ...]) -> None:
    assert targets_for("kubernetes", placed, ("a",)) == targets


ONE = {"kubernetes": ("a",), "ecs": ("c",)}
TWO = {"kubernetes": ("a", "b"), "ecs": ("c",)}
ON_STAGES = a_config(a_stage_config("K8S_SYNC", 0), plugins={})
ON_BOTH = a_config(a_stage_config("K8S_MULTI_SYNC", 0, written={"multiTargets": ["b", "a"]}))
ELSEWHERE = a_config(a_stage_config("K8S_MULTI_SYNC", 0, written={"multiTargets": ["a", "x"]}))


@pytest.mark.parametrize(
    ("config", "known", "targets"),
    [
        pytest.param(a_config(), ONE, {"kubernetes": ("a",)}, id="the only one of its plugin"),
        pytest.param(ON_STAGES, ONE, {"kubernetes": ("a",), "ecs": ("c",)}, id="of every plugin"),
        pytest.param(a_config(plugins={}), ONE, {}, id="none where neither plugins nor stages are named"),
        pytest.param(a_config(), TWO, {}, id="none of several"),
        pytest.param(ON_BOTH, TWO, {"kubernetes": ("b", "a")}, id="those that its stages name"),
        pytest.param(ELSEWHERE, TWO, {}, id="none where its stages name one that is not there"),
        pytest.param(None, ONE, {}, id="none while its file cannot be used"),
    ],
)
def test_an_application_that_names_no_targets_gets_those_that_can_be_told(
    config: ApplicationConfig | None, known: Mapping[str, tuple[str, ...]], targets: Mapping[str, tuple[str, ...]]
) -> None:
    assert with_targets(an_application(), config, known) == an_application(deploy_targets_by_plugin=targets)


def test_what_an_application_names_stays() -> None:
    named = an_application(deploy_targets_by_plugin={"kubernetes": ("b",)})

    assert with_targets(named, a_config(), ONE) == named


@pytest.mark.parametrize("config", [a_config(), ON_STAGES], ids=["another plugin listed", "no plugin listed"])
def test_a_plugin_that_only_the_deploy_targets_name_is_not_joined_by_others(config: ApplicationConfig) -> None:
    named = an_application(deploy_targets_by_plugin={"kube-2": ("b",)})

    assert with_targets(named, config, ONE | {"kube-2": ("b",)}) == named


@pytest.mark.parametrize(("known", "provider"), [(ONE, "a"), (TWO, "")], ids=["one", "several"])
def test_an_application_of_v0_gets_a_provider(known: Mapping[str, tuple[str, ...]], provider: str) -> None:
    config = a_config(generation=Generation.V0)

    placed = with_targets(an_application(kind=ApplicationKind.KUBERNETES), config, known)

    assert placed == an_application(kind=ApplicationKind.KUBERNETES, platform_provider=provider)


@pytest.mark.parametrize(
    ("placed", "known", "said"),
    [
        pytest.param(
            {"deploy_targets_by_plugin": {"kubernetes": ("a", "b")}},
            ("b", "c"),
            "deploy target a of plugin kubernetes is not in the agent's file any more (it has b, c)",
            id="one of two",
        ),
        pytest.param(
            {"deploy_targets_by_plugin": {"kubernetes": ("a", "b")}},
            (),
            "deploy targets a, b of plugin kubernetes are not in the agent's file any more (it has none)",
            id="all",
        ),
        pytest.param(
            {"platform_provider": "a", "kind": ApplicationKind.KUBERNETES},
            ("b",),
            "deploy target a of plugin kubernetes is not in the agent's file any more (it has b)",
            id="v0's",
        ),
        pytest.param({"platform_provider": "a"}, (), "", id="a plugin without any"),
        pytest.param({"deploy_targets_by_plugin": {"kubernetes": ("a",)}}, ("a",), "", id="none"),
    ],
)
def test_a_deployment_to_a_target_that_was_taken_out_of_the_agents_file_is_not_planned(
    placed: dict[str, Any], known: tuple[str, ...], said: str
) -> None:
    assert lacking("kubernetes", a_deployment(**placed), known) == said
