"""The machine that plugins and tools are fetched for."""

import platform
from typing import Final

#: What Go calls the machines that Python knows by other names.
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def this_platform() -> tuple[str, str]:
    """Operating system and architecture, in Go's words."""
    machine = platform.machine()
    return platform.system().lower(), _ARCHITECTURES.get(machine, machine)
