"""`python -m fairway.agent.launcher DATA ARGUMENTS…`: keep `fairway ARGUMENTS…` running, with the versions below DATA.

`fairway agent` becomes this by exec, after it has looked at its options: the process stays the same, and everything
that was loaded to look at them is gone.
"""

import sys
from pathlib import Path

from fairway import __version__
from fairway.agent.launcher.lock import locked
from fairway.agent.launcher.loop import Launcher


def main() -> int:
    """Keep the agent running; how it ended, as a shell says it."""
    data, arguments = Path(sys.argv[1]).absolute(), sys.argv[2:]
    versions = data / "versions"
    try:
        for each in (data, versions):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = locked(data)
    except OSError as error:
        sys.stderr.write(f"fairway: {data} cannot be used ({error.strerror}); choose another with --data\n")
        return 1
    status = Launcher(versions, lock, __version__, arguments).run()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
