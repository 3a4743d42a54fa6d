"""Fairway as others install it: with its own dependencies, and without those of its tests and tools."""

import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import fairway

_IMPORT = re.compile(r"^\s*(?:from|import) ([A-Za-z_]\w*)", re.MULTILINE)


def imported() -> dict[str, str]:
    """What the package imports of others, at the top of a module or in a function, and one file that does."""
    root = Path(fairway.__file__).parent
    return {name: str(path) for path in root.rglob("*.py") for name in _IMPORT.findall(_code(path.read_text()))}


def _code(text: str) -> str:
    """A module without its longer texts, in which anything may stand."""
    return re.sub(r'"""(?:[^"\\]|\\.|"(?!""))*"""', "", text)


def needed(*names: str) -> frozenset[str]:
    """The distributions that these need, and so on, themselves among them."""
    found: set[str] = set()
    left = [*names]
    while left:
        name = canonicalize_name(left.pop())
        if name not in found and (wanted := _requirements(name)) is not None:
            found.add(name)
            left += [each.name for each in wanted if each.marker is None or each.marker.evaluate({"extra": "binary"})]
    return frozenset(found)


def _requirements(name: str) -> list[Requirement] | None:
    try:
        return [Requirement(each) for each in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return None


def test_no_module_imports_what_only_tests_and_tools_have() -> None:
    shipped, owners = needed("fairway"), metadata.packages_distributions()
    there = {name for name, found in owners.items() if not shipped.isdisjoint(map(canonicalize_name, found))}

    known = {"fairway"} | there | sys.stdlib_module_names
    foreign = {name: path for name, path in imported().items() if name not in known}

    assert {"grpc", "msgspec", "typer"} <= there
    assert {"pytest", "hypothesis", "mypy"}.isdisjoint(there)
    assert foreign == {}
