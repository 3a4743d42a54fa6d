"""The stages that a plugin may have: a plugin that names anything else is not used."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from fairway.config.plugin_source import BadPlugin
from fairway.config.problems import shown

#: How many stages a plugin may name, or plan for one deployment.
MOST_STAGES: Final = 1000
_LONGEST_NAME: Final = 200


def checked_names(plugin: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names of a plugin's stages; BadPlugin when an agent cannot use them."""
    if len(names) > MOST_STAGES:
        raise BadPlugin(f"plugin {plugin} names {len(names):,} stages; at most {MOST_STAGES:,} are allowed")
    for name in names:
        if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
            raise BadPlugin(
                f"plugin {plugin} names a stage {shown(name)}; "
                f"expected 1 to {_LONGEST_NAME} printable characters, it has {len(name):,}"
            )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise BadPlugin(f"plugin {plugin} names the stage {repeated[0]} more than once")
    return tuple(names)
