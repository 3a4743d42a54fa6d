"""The logs of stages: kept once acknowledged, readable while they grow.

`store` is what the services call. `stage_log` has the nouns and where they are kept, `part` one object full of
blocks, `compaction` decides what is worth rewriting, `objects` and `local_directory` are the two places that hold
objects. The names below are the package's whole interface.
"""

from fairway.server.logs.stage_log import LogGrowth, StageLog, StageLogKey
from fairway.server.logs.store import LogStore

__all__ = ["LogGrowth", "LogStore", "StageLog", "StageLogKey"]
