"""Wire ⇄ model, a file for each noun: `to_wire_x` and `from_wire_x`.

`wire_enum` and `wire_time` hold what they share; `go_json` writes messages as the JSON that PipeCD puts into the
outputs of commands.
"""
