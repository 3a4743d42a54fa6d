"""An unexpected exception of a plugin, in words."""

from fairway.sdk.defect import in_a_line, traceback_of


def test_an_exception_without_a_message_is_its_name() -> None:
    assert in_a_line(KeyError()) == "KeyError"


def test_a_long_message_is_cut() -> None:
    assert in_a_line(ValueError("x" * 10_000)) == f"ValueError: {'x' * 488}… cut"


def test_a_long_traceback_keeps_its_end() -> None:
    text = traceback_of(ValueError(f"{'x' * 1_000_000}end"))

    assert (text[:6], text[-4:], len(text)) == ("… cut\n", "xend", 8_006)
