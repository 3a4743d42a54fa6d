"""Whether an application is there: wire ⇄ model."""

from fairway.model.registration import Registration, Standing
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.gen.fairway.agent.v1 import applications_pb2 as of_server
from fairway.rpc.gen.fairway.plugin.v1 import applications_pb2 as of_agent

_Told = of_agent.FindApplicationResponse

STANDINGS = WireEnum(
    "standing of an application",
    {
        Standing.UNKNOWN: _Told.STANDING_UNSPECIFIED,
        Standing.REGISTERED: _Told.STANDING_REGISTERED,
        Standing.GONE: _Told.STANDING_GONE,
    },
)


def to_wire_registration(found: Registration) -> of_agent.FindApplicationResponse:
    return _Told(standing=STANDINGS.to_wire(found.standing), name=found.name, agent_name=found.agent_name)


def from_wire_registration(wire: of_agent.FindApplicationResponse) -> Registration:
    return Registration(STANDINGS.from_wire(wire.standing), wire.name, wire.agent_name)


def from_server_registration(wire: of_server.FindAnswer) -> Registration:
    standing = Standing.REGISTERED if wire.registered else Standing.GONE
    return Registration(standing, wire.name, wire.agent_name)
