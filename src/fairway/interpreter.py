"""The interpreter that this process runs in, and further ones of this very version.

An agent may run from a directory that it has fetched, in the interpreter of another installation
(`fairway.agent.launcher`). What it starts must come from the same directory, and nothing of that may reach the scripts
of users: so it is said by the command line and not by the environment.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

#: Where the package lies; a fetched version has a program beside it that runs one of its modules.
_ROOT = Path(__file__).resolve().parents[1]


def python_module(module: str) -> tuple[str, ...]:
    """The beginning of a command that runs a module of this version."""
    if (_ROOT / "__main__.py").is_file():
        return sys.executable, str(_ROOT), module
    return sys.executable, "-m", module


#: Names of the C library's settings, and what they are set to: from where on a buffer gets memory of its own, which
#: goes back to the system with it; how much that is free at the end is kept; how many heaps there are for threads.
_GLIBC_SETTINGS = {"M_MMAP_THRESHOLD": (-3, 128 * 1024), "M_TRIM_THRESHOLD": (-1, 128 * 1024), "M_ARENA_MAX": (-8, 1)}


def give_memory_back() -> None:
    """Have a process that runs for months, and mostly waits, keep no more memory than it needs.

    Left to itself, the GNU C library learns from large buffers to keep them, and gives each thread a heap. What a loud
    script had passed through an agent would stay with it as a dozen megabytes. A library that has no such settings is
    left as it is.
    """
    import ctypes  # here, because a process that ends soon can spare it

    with suppress(AttributeError, OSError):
        change = ctypes.CDLL(None).mallopt
        for name, value in _GLIBC_SETTINGS.values():
            change(name, value)


def spare_rich() -> None:
    """Have structlog, whoever imports it, believe that rich is not installed.

    It would take it along for its tracebacks: five megabytes in each server, agent and plugin, which print no such
    thing; and those tracebacks show the values of variables, secrets among them. Whoever wants rich still has it.
    """
    if "structlog" not in sys.modules:
        sys.meta_path.insert(0, _StructlogWithoutRich())


class _StructlogWithoutRich:
    """Finds structlog as ever, and keeps rich from it while it is loaded."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "structlog":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec  # here, so that a process without structlog can spare it

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                with _missing("rich"):
                    load(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # of this one loader alone
        return spec


@contextmanager
def _missing(name: str) -> Iterator[None]:
    """Have a module not found, also if it is loaded already."""
    loaded = sys.modules.get(name)
    sys.modules[name] = None  # type: ignore[assignment]  # which is how Python is told so
    try:
        yield
    finally:
        del sys.modules[name]
        if loaded is not None:
            sys.modules[name] = loaded
