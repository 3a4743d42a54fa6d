"""Whatever an agent with a good key sends, the answer is a status that says whose fault it is."""

import random
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from fairway.rpc.agent_api import messages as m
from tests.integration.server.agent.serving import serving
from tests.unit.model.builders import NOW, a_stage

METHODS = {method.name: method for method in m.DESCRIPTOR.services_by_name["PipedService"].methods}

#: What a server may say to a sender of nonsense; INTERNAL and UNKNOWN would be defects of ours.
HONEST = {"OK", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION", "ALREADY_EXISTS"}

TEXTS = ("", "a-1", "agent-1", "../../etc/passwd", "'; DROP TABLE agents; --", "é\u202e", "x\x00y")
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 99, -1, 2**31 - 1, -(2**31))
LONG_NUMBERS = (0, -1, 2**63 - 1, -(2**63), *[int(NOW.timestamp())] * 12)

#: Most fields with these names get these values, so that much of the nonsense comes past the first checks.
RIGHT: dict[str, Any] = {
    "application_id": "a-1",
    "deployment_id": "d-1",
    "id": "d-1",
    "path": "apps/cart",
    "piped_id": "agent-1",
    "project_id": "shop",
    "stage_id": "stage-0",
}


def scribble(message: Message, rng: random.Random, depth: int = 0) -> None:
    """Fill a message with values that are sometimes right."""
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.05 or depth > 6:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            continue
        if field.is_repeated and field.message_type is not None:
            scribble(getattr(message, field.name).add(), rng, depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).append(value_of(field, rng))
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            scribble(getattr(message, field.name), rng, depth + 1)
        else:
            right = field.name in RIGHT and rng.random() < 0.9
            setattr(message, field.name, RIGHT[field.name] if right else value_of(field, rng))


def value_of(field: Any, rng: random.Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            text = rng.choice(TEXTS)
            return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
        case FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case FieldDescriptor.CPPTYPE_INT64:
            return rng.choice(LONG_NUMBERS)
        case FieldDescriptor.CPPTYPE_UINT32:
            return abs(rng.choice(NUMBERS))
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return rng.random()
        case _:
            return rng.choice(NUMBERS)


@pytest.mark.parametrize("name", METHODS)
async def test_nonsense_is_answered_with_an_honest_status(tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    make = GetMessageClass(METHODS[name].input_type)
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        await server.add_deployment(stages=(a_stage(),))
        requests = [make() for _ in range(40)]
        for request in requests[1:]:
            scribble(request, rng)

        answers = {await server.agent().refused(name, request) for request in requests}

        assert answers <= HONEST
