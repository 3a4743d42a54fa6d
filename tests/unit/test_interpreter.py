"""Further processes come from where this one comes from."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairway import interpreter
from fairway.interpreter import give_memory_back, python_module


def test_an_installed_version_starts_installed_modules() -> None:
    assert python_module("fairway.cli") == (sys.executable, "-m", "fairway.cli")


def test_a_fetched_version_starts_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__main__.py").touch()
    monkeypatch.setattr(interpreter, "_ROOT", tmp_path)

    assert python_module("fairway.cli") == (sys.executable, str(tmp_path), "fairway.cli")


def test_memory_is_given_back_by_a_library_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    changed: dict[int, int] = {}
    monkeypatch.setattr("ctypes.CDLL", lambda _name: SimpleNamespace(mallopt=changed.__setitem__))

    give_memory_back()

    assert changed == {-3: 131_072, -1: 131_072, -8: 1}


def test_a_library_without_such_settings_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _name: SimpleNamespace())

    give_memory_back()
