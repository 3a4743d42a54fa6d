"""What is remembered of an object: enough to tell whether anything but its status has changed."""

from typing import Any

import msgspec
import pytest

from fairway.kube.kinds import Kind
from fairway.plugins.kubernetes.live.objects import Seen, keeper

KIND = Kind(group="example.com", version="v1", kind="Thing", plural="things", namespaced=True)
MARKS = {"pipecd.dev/managed-by": "piped", "pipecd.dev/application": "web"}


def an_entry(manager: str, fields: Any, subresource: str = "", time: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    more = {"subresource": subresource} if subresource else {}
    return {"manager": manager, "operation": "Apply", "time": time, "fieldsV1": fields, **more}


OURS = an_entry("fairway", {"f:spec": {"f:a": {}}})


def seen(*managers: dict[str, Any], spec: str = "1", **more: Any) -> Seen:
    """What is kept of an object of an application."""
    metadata = {"name": "it", "namespace": "n", "uid": "u", "annotations": MARKS, "managedFields": managers}
    kept = keeper(KIND)(msgspec.json.encode({"metadata": metadata, "spec": {"a": spec}, **more}))
    assert kept is not None
    return kept


@pytest.mark.parametrize(
    ("now", "same"),
    [
        pytest.param(seen(OURS, status={"ready": True}), True, id="its status"),
        pytest.param(
            seen(an_entry("controller", {"f:status": {"f:x": {}}}, "status"), OURS), True, id="who writes the status"
        ),
        pytest.param(
            seen(an_entry("fairway", {"f:spec": {"f:a": {}}, "f:status": {}})), True, id="a status that is no part"
        ),
        pytest.param(seen({**OURS, "time": "2026-01-02T00:00:00Z"}), True, id="when it was written"),
        pytest.param(seen(OURS, spec="2"), False, id="a value"),
        pytest.param(seen(OURS, an_entry("kubectl", {"f:spec": {"f:a": {}}})), False, id="who manages a value"),
        pytest.param(seen(an_entry("fairway", {})), False, id="what is ours of it"),
    ],
)
def test_what_is_kept_for_drift_is_another_unless_only_the_status_has_changed(now: Seen, same: bool) -> None:
    before = seen(OURS)

    assert ((now.packed, now.managers) == (before.packed, before.managers)) is same


def test_an_object_that_we_have_written_is_known_from_one_that_somebody_else_has() -> None:
    assert seen(OURS).is_written
    assert not seen(an_entry("kubectl", {"f:spec": {}})).is_written
