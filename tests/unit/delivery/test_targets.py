"""Where a plugin deploys an application."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from fairway.delivery.targets import targets_for


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
