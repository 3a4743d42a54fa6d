"""Nothing that the model has is lost on the wire, and of the wire only what is listed here is lost in the model."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.rpc.gen.pipecd.model import (
    application_live_state_pb2,
    application_pb2,
    command_pb2,
    common_pb2,
    deployment_pb2,
    planpreview_pb2,
)
from tests.unit.rpc.arbitrary import changed_fields, every_field, messages, structs
from tests.unit.rpc.nouns import (
    APPLICATION,
    COMMAND,
    DEPLOYMENT,
    LIVE_STATE,
    NOUNS,
    PAYLOAD_FIELDS,
    PLAN_PREVIEW,
    PLATFORM_FIELDS,
    Noun,
)


@pytest.mark.parametrize("noun", NOUNS)
@given(data=st.data())
@settings(max_examples=40)
def test_every_value_of_the_model_survives_the_wire(noun: Noun, data: st.DataObject) -> None:
    value = noun.consistent(data.draw(structs(noun.struct)))

    arrived = noun.message.FromString(noun.to_wire(value).SerializeToString())

    assert noun.from_wire(arrived) == value


@pytest.mark.parametrize("noun", NOUNS)
@given(data=st.data())
@settings(max_examples=40)
def test_a_message_comes_back_from_the_model_with_nothing_lost_but_what_is_dropped(
    noun: Noun, data: st.DataObject
) -> None:
    message = data.draw(messages(noun.message))
    noun.consistent_wire(message)

    back = noun.to_wire(noun.from_wire(message))

    assert changed_fields(message, back) - noun.dropped == set()


@pytest.mark.parametrize("noun", NOUNS)
def test_what_is_dropped_is_listed(noun: Noun) -> None:
    message = every_field(noun.message)
    noun.consistent_wire(message)

    back = noun.to_wire(noun.from_wire(message))

    assert changed_fields(message, back) == noun.dropped


def of_older_generation(wire: application_pb2.Application | deployment_pb2.Deployment) -> None:
    wire.ClearField("deploy_targets_by_plugin")
    if isinstance(wire, deployment_pb2.Deployment):
        wire.ClearField("metadata_v2")


def without_plugins(wire: planpreview_pb2.PlanPreviewCommandResult) -> None:
    for result in wire.results:
        result.ClearField("plugin_names")
        result.ClearField("plugin_plan_results")


def of_type(type_: "command_pb2.Command.Type") -> Callable[[command_pb2.Command], None]:
    def prepare(wire: command_pb2.Command) -> None:
        wire.type = type_

    return prepare


def of_platform(
    kind: "common_pb2.ApplicationKind",
) -> Callable[[application_live_state_pb2.ApplicationLiveStateSnapshot], None]:
    def prepare(wire: application_live_state_pb2.ApplicationLiveStateSnapshot) -> None:
        wire.ClearField("application_live_state")
        wire.kind = kind

    return prepare


@pytest.mark.parametrize(
    ("noun", "prepare"),
    [
        pytest.param(APPLICATION, of_older_generation, id="application of the older generation"),
        pytest.param(DEPLOYMENT, of_older_generation, id="deployment of the older generation"),
        pytest.param(PLAN_PREVIEW, without_plugins, id="plan preview of the older generation"),
        *[pytest.param(COMMAND, of_type(type_), id=f"command with {field}") for type_, field in PAYLOAD_FIELDS.items()],
        *[
            pytest.param(LIVE_STATE, of_platform(kind), id=f"live state of {field}")
            for kind, field in PLATFORM_FIELDS.items()
        ],
    ],
)
def test_what_is_dropped_is_the_same_in_every_form(noun: Noun, prepare: Callable[[Any], None]) -> None:
    message = every_field(noun.message)
    prepare(message)
    noun.consistent_wire(message)

    back = noun.to_wire(noun.from_wire(message))

    assert changed_fields(message, back) == noun.dropped
