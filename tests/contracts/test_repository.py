"""What a machine can see of the repository's own rules."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Put together from pieces, so that this file does not name what no file may name.
REGISTRIES = re.compile(
    "|".join(["py" + "pi.org", "python" + "hosted", "npm" + "js", "proxy.go" + "lang", "cra" + "tes.io"])
)


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_package_registry() -> None:
    named = [
        path.relative_to(ROOT).as_posix()
        for path in tracked_files()
        if REGISTRIES.search(path.read_bytes().decode("utf-8", "replace"))
    ]

    assert named == []


def test_the_lock_file_pins_every_package_by_hash_and_names_no_address() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [index for index, line in enumerate(lines) if not line.startswith(" ")]

    assert all(re.match(r"^[\w.-]+==", lines[index]) for index in pins)
    assert all(lines[index + 1].startswith("    --hash=sha256:") for index in pins)
    assert not any("://" in line or line.startswith("--") for line in lines)


def test_no_python_file_is_longer_than_400_lines() -> None:
    long = [
        (path.relative_to(ROOT).as_posix(), count)
        for path in tracked_files()
        if path.suffix == ".py"
        and "/gen/" not in path.as_posix()
        and (count := len(path.read_text().splitlines())) > 400
    ]

    assert long == []
