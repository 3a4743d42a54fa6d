"""The stages that each plugin named when it last answered, in a file.

An agent that restarts knows from it which plugin a running stage belongs to before the plugin has started.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import structlog

from fairway.agent.plugins.identity import write_file

_log = structlog.get_logger()


class StageMemory:
    """Plugin → its stages, as last named."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stages = dict(_read(path))

    def of(self, plugin: str) -> tuple[str, ...]:
        """The stages of a plugin; none when it has never answered."""
        return self._stages.get(plugin, ())

    def note(self, plugin: str, stages: tuple[str, ...]) -> None:
        """Store the stages that a plugin has just named."""
        if self._stages.get(plugin) == stages:
            return
        self._stages[plugin] = stages
        try:
            write_file(self._path, msgspec.json.encode(self._stages))
        except OSError as error:
            _log.warning("stages of plugins cannot be stored", file=str(self._path), reason=str(error))


def _read(path: Path) -> Mapping[str, tuple[str, ...]]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[str, ...]])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("stored stages of plugins cannot be read", file=str(path), reason=str(error))
        return {}
