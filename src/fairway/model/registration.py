"""Whether an application is there, asked for by its id: as long as it is, what a platform has of it is its own."""

import enum

import msgspec


class Standing(enum.Enum):
    """Whether an application is registered."""

    #: With whichever agent, enabled or disabled, whatever its file is like.
    REGISTERED = "registered"
    #: It was deleted, or the server has never heard of it.
    GONE = "gone"
    #: Nobody can tell: agent or server are PipeCD's.
    UNKNOWN = "unknown"


class Registration(msgspec.Struct, frozen=True):
    """How an application stands, and what it is called."""

    standing: Standing
    #: Empty where it is of another project, or not registered.
    name: str = ""
    #: What its agent is called, where that is another one of the same project.
    agent_name: str = ""
