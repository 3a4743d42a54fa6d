"""Paths into YAML documents, in notation and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.git.yaml_edit.path import Step, format_path, parse_path


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        pytest.param("$", (), id="the document"),
        pytest.param("$.a.b-c[0].d", ("a", "b-c", 0, "d"), id="keys and positions"),
        pytest.param("$[2][0]", (2, 0), id="positions only"),
        pytest.param("""$["a.b"]['c]"d']""", ("a.b", 'c]"d'), id="quoted keys"),
        pytest.param(r'$["a\"b\\"]', ('a"b\\',), id="escapes"),
    ],
)
def test_a_path_is_read(text: str, steps: tuple[Step, ...]) -> None:
    assert parse_path(text) == steps


@given(st.lists(st.text() | st.integers(min_value=0), max_size=6))
def test_a_written_path_reads_back(steps: list[Step]) -> None:
    assert parse_path(format_path(steps)) == tuple(steps)
