"""The launcher's record: what is written is read again, and what cannot be understood is nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.launcher.record import Failure, Record, Trial, read_record, version_of, write_record

KEYS = st.text(max_size=20)
TRIALS = st.builds(Trial, KEYS, st.integers(0, 9), st.floats(0, 999), st.floats(0, 999))
FAILURES = st.builds(Failure, KEYS, st.text(max_size=50), st.integers(0, 2**40), st.floats(0, 999), st.booleans())
RECORDS = st.builds(Record, KEYS, KEYS, st.none() | KEYS, st.none() | TRIALS, st.lists(FAILURES, max_size=3).map(tuple))


@given(record=RECORDS)
def test_a_record_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, record: Record) -> None:
    folder = tmp_path_factory.mktemp("versions")

    write_record(folder, record)

    assert read_record(folder) == record
    assert [each.name for each in folder.iterdir()] == ["record.json"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"installed": "1", "trial": [1, 2, 3, 4, 5, 6], "failures": []}', "\xff"]
)
def test_what_cannot_be_understood_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_bytes(text.encode("latin-1"))

    assert read_record(tmp_path) is None


def test_a_version_is_named_without_its_checksum() -> None:
    assert [version_of(key, "0.1.0") for key in ("0.2.0rc1-ab", "")] == ["0.2.0rc1", "0.1.0"]
