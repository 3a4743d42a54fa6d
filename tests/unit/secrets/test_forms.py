import base64
import json
import shlex
from urllib.parse import quote, quote_plus

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairway.secrets.forms import MINIMUM_LENGTH, forms_of

AWKWARD = 'it\'s 50% "off" <b>&é/+?$x`\\'
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq+/hkiG9w0=\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(AWKWARD, id="plain"),
        pytest.param(base64.b64encode(AWKWARD.encode()).decode(), id="base64"),
        pytest.param(base64.urlsafe_b64encode(AWKWARD.encode()).decode(), id="urlsafe base64"),
        pytest.param(base64.b64encode(AWKWARD.encode()).decode().rstrip("="), id="base64 without padding"),
        pytest.param(quote(AWKWARD, safe=""), id="percent-encoded"),
        pytest.param(quote(AWKWARD), id="percent-encoded, slashes kept"),
        pytest.param(quote(AWKWARD, safe="").replace("%2F", "%2f").replace("%C3%A9", "%c3%a9").lower(), id="lower hex"),
        pytest.param(quote_plus(AWKWARD), id="form-encoded"),
        pytest.param(json.dumps(AWKWARD)[1:-1], id="JSON"),
        pytest.param(json.dumps(AWKWARD, ensure_ascii=False)[1:-1], id="JSON, not only ASCII"),
        pytest.param(shlex.quote(AWKWARD)[1:-1], id="shell, as Python quotes"),
        pytest.param(AWKWARD.replace("'", "'\\''"), id="shell, as set -x quotes"),
        pytest.param(AWKWARD.replace("'", "''"), id="YAML, inside single quotes"),
        pytest.param('it\'s 50% \\"off\\" <b>&é/+?\\$x\\`\\\\', id="inside double quotes"),
    ],
)
def test_a_shape_in_which_a_secret_turns_up_is_known(shape: str) -> None:
    assert shape.encode() in forms_of(AWKWARD)


@given(st.binary(max_size=7), st.text(min_size=4, max_size=30), st.binary(max_size=7))
def test_base64_is_known_in_the_middle_of_a_longer_value(before: bytes, text: str, after: bytes) -> None:
    encoded = base64.b64encode(before + text.encode() + after)

    known = forms_of(text)

    assert not known or any(shape in encoded for shape in known)


@pytest.mark.parametrize("width", [pytest.param(76, id="base64"), pytest.param(64, id="openssl")])
def test_base64_is_known_when_it_is_broken_into_lines(width: int) -> None:
    encoded = base64.b64encode(PEM.strip().encode())

    lines = {encoded[start : start + width] for start in range(0, len(encoded), width)}

    assert lines <= forms_of(PEM)


@pytest.mark.parametrize("unicode", [pytest.param(False, id="only ASCII"), pytest.param(True, id="not only ASCII")])
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=4).filter(
        lambda text: text == text.strip()
    )
)
def test_a_text_is_known_as_yaml_writes_it_inside_double_quotes(unicode: bool, text: str) -> None:
    written = yaml.dump(text, Dumper=yaml.CSafeDumper, default_style='"', allow_unicode=unicode, width=1 << 20)

    assert written.strip()[1:-1].encode() in forms_of(text)


def test_each_line_of_a_longer_text_is_known() -> None:
    assert {line.encode() for line in PEM.splitlines()} <= forms_of(PEM)


def test_a_text_of_several_lines_is_known_as_json_writes_it() -> None:
    assert b"first\\nsecond" in forms_of("first\nsecond\n")


def test_a_text_that_needs_no_escaping_has_few_shapes() -> None:
    assert {shape for shape in forms_of("abcdef") if not shape.endswith(b"=")} == {
        b"abcdef",  # also for shell, URL and JSON
        b"YWJjZGVm",  # alone
        b"FiY2RlZg",  # after one byte, at the end
        b"FiY2RlZ",  # after one byte
        b"hYmNkZWY",  # after two bytes, at the end
        b"hYmNkZW",  # after two bytes
    }


@pytest.mark.parametrize("text", [pytest.param(text, id=repr(text)) for text in ("", "abc", "  yes \n", "a\nb\nc")])
def test_what_is_too_short_is_left_alone(text: str) -> None:
    assert {shape for shape in forms_of(text) if shape.decode() in text} == set()


@given(st.text(max_size=60))
def test_every_shape_is_long_enough_and_of_one_line(text: str) -> None:
    assert all(len(shape) >= MINIMUM_LENGTH and not set(shape) & set(b"\r\n") for shape in forms_of(text))
