"""Plugins of an agent: each a process that knows one platform or one sort of stage."""
