"""Pieces of a stage's log: wire ⇄ model."""

from fairway.model.log_block import LogBlock, LogSeverity
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, to_wire_time
from fairway.rpc.gen.pipecd.model import logblock_pb2

LOG_SEVERITIES = WireEnum(
    "log severity",
    {
        LogSeverity.INFO: logblock_pb2.INFO,
        LogSeverity.SUCCESS: logblock_pb2.SUCCESS,
        LogSeverity.ERROR: logblock_pb2.ERROR,
    },
)


def to_wire_log_block(block: LogBlock) -> logblock_pb2.LogBlock:
    return logblock_pb2.LogBlock(
        index=block.index,
        log=block.log,
        severity=LOG_SEVERITIES.to_wire(block.severity),
        created_at=to_wire_time(block.created_at),
    )


def from_wire_log_block(wire: logblock_pb2.LogBlock) -> LogBlock:
    return LogBlock(
        index=wire.index,
        log=wire.log,
        severity=LOG_SEVERITIES.from_wire(wire.severity),
        created_at=from_wire_time(wire.created_at),
    )
