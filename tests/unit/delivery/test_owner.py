"""Which plugins serve an application and its stages."""

import pytest

from fairway.delivery.owner import OwnerDecision, Serving, decide_owner, used_plugins
from tests.unit.delivery.builders import a_config, a_pipeline

OF_STAGE = {"WAIT": ("wait",), "SCRIPT_RUN": ("scriptrun",), "K8S_SYNC": ("kube-1", "kube-2")}


def owner(stage: str, listed: tuple[str, ...] = (), targets: tuple[str, ...] = ()) -> OwnerDecision:
    config = a_config(plugins={name: {} for name in listed})
    return decide_owner(stage, config, Serving(of_stage=OF_STAGE, targets=targets))


@pytest.mark.parametrize(
    ("stage", "listed", "targets", "plugin"),
    [
        pytest.param("WAIT", (), (), "wait", id="the only one"),
        pytest.param("WAIT", (), ("kube-2",), "wait", id="the only one, whatever the targets"),
        pytest.param("K8S_SYNC", ("kube-2", "wait"), (), "kube-2", id="the listed one"),
        pytest.param("K8S_SYNC", (), ("kube-2",), "kube-2", id="the one of the deploy target"),
        pytest.param("K8S_SYNC", ("kube-1", "kube-2"), ("kube-2",), "kube-2", id="both listed, one with a target"),
        pytest.param("K8S_SYNC", ("kube-2",), ("kube-1", "kube-2"), "kube-2", id="both with a target, one listed"),
        pytest.param("K8S_SYNC", ("process",), ("kube-1",), "kube-1", id="another platform listed"),
    ],
)
def test_the_plugin_of_a_stage(stage: str, listed: tuple[str, ...], targets: tuple[str, ...], plugin: str) -> None:
    assert owner(stage, listed, targets) == OwnerDecision(plugin=plugin, reason=f"{plugin} has {stage}")


def test_a_stage_that_no_plugin_has() -> None:
    assert owner("ECS_SYNC") == OwnerDecision(reason="No plugin of this agent has ECS_SYNC", unsettled=True)


@pytest.mark.parametrize(
    ("listed", "targets"),
    [
        pytest.param((), (), id="nothing is named"),
        pytest.param(("kube-1", "kube-2"), (), id="both are listed"),
        pytest.param((), ("kube-1", "kube-2"), id="both have targets"),
        pytest.param(("kube-1", "kube-2"), ("kube-1", "kube-2"), id="both are listed and have targets"),
    ],
)
def test_of_two_plugins_none_is_chosen_unless_the_application_names_one(
    listed: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    assert owner("K8S_SYNC", listed, targets) == OwnerDecision(
        reason="Plugins kube-1 and kube-2 both have K8S_SYNC; list exactly one of them under spec.plugins of the "
        "application, or register the application with a deploy target of one of them"
    )


def test_a_file_that_lists_another_plugin_than_the_registration_is_refused() -> None:
    assert owner("K8S_SYNC", ("kube-1",), ("kube-2",)) == OwnerDecision(
        reason="The application has deploy targets of plugin kube-2, but lists kube-1 under spec.plugins, "
        "and each of them has K8S_SYNC; name one plugin in both places"
    )


ONE_HEARD = OF_STAGE | {"K8S_SYNC": ("kube-1",)}


def test_no_plugin_takes_the_place_of_the_one_whose_deploy_target_the_application_has() -> None:
    serving = Serving(of_stage=ONE_HEARD, targets=("kube-2",))

    for config in (a_config(plugins={}), a_config(plugins={"kube-1": {}})):
        assert decide_owner("K8S_SYNC", config, serving) == OwnerDecision(
            reason="kube-1 has K8S_SYNC, but the application has a deploy target of kube-2, which has named no stages",
            unsettled=True,
        )
    assert decide_owner("SCRIPT_RUN", a_config(plugins={}), serving).plugin == "scriptrun"


def test_an_application_that_does_not_name_its_plugin_waits_for_those_that_are_starting() -> None:
    serving = Serving(of_stage=ONE_HEARD, silent=("kube-2",))

    assert decide_owner("K8S_SYNC", a_config(plugins={}), serving) == OwnerDecision(
        reason="kube-1 has K8S_SYNC, but plugin kube-2 has not started, and may have it too; "
        "list kube-1 under spec.plugins to use it",
        unsettled=True,
    )
    assert decide_owner("SCRIPT_RUN", a_config(plugins={}), serving).plugin == "scriptrun"
    assert decide_owner("K8S_SYNC", a_config(plugins={"kube-1": {}}), serving).plugin == "kube-1"


@pytest.mark.parametrize(
    ("listed", "stages", "targets", "used"),
    [
        pytest.param(("process",), ("WAIT",), (), ("process", "wait"), id="listed, and those of its stages"),
        pytest.param((), ("K8S_SYNC", "WAIT"), ("kube-2",), ("kube-2", "wait"), id="chosen by a deploy target"),
        pytest.param((), (), ("kube-2",), ("kube-2",), id="named by a deploy target alone"),
        pytest.param((), ("WAIT",), ("kube-2",), ("wait",), id="a target that no stage is for"),
        pytest.param((), ("K8S_SYNC",), (), (), id="not known which"),
    ],
)
def test_the_plugins_of_an_application(
    listed: tuple[str, ...], stages: tuple[str, ...], targets: tuple[str, ...], used: tuple[str, ...]
) -> None:
    config = a_config(*a_pipeline(*stages), plugins={name: {} for name in listed})

    assert used_plugins(config, Serving(of_stage=OF_STAGE, targets=targets)) == used
