import pytest

from fairway.config.regex import Regex


def test_an_expression_is_looked_for_anywhere_in_the_text() -> None:
    assert Regex.parse("^docs?:").found_in("doc: a word")
    assert not Regex.parse("^docs?:").found_in("fix: a doc: b")


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        pytest.param("a(b", r"^is wrong: missing \): a\(b$", id="unbalanced"),
        pytest.param("(?=a)", r"^is wrong: invalid perl operator: \(\?=$", id="Go has no look-ahead"),
        pytest.param(5, "^is not a text$", id="a number"),
    ],
)
def test_what_is_no_expression_says_why(written: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Regex.parse(written)


def test_an_expression_that_explodes_elsewhere_takes_its_time_here() -> None:
    assert not Regex.parse("^(a+)+$").found_in("a" * 50_000 + "b")


def test_an_empty_expression_is_as_if_it_were_not_there() -> None:
    assert not Regex.parse("")
