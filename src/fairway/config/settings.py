"""The base of every type that is read from YAML: frozen, camelCase in the file, unknown fields never silent."""

from typing import Any

import msgspec


class Settings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """One mapping of a configuration file.

    A rule that types cannot express goes into `problems`: pairs of the path below this mapping ("" for the mapping
    itself) and a sentence that follows that path.
    """

    def problems(self) -> list[tuple[str, str]]:
        """What is wrong although every field has the right type."""
        return []


class ZeroMeansDefault(Settings, frozen=True):
    """Settings whose zero values mean the default, as Go's decoder cannot tell "0" from "not there"."""

    def __post_init__(self) -> None:
        for field in msgspec.structs.fields(type(self)):
            value: Any = getattr(self, field.name)
            if not value and value is not None and not isinstance(value, bool) and field.default is not msgspec.NODEFAULT:
                msgspec.structs.force_setattr(self, field.name, field.default)
