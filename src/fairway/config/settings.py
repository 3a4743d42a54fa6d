"""The base of every type that is read from YAML: frozen, camelCase in the file, unknown fields never silent."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

#: Pairs of a path below a mapping ("" for the mapping itself) and a sentence that follows that path.
Problems = list[tuple[str, str]]


class Settings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """One mapping of a configuration file."""

    #: Fields that PipeCD's own examples have and no release of it reads, and what to write instead.
    without_effect: ClassVar[Mapping[str, str]] = {}

    def problems(self) -> Problems:
        """What is wrong although every field has the right type."""
        return []

    def warnings(self) -> Problems:
        """What is read, but will surprise its author."""
        return []

    def variants(self) -> "SettingsTypes":
        """Fields that are free mappings here, and the type another field says they have."""
        return {}


#: Names, and the type that each of them stands for.
SettingsTypes = dict[str, type[Settings]]


class ZeroMeansDefault(Settings, frozen=True):
    """Settings whose zero values mean the default, as Go's decoder cannot tell "0" from "not there"."""

    def __post_init__(self) -> None:
        for name, default in _defaults(type(self)):
            if not getattr(self, name):
                msgspec.structs.force_setattr(self, name, default)


_known_defaults: dict[type, tuple[tuple[str, Any], ...]] = {}


def _defaults(kind: type[Settings]) -> tuple[tuple[str, Any], ...]:
    """The fields of a type whose default is not itself zero."""
    if kind not in _known_defaults:
        _known_defaults[kind] = tuple(
            (field.name, field.default)
            for field in msgspec.structs.fields(kind)
            if field.default is not msgspec.NODEFAULT and field.default and not isinstance(field.default, bool)
        )
    return _known_defaults[kind]
