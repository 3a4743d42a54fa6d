"""Real programs that the tests run Fairway against, built once from the Go modules of their projects.

`catalogue` says which and from what, `building` builds them into the user's cache, `kwok` writes how the pretended
nodes of a cluster behave. `python -m tools.peers` builds what is missing.
"""
