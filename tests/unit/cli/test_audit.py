"""A record of the audit in words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from fairway.cli.audit import what_changed
from fairway.model.audit import AuditRecord


def a_record(action: str, before: dict[str, Any], after: dict[str, Any]) -> AuditRecord:
    return AuditRecord(
        id="r",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        project_id="shop",
        actor="ada",
        actor_kind="user",
        action=action,
        subject_id="s",
        before=before,
        after=after,
    )


@pytest.mark.parametrize(
    ("record", "words"),
    [
        pytest.param(a_record("application.create", {}, {"name": "cart"}), "new", id="a thing that is new"),
        pytest.param(a_record("application.delete", {}, {"deleted_at": "now"}), "gone", id="one that leaves a trace"),
        pytest.param(a_record("webhook.delete", {"name": "pushes"}, {}), "gone", id="one that leaves none"),
        pytest.param(a_record("application.sync", {}, {"strategy": "auto"}), "strategy: auto", id="one that was used"),
        pytest.param(
            a_record("agent.disable", {"disabled": False}, {"disabled": True}),
            "disabled: false → true",
            id="one that changed",
        ),
        pytest.param(a_record("agent.update", {}, {"desc": "far"}), "desc: far", id="one of which more is known"),
        pytest.param(a_record("agent.update", {"desc": "far"}, {}), "desc: far → nothing", id="one of which less is"),
        pytest.param(a_record("user.sign_out", {}, {}), "", id="nothing of it changed"),
    ],
)
def test_a_record_says_what_changed(record: AuditRecord, words: str) -> None:
    assert what_changed(record) == words
