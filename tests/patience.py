"""How long tests wait for what should take a moment: it ends a hang, and nothing else is meant by it.

A machine that does twenty other things lets a process wait for its turn for a minute and more, so this is long; on a
quiet one nobody waits for it. Where a test is about a limit of time it sets one of its own, as short as it likes.
"""

PATIENCE_SECONDS = 240.0
