"""Requests that no program would send: refused or answered, never a defect, and the server goes on."""

import random
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fairway.rpc.user_api import messages as m
from tests.integration.server.user.serving import code_of, serving
from tests.unit.model.builders import a_deployment, a_stage
from tests.unit.rpc.arbitrary import fill
from tests.unit.server.user.builders import an_agent, an_application

CALLS = [method.name for method in m.DESCRIPTOR.services_by_name["APIService"].methods]
#: Ids that are there stand among the odd ones, so that calls get beyond looking for them.
TEXTS = [
    "",
    "cart",
    "agent-1",
    "d-1",
    "shop",
    "main",
    "apps/new",
    "\x00",
    "' OR 1=1 --",
    "../../etc",
    "💥" * 50,
    "x" * 5000,
]
NUMBERS = [0, 1, 2, -1, 99, 2**31 - 1, -(2**31)]
DEFECTS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNAVAILABLE}


def an_odd_request(call: str, seed: int) -> Message:
    chance = random.Random(seed)
    request_type: type[Message] = getattr(m, f"{call}Request")
    return fill(request_type, lambda field: _odd(field, chance), lambda: chance.random() < 0.8)


def _odd(field: FieldDescriptor, chance: random.Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            text = chance.choice(TEXTS)
            return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
        case FieldDescriptor.CPPTYPE_BOOL:
            return chance.random() < 0.5
        case FieldDescriptor.CPPTYPE_INT64:
            return chance.choice([*NUMBERS, 2**63 - 1, -(2**63)])
        case _:
            return chance.choice(NUMBERS)


@pytest.mark.parametrize("call", CALLS)
async def test_no_request_however_odd_is_a_defect(tmp_path: Path, call: str) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent(), an_application("cart"))
        await served.add(a_deployment(project_id="acme", stages=(a_stage(),)))

        codes = {await code_of(getattr(client, call)(an_odd_request(call, seed))) for seed in range(60)}

        assert codes & DEFECTS == set()
