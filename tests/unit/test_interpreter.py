"""Further processes come from where this one comes from."""

import sys
from pathlib import Path

import pytest

from fairway import interpreter
from fairway.interpreter import python_module


def test_an_installed_version_starts_installed_modules() -> None:
    assert python_module("fairway.cli") == (sys.executable, "-m", "fairway.cli")


def test_a_fetched_version_starts_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__main__.py").touch()
    monkeypatch.setattr(interpreter, "_ROOT", tmp_path)

    assert python_module("fairway.cli") == (sys.executable, str(tmp_path), "fairway.cli")
