"""Further processes of this very version.

An agent may run from a directory that it has fetched, in the interpreter of another installation
(`fairway.agent.launcher`). What it starts must come from the same directory, and nothing of that may reach the scripts
of users: so it is said by the command line and not by the environment.
"""

import sys
from pathlib import Path

#: Where the package lies; a fetched version has a program beside it that runs one of its modules.
_ROOT = Path(__file__).resolve().parents[1]


def python_module(module: str) -> tuple[str, ...]:
    """The beginning of a command that runs a module of this version."""
    if (_ROOT / "__main__.py").is_file():
        return sys.executable, str(_ROOT), module
    return sys.executable, "-m", module
