"""What server and agent say goes to files of theirs, which stay small however long they run.

They write to the files themselves, so that nobody has to be there for them to speak. A file that has grown too large is
copied to one beside it, in place of the older copy, and emptied; what is said in the instant between is lost.
"""

import os
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

#: Bytes; with the copy there are twice as many.
LARGEST = 10 * 1024 * 1024


def keep_small(logs: Sequence[Path], seconds: float = 2.0) -> None:
    """From now on, look after these files."""

    def look() -> None:
        while True:
            time.sleep(seconds)
            for each in logs:
                with suppress(OSError):
                    make_small(each)

    threading.Thread(target=look, name="logs", daemon=True).start()


def make_small(log: Path, largest: int = LARGEST) -> None:
    """Move what a file says out of the way when it is too much. Whoever writes to it must append."""
    if log.stat().st_size <= largest:
        return
    unfinished, older = (log.with_name(f"{log.name}.{end}") for end in ("copying", "1"))
    with open(log, "rb") as said, open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as copy:
        shutil.copyfileobj(said, copy, 1024 * 1024)
        # Now, and not after the renaming: the fewer lines can be lost.
        os.truncate(log, 0)
    unfinished.rename(older)
