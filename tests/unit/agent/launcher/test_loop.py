"""The launcher's loop outlives whatever an agent's file asks for."""

import os
import time
from pathlib import Path

from fairway.agent.launcher.loop import Launcher


def test_a_version_may_be_on_trial_for_months(tmp_path: Path) -> None:
    woken, wake = os.pipe()
    os.write(wake, b"!")
    launcher = Launcher(tmp_path, lock=0, installed="1.0", arguments=[])
    launcher._due = time.monotonic() + 100 * 24 * 3600

    launcher._wait(woken)
    for each in (woken, wake):
        os.close(each)

    assert not launcher._is_due()
