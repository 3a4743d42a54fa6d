"""Wheels of this very repository with other version numbers, made by hand: a wheel is a zip file."""

import hashlib
import importlib.metadata
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import fairway

SOURCE = "fairway-{version}-py3-none-any.whl"


def a_wheel(
    folder: Path,
    version: str,
    files: Mapping[str, str] | None = None,
    *,
    requires: Sequence[str] = (),
    metadata: str = "",
) -> str:
    """Write the wheel of a version, with some files of the package otherwise; how a server wants it."""
    about = metadata or f"Metadata-Version: 2.4\nName: fairway\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {each}\n" for each in (*(importlib.metadata.requires("fairway") or ()), *requires)
    )
    changed = {
        "fairway/__init__.py": f'__version__ = "{version}"\n',
        f"fairway-{version}.dist-info/METADATA": about,
        f"fairway-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **(files or {}),
    }
    path = folder / SOURCE.format(version=version)
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in {**_package(), **changed}.items():
            wheel.writestr(name, content)
    return f"{version}@sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@cache
def _package() -> dict[str, bytes | str]:
    root = Path(fairway.__file__).parent
    found = [each for each in root.rglob("*") if each.is_file() and "__pycache__" not in each.parts]
    return {f"fairway/{each.relative_to(root)}": each.read_bytes() for each in found}
