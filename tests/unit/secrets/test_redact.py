import base64
import json
import shlex
from collections.abc import Sequence
from itertools import groupby, pairwise
from urllib.parse import quote

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fairway.secrets.forms import forms_of
from fairway.secrets.redact import Redactor
from fairway.secrets.secret import MASK, Secret

#: Few letters, so that secrets overlap, repeat and begin where others end.
LETTERS = "abAB=\n"
few_secrets = st.lists(st.text(LETTERS, min_size=1, max_size=9), max_size=4)
#: Text that is full of the secrets' own shapes, whole and in part.
cuts = st.lists(st.integers(0, 300), max_size=12)


def a_redactor(*texts: str) -> Redactor:
    return Redactor(Secret(text) for text in texts)


def in_chunks(redactor: Redactor, data: bytes, cuts: Sequence[int]) -> bytes:
    stream = redactor.stream()
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return b"".join(stream.feed(data[start:end]) for start, end in pairwise(borders)) + stream.flush()


def masked_one_by_one(data: bytes, shapes: frozenset[bytes]) -> bytes:
    """The rule in its plainest words: a byte in any shape is masked, each run once."""
    inside = [False] * len(data)
    for shape in shapes:
        for start in range(len(data)):
            if data.startswith(shape, start):
                inside[start : start + len(shape)] = [True] * len(shape)
    runs = groupby(range(len(data)), key=inside.__getitem__)
    return b"".join(MASK.encode() if masked else bytes(data[at] for at in run) for masked, run in runs)


@st.composite
def secrets_and_output(draw: st.DrawFn) -> tuple[list[str], bytes]:
    texts = draw(few_secrets)
    shapes = sorted(frozenset[bytes]().union(*map(forms_of, texts)))
    pieces = st.text(LETTERS + "xyz", max_size=6).map(str.encode)
    if shapes:
        pieces |= st.sampled_from(shapes) | st.builds(
            lambda shape, end: shape[:end], st.sampled_from(shapes), st.integers(0, 12)
        )
    return texts, b"".join(draw(st.lists(pieces, max_size=12)))


@given(secrets_and_output(), cuts)
@example((["===="], b"%3D%3D%3D%3D"), [12])  # masked already, and still the beginning of another one
def test_any_chunking_masks_exactly_the_bytes_in_a_shape(case: tuple[list[str], bytes], cuts: list[int]) -> None:
    texts, data = case

    masked = in_chunks(a_redactor(*texts), data, cuts)

    assert masked == masked_one_by_one(data, frozenset[bytes]().union(*map(forms_of, texts)))


@given(secrets_and_output(), cuts)
def test_no_shape_of_any_secret_is_left(case: tuple[list[str], bytes], cuts: list[int]) -> None:
    texts, data = case

    masked = in_chunks(a_redactor(*texts), data, cuts)

    assert [shape for text in texts for shape in forms_of(text) if shape in masked] == []


@given(st.text("0123456789 .:-\n"), cuts)
def test_output_without_secrets_passes_unchanged(text: str, cuts: list[int]) -> None:
    assert in_chunks(a_redactor("hunter2", "correct horse"), text.encode(), cuts) == text.encode()


@given(st.text(min_size=4, max_size=40).filter(lambda text: len(text.strip()) >= 4 and "•" not in text))
@example("p\u2028q\u2028rs")
@example("back\\slash 'quote' \"double\" 50% <é>&/+")
def test_every_way_of_printing_a_secret_is_masked(text: str) -> None:
    line = text.strip().splitlines()[0] if len(text.strip().splitlines()) == 1 else "plain"
    redactor = a_redactor(text, line)
    ways = [base64.b64encode(text.encode()).decode(), quote(text, safe=""), json.dumps(text)]
    ways += [line, shlex.quote(line)] if len(line.strip()) >= 4 else []

    assert [way for way in ways if MASK not in redactor.redact(f"x{way}x")] == []


