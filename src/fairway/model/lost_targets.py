"""Deploy targets that an application names and its agent has not: they were taken out of the agent's file."""

from collections.abc import Sequence


def lost_in_words(plugin: str, lost: Sequence[str], known: Sequence[str]) -> str:
    """Which are lost, and which there are; empty where none is."""
    if not lost:
        return ""
    which = f"deploy target {lost[0]}" if len(lost) == 1 else f"deploy targets {', '.join(lost)}"
    are = "is" if len(lost) == 1 else "are"
    return f"{which} of plugin {plugin} {are} not in the agent's file any more (it has {', '.join(known) or 'none'})"
