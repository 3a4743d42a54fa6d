"""How the process of a plugin is, for those who ask the plugin for something.

Whoever keeps the process says it, once for each start; whoever has lost an answer finds out why.
"""

from typing import Final

import msgspec

#: The trouble of a process that has not answered yet.
STARTING: Final = "it is starting"


class Condition(msgspec.Struct, kw_only=True):
    """How one process is that plugins run in."""

    #: Whether several plugins run in it, so that its end tells nothing of any of them.
    is_shared: bool = False
    #: What is wrong with it, as words after a plugin's name, such as "ended with status 3"; empty when nothing is.
    trouble: str = ""
    #: Whether it is given up, so that another one is to be asked.
    lost: bool = False
    #: Whether it was given up because it did not answer.
    hung: bool = False
