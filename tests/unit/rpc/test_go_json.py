"""The JSON is what Go's encoding/json writes for the same message, and whatever Go writes can be read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.plan_preview import PlanPreview
from fairway.rpc.convert.go_json import from_go_json, to_go_json
from fairway.rpc.convert.plan_preview import from_command_output, to_command_output
from fairway.rpc.convert.wire_enum import WireError
from fairway.rpc.convert.wire_time import from_wire_time
from fairway.rpc.gen.pipecd.model.planpreview_pb2 import PlanPreviewCommandResult
from tests.unit.rpc.arbitrary import messages

#: What an agent of the newer generation hands in, written by hand after Go's rules.
WRITTEN_BY_GO = b"""{
  "command_id": "c", "piped_id": "a", "results": [{
    "application_id": "app", "application_name": "web", "application_directory": "apps/web",
    "piped_id": "a", "project_id": "p", "labels": {"env": "prod"}, "head_branch": "feature",
    "head_commit": "abc", "sync_strategy": 2,
    "plugin_plan_results": [{"plugin_name": "k8s", "plan_details": "ZGlmZg=="}],
    "created_at": 1772355600
  }]
}"""


def a_preview() -> PlanPreview:
    application = from_command_output(WRITTEN_BY_GO).applications[0]
    return PlanPreview(command_id="c", agent_id="a", applications=(application,))


def test_what_go_writes_is_read() -> None:
    application = from_command_output(WRITTEN_BY_GO).applications[0]

    assert (application.head_commit, application.plugins[0].details, application.created_at) == (
        "abc",
        b"diff",
        from_wire_time(1772355600),
    )


def test_what_we_write_is_what_go_would_write() -> None:
    assert json.loads(to_command_output(a_preview())) == json.loads(WRITTEN_BY_GO)


def test_fields_of_a_newer_agent_are_passed_over() -> None:
    read = from_go_json(b'{"command_id": "c", "invented_later": {"x": [1]}}', PlanPreviewCommandResult)

    assert read == PlanPreviewCommandResult(command_id="c")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"not json", id="text"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"7", id="a number"),
        pytest.param(b"null", id="null"),
        pytest.param(b"\xff", id="not UTF-8"),
        pytest.param(b'{"x": ' + b"[" * 100_000, id="deep nesting"),
        pytest.param(b'{"results": 7}', id="a number for a list"),
    ],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(WireError, match="expected a PlanPreviewCommandResult as JSON"):
        from_command_output(data)


@given(messages(PlanPreviewCommandResult))
def test_every_message_survives(message: PlanPreviewCommandResult) -> None:
    assert from_go_json(to_go_json(message), PlanPreviewCommandResult) == message


@given(st.binary(max_size=30))
def test_arbitrary_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read = from_go_json(data, PlanPreviewCommandResult)
    except WireError:
        return

    assert isinstance(read, PlanPreviewCommandResult)
