"""The nouns that cross a process: frozen, in our own words, with their status tables beside them.

PipeCD's words and numbers appear in `rpc` only. Both generations fit every noun: what only v0 knows (`kind`,
`platform_provider`) and what only v1 knows (`deploy_targets_by_plugin`) stand side by side, and a field that
a generation does not use keeps its default. Times are aware datetimes; `None` is the wire's zero, "not yet".
Import each noun from its own module; nothing is re-exported here.
"""