@pytest.mark.parametrize(
    ("secrets", "output", "masked"),
    [
        pytest.param(["hunter2"], "the password is hunter2.", "the password is •••.", id="one"),
        pytest.param(["hunter2"], "hunter2hunter2 hunter2", "••• •••", id="neighbours become one"),
        pytest.param(["abcdef", "defghi"], "xabcdefghix", "x•••x", id="overlapping"),
        pytest.param(["abcd", "abcdefgh"], "abcdef abcdefgh", "•••ef •••", id="one inside another"),
        pytest.param(["on"], "position", "position", id="too short to mask"),
        pytest.param(["top secret\nsecond line\n"], "top secret, second line", "•••, •••", id="line by line"),
        pytest.param(["hunter2"], "auth: aHVudGVyMg==", "auth: •••", id="base64"),
        pytest.param(["hunter2"], "Basic dXNlcjpodW50ZXIy", "Basic dXNlcjp•••", id="in the middle of base64"),
        pytest.param([], "nothing to hide", "nothing to hide", id="no secrets"),
        pytest.param(["пароль"], "пароль!", "•••!", id="not ASCII"),
    ],
)
def test_secrets_are_masked(secrets: list[str], output: str, masked: str) -> None:
    assert a_redactor(*secrets).redact(output) == masked


@pytest.mark.parametrize("style", [pytest.param(None, id="plain"), "'", '"'])
@pytest.mark.parametrize("mark", [pytest.param("", id="a file"), pytest.param("+", id="a difference")])
@given(
    st.lists(st.text("abcxyz", min_size=3, max_size=9), min_size=2, max_size=30).map(" ".join),
    st.integers(5, 80),
)
def test_a_secret_that_yaml_breaks_into_lines_is_masked(mark: str, style: str | None, text: str, width: int) -> None:
    def shown(width: int) -> str:
        written = yaml.dump({"env": [{"value": text}]}, Dumper=yaml.CSafeDumper, default_style=style, width=width)
        return "".join(mark + line for line in written.splitlines(keepends=True))

    assert a_redactor(text).redact(shown(width)) == shown(1 << 20).replace(text, MASK)


@pytest.mark.parametrize(
    ("fed", "passed_on"),
    [
        pytest.param([b"a line\n", b"another\n"], [b"a line\n", b"another\n", b""], id="lines go out at once"),
        pytest.param([b"it is hun", b"gry\n"], [b"it is ", b"hungry\n", b""], id="a beginning that comes to nothing"),
        pytest.param([b"it is hun", b"ter2\n"], [b"it is ", b"\xe2\x80\xa2" * 3 + b"\n", b""], id="across a border"),
        pytest.param([b"is hunter2"], [b"is " + b"\xe2\x80\xa2" * 3, b""], id="a whole one is not held back"),
        pytest.param([b"hun\n", b"ter2\n"], [b"hun\n", b"ter2\n", b""], id="a line break ends it"),
        pytest.param([b"h", b"u", b"n"], [b"", b"", b"", b"hun"], id="the end lets go"),
        pytest.param([b"progress 1%\r", b"2%\r"], [b"progress 1%\r", b"2%\r", b""], id="progress without line breaks"),
    ],
)
def test_only_what_may_still_match_is_held_back(fed: list[bytes], passed_on: list[bytes]) -> None:
    stream = a_redactor("hunter2").stream()

    assert [*map(stream.feed, fed), stream.flush()] == passed_on


def test_what_is_held_back_is_shorter_than_the_longest_shape() -> None:
    stream = a_redactor("a" * 50).stream()

    held = [len(fed) - len(stream.feed(fed)) for fed in [b"a" * 49, b"b" * 1000]]

    assert held == [49, -49]


def test_streams_of_one_redactor_do_not_mix() -> None:
    redactor = a_redactor("hunter2")
    one, other = redactor.stream(), redactor.stream()

    assert (one.feed(b"hun"), other.feed(b"ter2"), one.flush(), other.flush()) == (b"", b"ter2", b"hun", b"")
