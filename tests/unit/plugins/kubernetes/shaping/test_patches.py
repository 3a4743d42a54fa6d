"""Single values of a canary that differ from the primary's."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.stages import Patch, PatchOp, PatchTarget
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.patches import BadPatch, patched
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment

ENVOY = "# who answers\nadmin:\n  port: 9901   # inside only\nroutes: [{weight: 1}, {weight: 2}]\nname: 'web'\n"


def a_patch(path: str, value: str, *, kind: str = "Deployment", name: str = "web", root: str = "") -> Patch:
    target = PatchTarget(kind=kind, name=name, document_root=root)
    return Patch(target=target, ops=(PatchOp(path=path, value=value),))


def test_a_value_of_a_manifest_is_replaced_and_nothing_else() -> None:
    one, other = a_deployment("web"), a_deployment("other")

    made, untouched = patched([one, other], [a_patch("$.spec.template.spec.containers[0].image", "web:2")])

    assert made == a_deployment("web", container={"image": "web:2"})
    assert untouched is other


def test_a_number_stays_a_number() -> None:
    (made,) = patched([a_deployment(replicas=2)], [a_patch("$.spec.replicas", "3")])

    assert part(made.body, "spec", "replicas") == 3


def test_a_file_inside_a_config_map_is_changed_in_one_place() -> None:
    """By documentRoot; comments and quotes stay."""
    patches = [
        a_patch("$.admin.port", "9902", kind="ConfigMap", name="envoy", root="$.data.config"),
        a_patch("$.name", "canary", kind="ConfigMap", name="envoy", root="$.data.config"),
    ]

    (made,) = patched([a_config_map("envoy", config=ENVOY)], patches)

    assert part(made.body, "data", "config") == ENVOY.replace("9901", "9902").replace("'web'", "'canary'")


def test_keys_with_dots_are_quoted_as_pipecd_does_or_in_brackets() -> None:
    for root in ("$.data.'envoy.yaml'", '$.data["envoy.yaml"]'):
        patch = a_patch("$.routes[1].weight", "9", kind="ConfigMap", name="envoy", root=root)
        (made,) = patched([a_config_map("envoy", **{"envoy.yaml": ENVOY})], [patch])
        assert yaml.safe_load(part(made.body, "data", "envoy.yaml"))["routes"] == [{"weight": 1}, {"weight": 9}]


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        pytest.param(
            a_patch("$.a", "1", name="api"), "a patch is for Deployment api, which is not among", id="no manifest"
        ),
        pytest.param(
            a_patch("$.spec.size", "1"), "leads to 'size' of a mapping, which is not there; there are", id="no key"
        ),
        pytest.param(
            a_patch("$.spec.template.spec.containers[3].image", "x"), "element 3 of a list of 1", id="no element"
        ),
        pytest.param(
            a_patch("$.spec.template", "x"), "leads to a mapping; expected a single value", id="no single value"
        ),
        pytest.param(a_patch("$.spec.replicas", "many"), "is 2; 'many' is nothing of the sort", id="another type"),
        pytest.param(a_patch("spec.replicas", "1"), r"does not start with '\$'", id="no path"),
        pytest.param(a_patch("$.a", "1", root="$.spec.replicas"), "expected a text that holds YAML", id="no text"),
    ],
)
def test_a_patch_that_does_not_fit_says_why(patch: Patch, said: str) -> None:
    with pytest.raises(BadPatch, match=said):
        patched([a_deployment()], [patch])


@given(st.text(max_size=30))
def test_any_text_arrives_as_it_is(value: str) -> None:
    (made,) = patched([a_config_map("m", a="x")], [a_patch("$.data.a", value, kind="ConfigMap", name="m")])

    assert made == a_config_map("m", a=value)
