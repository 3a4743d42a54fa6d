"""Modules that live in the repository of the module that needs them, such as Kubernetes' own libraries.

Their go.mod says `../api` or `./staging/…`, which a module that was downloaded alone does not have beside it. Each is
published too, under its own name and version; `siblings.sum` pins those as a go.sum does.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

SUMS = Path(__file__).with_name("siblings.sum")


def pinned(sums: str) -> dict[str, str]:
    """The version of each module that a go.sum names."""
    lines = (line.split() for line in sums.splitlines())
    return {module: version.removesuffix("/go.mod") for module, version, _ in lines}


def edits(go_mod: Mapping[str, Any], versions: Mapping[str, str]) -> list[str]:
    """What `go mod edit` is to change in the go.mod, which is given as `go mod edit -json` prints it.

    What is not pinned goes: some projects replace what they must not import by a folder that does not exist.
    """
    required = {required["Path"] for required in go_mod.get("Require") or []}
    local = [each["Old"]["Path"] for each in go_mod.get("Replace") or [] if each["New"]["Path"].startswith(".")]
    changes = [f"-dropreplace={module}" for module in local if module not in versions]
    for module in local:
        if module in versions:
            changes.append(f"-replace={module}={module}@{versions[module]}")
            if module in required:
                changes.append(f"-require={module}@{versions[module]}")
    return changes
