"""`tools/setup` on a directory of its own, with a Python that only pretends: no package is installed here."""

import os
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

HERE = Path(__file__).parents[3]

PRETENDED_PYTHON = dedent("""\
    #!/bin/sh
    [ "$2" = venv ] || exit 0
    mkdir -p .venv/bin
    printf '#!/bin/sh\\n' >.venv/bin/pip
    cp .venv/bin/pip .venv/bin/uv
    chmod +x .venv/bin/pip .venv/bin/uv
    """)


def test_the_installer_is_picked_from_a_lock_file_of_any_length(tmp_path: Path) -> None:
    """What follows the installer's lines is longer than a pipe holds: nobody may stop reading in the middle."""
    (tmp_path / "tools").mkdir()
    for tool in ("setup", "retry"):
        shutil.copy(HERE / "tools" / tool, tmp_path / "tools" / tool)
    python = tmp_path / "python"
    python.write_text(PRETENDED_PYTHON)
    python.chmod(0o755)
    uv = "uv==1.2.3 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
    others = "".join(f"package-{number}==1 \\\n    --hash=sha256:{'c' * 4000}\n" for number in range(100))
    (tmp_path / "requirements.lock").write_text("earlier==1\n" + uv + others)

    done = subprocess.run(
        [tmp_path / "tools" / "setup"],
        env=os.environ | {"PYTHON": str(python)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".venv" / "uv.lock").read_text() == uv
