"""What a reader of configuration files knows beside the file itself."""

from typing import Final

import msgspec


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions under which a file is read. Same file and same terms: same verdict, from lint and from agents."""

    #: Whether an unknown field is a warning instead of an error.
    allow_unknown_fields: bool = False
    #: The plugins of the agent that do not come with Fairway; their stage names are unknown here. None: unknown agent.
    foreign_plugins: tuple[str, ...] | None = None
    #: All plugins of the agent. None: unknown agent.
    plugins: tuple[str, ...] | None = None
    #: Whether an agent accepted the file before. Rules that came later are then warnings.
    accepted: bool = False


#: No agent is known, and the file is new.
UNKNOWN_AGENT: Final = Terms()
#: The file was deployed before, by this version, an earlier one or PipeCD: it must stay readable.
ACCEPTED: Final = Terms(allow_unknown_fields=True, accepted=True)
