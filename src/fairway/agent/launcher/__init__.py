"""The launcher: a small process that runs the agent proper as its child, keeps it running and changes its version.

Two halves that meet in a pipe and a directory. The small process loads `__main__`, `loop`, `child`, `kernel`, `record`,
`decide` and `lock`, which need nothing but the standard library, because it stays in memory for ever. The agent proper
has `wanted` (which version the server wants), `fetch` and `wheel` (bring it here, checked), `upgrading` (all of it, in
turns) and `link` (its end of the pipe).
"""
