"""The program that compiles an unpacked version: python -m fairway.agent.launcher.compiling DIRECTORY PLACE BYTES

A few characters of source can become thousands of bytes of compiled code, so the process has limits on memory, CPU time
and the size of what it writes.
"""

import py_compile
import resource
import sys
from pathlib import Path
from typing import Final

#: Exit status when the compiled files exceed the limit.
TOO_LARGE: Final = 3
_MEMORY_BYTES: Final = 1 << 30
_CPU_SECONDS: Final = 300
#: Parts of the package that an agent does not load.
_LEFT_OUT: Final = "server"


def main(directory: Path, place: Path, most: int) -> int:
    """Compile what an agent loads, as if it were in `place` already; the exit status."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    left = most
    for source in sorted(directory.rglob("*.py")):
        name = source.relative_to(directory)
        if name.parts[1:2] == (_LEFT_OUT,):
            continue
        try:
            compiled = py_compile.compile(str(source), dfile=str(place / name), doraise=True, quiet=2)
        except py_compile.PyCompileError:
            continue  # whoever imports it learns why
        except MemoryError:
            return TOO_LARGE
        left -= Path(compiled).stat().st_size if compiled else 0
        if left < 0:
            return TOO_LARGE
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
