"""Names of copies that the suffix of a variant makes too long."""

import pytest

from fairway.config.application import ApplicationConfig
from fairway.config.platforms import KubernetesSpec
from fairway.plugins.kubernetes.shaping.names import too_long_names
from tests.unit.config.test_variant_stages import a_pipeline
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, a_service

CANARY, WITH_SERVICE = {"name": "K8S_CANARY_ROLLOUT"}, {"name": "K8S_CANARY_ROLLOUT", "with": {"createService": True}}


@pytest.mark.parametrize(
    ("stage", "manifest", "limit"),
    [
        pytest.param(WITH_SERVICE, a_service("s" * 57), 63, id="a service"),
        pytest.param(WITH_SERVICE, a_service("s" * 56), 0, id="a service that fits"),
        pytest.param(CANARY, a_service("s" * 57), 0, id="a service that is not copied"),
        pytest.param(CANARY, a_config_map("c" * 247), 253, id="configuration"),
        pytest.param(CANARY, a_deployment("d" * 246), 0, id="a deployment that fits"),
    ],
)
def test_a_copy_whose_name_is_too_long_is_found(stage: dict[str, object], manifest: object, limit: int) -> None:
    config = a_pipeline(stage).config
    assert isinstance(config, ApplicationConfig)

    found = too_long_names([manifest, a_deployment("web")], KubernetesSpec(), config)  # type: ignore[list-item]

    assert [f"expected at most {limit} for a" in each.message for each in found] == [True] * bool(limit)
