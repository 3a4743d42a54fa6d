"""The launcher stays in memory for ever, so it loads nothing but the little that it needs."""

import subprocess
import sys

#: Each of them a megabyte or many.
SPARED = {
    "asyncio",
    "ctypes",
    "fairway.config",
    "grpc",
    "msgspec",
    "packaging",
    "shutil",
    "subprocess",
    "typer",
    "yaml",
}


def test_a_launcher_loads_no_library() -> None:
    program = "import sys, fairway.agent.launcher.__main__\nprint(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert "fairway.agent.launcher.loop" in loaded
    assert SPARED & set(loaded) == set()
