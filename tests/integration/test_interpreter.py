"""What comes into a process by importing us, seen in one that has imported nothing else."""

import subprocess
import sys

import pytest

from tests.patience import PATIENCE_SECONDS

#: With rich loaded before, as a program with a console has it, and without.
LOOK = """
import sys
{before}
import fairway, structlog
taken = sorted(name for name in sys.modules if name.partition(".")[0] in ("rich", "pygments"))
import rich.console
print(structlog.dev.rich, taken, rich.console.__name__, structlog.__spec__.loader.get_source("structlog") is not None)
"""


@pytest.mark.parametrize(
    ("before", "taken"),
    [pytest.param("", [], id="alone"), pytest.param("import rich", ["rich", "rich._extension"], id="beside rich")],
)
def test_structlog_takes_no_rich_along_and_whoever_wants_it_has_it(before: str, taken: list[str]) -> None:
    command = [sys.executable, "-c", LOOK.format(before=before)]

    seen = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS).stdout

    assert seen == f"None {taken} rich.console True\n"
