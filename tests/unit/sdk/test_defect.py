"""An unexpected exception of a plugin, in words."""

from fairway.sdk.defect import in_a_line, traceback_of


def test_an_exception_without_a_message_is_its_name() -> None:
    assert in_a_line(KeyError()) == "KeyError"


def test_a_long_message_is_cut() -> None:
    assert in_a_line(ValueError("x" * 10_000)) == f"ValueError: {'x' * 464}… cut (10012 characters)"


def test_a_long_message_leaves_the_traceback_its_frames() -> None:
    text = traceback_of(raised(ValueError("x" * 3_000_000)))

    assert f'File "{__file__}", line ' in text
    assert "in raised\n    raise error\n" in text
    assert text.endswith("x… cut (3000012 characters)")


def test_long_messages_of_causes_leave_all_frames() -> None:
    inner = raised(KeyError("y" * 3_000_000))
    outer = ValueError("x\n" * 1_000_000)
    outer.__cause__ = inner

    text = traceback_of(raised(outer))

    assert text.count("in raised\n") == 2
    assert (text.count("y… cut (3000012 characters)"), text.count("… cut (2000012 characters)")) == (1, 1)


def test_a_long_chain_of_causes_keeps_its_end() -> None:
    error: Exception = ValueError("first")
    for number in range(1_000):
        following = ValueError(f"error {number}")
        following.__cause__ = error
        error = following

    text = traceback_of(raised(error))

    assert text.startswith("… cut (")
    assert text.endswith("in raised\n    raise error\nValueError: error 999")
    assert len(text) < 20_000


def raised(error: Exception) -> Exception:
    """The error, with a frame in its traceback."""
    try:
        raise error
    except Exception as caught:
        return caught
