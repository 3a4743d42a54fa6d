"""The ledger of started scripts, in real files."""

from pathlib import Path

import pytest

from fairway.plugins.scriptrun.ledger import Ledger


def test_a_place_keeps_its_name(tmp_path: Path) -> None:
    assert Ledger(tmp_path).name() == Ledger(tmp_path).name()


def test_a_name_of_a_version_without_a_ledger_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "place").write_text("0123456789abcdef")

    assert [Ledger(tmp_path).name() for _ in range(2)] == ["0123456789abcdef"] * 2
    assert not (tmp_path / "place").exists()


@pytest.mark.parametrize("damaged", ["", "0123", "\0" * 16])
def test_a_damaged_name_is_replaced(tmp_path: Path, damaged: str) -> None:
    before = Ledger(tmp_path).name()
    (tmp_path / "started" / "place").write_text(damaged)

    new = Ledger(tmp_path).name()

    assert new != before
    assert Ledger(tmp_path).name() == new


def test_a_lost_ledger_has_a_new_name(tmp_path: Path) -> None:
    before = Ledger(tmp_path).name()
    (tmp_path / "started" / "place").unlink()
    (tmp_path / "started").rmdir()

    assert Ledger(tmp_path).name() != before


def test_an_entry_knows_whether_the_machine_restarted_since(tmp_path: Path) -> None:
    ledger, journal = Ledger(tmp_path), tmp_path / "deployment" / "stage-0-0"
    ledger.add(journal)
    same = ledger.is_of_this_boot(journal)
    (tmp_path / "started" / "deployment" / "stage-0-0").write_text("another boot\n")

    assert (same, ledger.has(journal), ledger.is_of_this_boot(journal)) == (True, True, False)
