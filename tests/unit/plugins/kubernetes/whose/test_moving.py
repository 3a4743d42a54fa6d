"""Whether an object has moved from one application's manifests to another's."""

from collections.abc import Sequence

import pytest

from fairway.kube.manifest import Key
from fairway.plugins.kubernetes.whose.alive import Wants
from fairway.plugins.kubernetes.whose.moving import Moving, MovingDecision, decide_moving

KEY, OTHER = Key("", "ConfigMap", "shop", "settings"), Key("", "ConfigMap", "shop", "other")


def wants(commit: str, *keys: Key) -> Wants:
    return Wants(commit, lambda: keys)


@pytest.mark.parametrize(
    ("known", "decision"),
    [
        pytest.param(None, MovingDecision(Moving.UNKNOWN), id="nobody has asked"),
        pytest.param([wants("new", OTHER)], MovingDecision(Moving.GIVEN_UP), id="given up at the same commit"),
        pytest.param([wants("old", OTHER)], MovingDecision(Moving.GIVEN_UP), id="given up before"),
        pytest.param([wants("new", KEY)], MovingDecision(Moving.WANTED, "new"), id="both have it"),
        pytest.param([wants("old", KEY)], MovingDecision(Moving.WANTED_THEN, "old"), id="perhaps before it moved"),
        pytest.param(
            [wants("new", OTHER), wants("old", KEY)],
            MovingDecision(Moving.WANTED_THEN, "old"),
            id="perhaps before it moved, at one of two deploy targets",
        ),
    ],
)
def test_an_object_has_moved_when_no_deploy_target_is_to_have_it(
    known: Sequence[Wants] | None, decision: MovingDecision
) -> None:
    assert decide_moving(known, KEY, "new") == decision
