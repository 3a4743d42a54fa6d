"""Files made to hurt: each is a problem in words or is read, in bounded time and memory, and never an exception.

What could take the process down (deep nesting recursed in the parser's C code) or use it up runs in a process of its
own with limits, so that a failure is a red test and not a dead test run.
"""

import base64
import json
import subprocess
import sys
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect

from fairway.config.problems import Position
from fairway.config.read import KIND_TYPES, api_versions, read_file
from fairway.config.reader.check import type_info
from fairway.config.reader.document import LARGEST_FILE, MOST_PROBLEMS

APPLICATION: Final = b"apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec:\n"
TOO_DEEP: Final = "this is nested more than 100 levels deep"
TOO_MANY: Final = "the file has more than 100,000 values; no configuration needs as many"
TOO_MANY_WRITTEN_OUT: Final = "written out, the aliases make more than 100,000 values"
MEBIBYTE: Final = LARGEST_FILE - 1024

READ_EACH: Final = """
import base64, json, resource, sys
from fairway.config.read import read_file
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for name, data in json.load(sys.stdin).items():
    problems = [problem for reading in read_file(base64.b64decode(data), "f") for problem in reading.problems]
    print(json.dumps([name, len(problems), problems[0].message if problems else ""]), flush=True)
"""


def first_problems(files: dict[str, bytes]) -> dict[str, str]:
    """The first problem of each file, read in a process with limits; a file that kills it is missing at the end."""
    done = subprocess.run(
        [sys.executable, "-c", READ_EACH],
        input=json.dumps({name: base64.b64encode(data).decode() for name, data in files.items()}).encode(),
        capture_output=True,
        check=False,
    )
    return {name: message for name, _count, message in map(json.loads, done.stdout.splitlines())}


def lines(count: int, line: str) -> bytes:
    return "".join(line.replace("N", str(n)).replace("M", str(n - 1)) for n in range(1, count)).encode()


def test_nesting_never_kills_the_process_whatever_it_is_written_with() -> None:
    deep = 200_000
    files = {
        "brackets": b"[" * deep,
        "braces": b"{a: " * deep,
        "brackets over lines": b"[\n" * deep,
        "dashes": b"- " * deep,
        "dashes after a byte order mark": b"\xef\xbb\xbf" + b"- " * deep,
        "dashes after two byte order marks": b"\xef\xbb\xbf" * 2 + b"- " * deep,
        "dashes after a carriage return": b"# x\r" + b"- " * deep,
        "dashes after a next-line character": b"# x\xc2\x85" + b"- " * deep,
        "question marks after a line separator": b"# x\xe2\x80\xa8" + b"? " * deep,
        "keys that are keys": b"? - " * deep,
        "brackets with anchors": lines(deep // 2, "&aN ["),
        "brackets with tags": b"!!seq [" * (deep // 2),
        "brackets with comments": b"[ #\n" * deep,
        "a mapping in a list in a mapping": b"[{a: " * deep,
        "ever deeper lines": b"".join(b" " * n + b"a:\n" for n in range(1200)),
        "a list in an explicit key": b"? [" * 90 + b"[" * deep,
    }

    assert first_problems(files) == dict.fromkeys(files, TOO_DEEP)


def test_aliases_do_not_explode() -> None:
    files = {
        "lists of lists": b"a0: &a0 [x]\n" + lines(40, "aN: &aN [*aM,*aM,*aM,*aM,*aM,*aM,*aM,*aM,*aM]\n"),
        "merges of merges": b"a0: &a0 {x: 1}\n" + lines(40, "aN: &aN {<<: [*aM,*aM,*aM,*aM,*aM], kN: *aM}\n"),
        "one merge, many times": b"a: &a {" + lines(300, "kN: 1,") + b"}\nb: {<<: [" + b"*a," * 500 + b"]}",
        "long texts": b'a: &a "' + b"x" * 100_000 + b'"\nb: [' + b"*a," * 200_000 + b"]",
    }

    assert first_problems(files) == dict.fromkeys(files, TOO_MANY_WRITTEN_OUT)


def test_aliases_do_not_nest_without_end() -> None:
    files = {"a chain of aliases": b"a0: &a0\n- x\n" + lines(20_000, "aN: &aN\n- *aM\n")}

    assert first_problems(files) == {"a chain of aliases": f"written out, {TOO_DEEP}"}


def test_a_file_full_of_one_thing_is_refused_or_read_in_bounded_memory() -> None:
    many = 90_000 // 2
    kind_is_missing = f"kind is missing; expected one of {', '.join(KIND_TYPES)}"
    files = {
        "numbers": b"[" + b"0," * (MEBIBYTE // 2) + b"]",
        "empty lists": b"[" + b"[]," * (MEBIBYTE // 3) + b"]",
        "documents": b"---\n" * (MEBIBYTE // 4),
        "brackets in quotes": b"a: '" + b"[{" * (MEBIBYTE // 2) + b"'",
        "brackets in a comment": b"a: b #" + b"[{" * (MEBIBYTE // 2),
        "dashes in a comment": b"a: b\n# " + b"-" * MEBIBYTE,
        "a long key": b"? " + b"x" * MEBIBYTE + b"\n: 1",
        "keys that repeat the last of many": b"{" + lines(many // 2, "kN: 1,") + b"k22499: 1," * (many // 2) + b"}",
    }

    assert first_problems(files) == {
        "numbers": TOO_MANY,
        "empty lists": TOO_MANY,
        "documents": TOO_MANY,
        "brackets in quotes": kind_is_missing,
        "brackets in a comment": kind_is_missing,
        "dashes in a comment": kind_is_missing,
        "a long key": kind_is_missing,
        "keys that repeat the last of many": kind_is_missing,
    }


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(b"  {" + lines(20_000, "kN: 1,") + b"}", id="unknown fields"),
        pytest.param(b"  pipeline: {stages: [" + b"{name: WAIX}," * 20_000 + b"]}", id="unknown stages"),
        pytest.param(b"  pipeline: {stages: [" + b"{name: CUSTOM_SYNC}," * 20_000 + b"]}", id="incomplete stages"),
        pytest.param(b"  labels: {" + lines(20_000, "kN: 1,") + b"}", id="wrong values"),
    ],
)
def test_a_file_with_very_many_problems_shows_the_first_of_them(spec: bytes) -> None:
    (reading,) = read_file(APPLICATION + spec, "f")

    assert len(reading.problems) == MOST_PROBLEMS + 1
    assert reading.problems[0].message == f"has more than {MOST_PROBLEMS} problems; the rest is not shown"
    assert reading.config is None


def test_a_file_of_100_megabytes_is_refused_by_its_size() -> None:
    (reading,) = read_file(bytes(100 << 20), "f")

    assert [problem.message for problem in reading.problems] == [
        "the file has 100.0 MiB, a configuration file may have 1 MiB"
    ]


def said(data: bytes) -> list[tuple[Position, str]]:
    return [(problem.position, problem.message) for reading in read_file(data, "f") for problem in reading.problems]


@pytest.mark.parametrize(
    ("data", "position", "message"),
    [
        pytest.param(b"  name: a\x00b\n", (4, 10), "found the control character U+0000; remove it", id="NUL"),
        pytest.param(b"  name: a\x1bb\n", (4, 10), "found the control character U+001B; remove it", id="escape"),
        pytest.param(b"  name: caf\xe9\n", (4, 12), "byte 0xe9 is not UTF-8; save the file as UTF-8", id="Latin-1"),
        pytest.param(b"  name: a\xc3", (4, 10), "byte 0xc3 is not UTF-8; save the file as UTF-8", id="cut short"),
        pytest.param(b"  a: \xed\xa0\x80", (4, 6), "byte 0xed is not UTF-8; save the file as UTF-8", id="a surrogate"),
        pytest.param(b"  a: \xc0\xaf", (4, 6), "byte 0xc0 is not UTF-8; save the file as UTF-8", id="overlong"),
        pytest.param(
            b"\tname: a\n", (4, 1), "found a tab in the indentation; YAML is indented with spaces only", id="a tab"
        ),
        pytest.param(b"  labels: {[a]: b}\n", (4, 12), "a key must be text", id="a list as key"),
        pytest.param(b"  ? {a: b}\n  : c\n", (4, 5), "a key must be text", id="a mapping as key"),
        pytest.param(
            b"  name: a\n  name: b\n", (5, 3), "the key 'name' is given twice, first in line 4", id="a key twice"
        ),
        pytest.param(
            b"  trigger: {onChain: {disabled: true, disabled: true}}\n",
            (4, 39),
            "the key 'disabled' is given twice, first in line 4",
            id="a key twice, deep inside",
        ),
        pytest.param(b"  labels: &a {b: *a}\n", (4, 11), "an alias contains itself", id="a circle"),
        pytest.param(b"  labels: &a {<<: *a}\n", (4, 11), "an alias contains itself", id="a circle of merges"),
        pytest.param(b"  labels: {<<: a}\n", (4, 16), "`<<` merges mappings only", id="a merge of a text"),
        pytest.param(
            b"  name: !!python/object:os.system x\n",
            (4, 9),
            "the tag 'tag:yaml.org,2002:python/object:os.system' is not known here",
            id="a Python object",
        ),
        pytest.param(
            b"  labels: !!python/dict {a: b}\n",
            (4, 11),
            "the tag 'tag:yaml.org,2002:python/dict' is not known here",
            id="a Python dictionary",
        ),
        pytest.param(b"  name: !mine x\n", (4, 9), "the tag '!mine' is not known here", id="a tag of one's own"),
        pytest.param(
            b"  name: !!binary /w==\n",
            (4, 9),
            "this is tagged !!binary, but it is no text in base64",
            id="binary that is no text",
        ),
        pytest.param(
            b"  name: *x\n",
            (4, 9),
            "*x refers to an anchor that is not defined above; quote it if it is meant as text",
            id="an alias of nothing",
        ),
        pytest.param(
            b"  timeout: " + b"9" * 4000 + b"\n",
            (4, 12),
            f'found "{"9" * 40}…"; expected a duration such as "30s", "5m" or "1h30m"',
            id="a number of 4000 digits",
        ),
        pytest.param(
            b"  timeout: 1e+999\n",
            (4, 12),
            'found "1e+999"; expected a duration such as "30s", "5m" or "1h30m"',
            id="a number beyond all numbers",
        ),
        pytest.param(
            b"  timeout: .inf\n",
            (4, 12),
            'found the number inf, which is longer than 292 years; expected a duration such as "30s", "5m" or "1h30m"',
            id="infinity",
        ),
    ],
)
def test_what_is_not_sane_is_named_with_its_place(data: bytes, position: tuple[int, int], message: str) -> None:
    assert said(APPLICATION + data) == [(Position(*position), message)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\u0085", "\u2028"], ids=ascii)
def test_positions_hold_with_every_line_end(line_end: str) -> None:
    text = (APPLICATION + b"  name: *x\n").decode().replace("\n", line_end)

    assert [position for position, _ in said(text.encode())] == [Position(4, 9)]


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("utf-16", "the file is UTF-16; save it as UTF-8"),
        ("utf-16-le", "found the control character U+0000; remove it"),
        ("utf-16-be", "found the control character U+0000; remove it"),
    ],
)
def test_a_file_in_another_encoding_is_refused(encoding: str, message: str) -> None:
    assert [text for _, text in said(APPLICATION.decode().encode(encoding))] == [message]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        pytest.param(b"2020-01-01", "2020-01-01", id="a date"),
        pytest.param(b"!!timestamp 2020-01-01", "2020-01-01", id="a tagged date"),
        pytest.param(b"!!binary aGVsbG8=", "hello", id="base64"),
        pytest.param(b"!!str 5", "5", id="a number tagged as text"),
        pytest.param(b"1e999", "1e999", id="what Go does not take for a number"),
        pytest.param(b'"\\0"', "\0", id="an escaped NUL"),
        pytest.param(b"a\xef\xbb\xbfb", "a\ufeffb", id="a byte order mark inside"),
    ],
)
def test_what_is_odd_but_text_is_read(written: bytes, name: str) -> None:
    (reading,) = read_file(b"\xef\xbb\xbf" + APPLICATION + b"  name: " + written + b"\n", "f")

    assert (reading.problems, reading.config.name) == ((), name)


def test_numbers_as_keys_are_texts() -> None:
    (reading,) = read_file(APPLICATION + b"  labels: {1: a, 2.5: b}\n", "f")

    assert reading.config.labels == {"1": "a", "2.5": "b"}


def test_escape_sequences_of_a_file_do_not_reach_the_terminal() -> None:
    (reading,) = read_file(APPLICATION + b'  timeout: "\\e[31m\\a"\n  "\\e[0m": 1\n', "f")

    assert not [problem for problem in reading.problems if not str(problem).isprintable()]
    assert [problem.message.partition(";")[0] for problem in reading.problems] == [
        'found "\\x1b[31m\\x07"',
        "is not a field of this",
    ]


@pytest.mark.parametrize("kind", [b"[KubernetesApp]", b"{a: b}", b"5", b"true"])
def test_a_kind_that_is_no_text_is_refused(kind: bytes) -> None:
    ((position, message),) = said(b"apiVersion: pipecd.dev/v1beta1\nkind: " + kind + b"\n")

    assert (position, message.partition(", ")[2]) == (Position(2, 7), f"expected one of {', '.join(KIND_TYPES)}")


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    assert read_file(data, "f")


FRAGMENTS: Final = (
    *("- ", "? ", ": ", "\t", "\n", "\r", "\u0085", "\u2028", "[", "]", "{", "}", ",", "&a ", "*a", "!t ", "!!str "),
    *("!!int ", "!!binary ", '"', "'", "#", "%", "...", "---", "|\n ", ">\n", "<<: ", "a", "b: ", "\\", "\\u0041", "0"),
    *("1e999", "\ufeff", "\x00", "\x7f", "é", "  ", "@", "{{ x }}", "~", "y", "...\n  x", "!<x>", "%YAML 1.1\n"),
)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25), st.sampled_from(["", APPLICATION.decode() + "  "]))
def test_no_text_raises(fragments: list[str], head: str) -> None:
    readings = read_file((head + "".join(fragments)).encode(), "f")

    assert all(problem.position >= Position(1, 1) for reading in readings for problem in reading.problems)


JUNK: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([[], {}, [None], "5m", 30]),
)


def shaped(wanted: inspect.Type) -> st.SearchStrategy[Any]:
    """Something that has the shape of a type, with anything at all in some of its places."""
    match wanted:
        case inspect.StructType(fields=fields):
            own = {field.encode_name: shaped(field.type) for field in fields}
            right: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional={**own, "unheardOf": JUNK})
        case inspect.VarTupleType(item_type=item):
            right = st.lists(shaped(item), max_size=2)
        case inspect.DictType(value_type=value):
            keys = st.sampled_from(["a", "kubernetes", "ecs", "input", "duration", "timeout", "replicas", "metrics"])
            right = st.dictionaries(keys, shaped(value), max_size=3)
        case inspect.UnionType(types=types):
            right = st.one_of(*map(shaped, types))
        case inspect.LiteralType(values=words):
            right = st.sampled_from(words)
        case inspect.StrType():
            right = st.sampled_from(["x", "WAIT", "ANALYSIS", "K8S_CANARY_ROLLOUT", "kubernetes"])
        case _:
            right = JUNK
    return st.integers(0, 5).flatmap(lambda chance: JUNK if chance == 0 else right)


@cache
def specs(kind: str) -> st.SearchStrategy[Any]:
    return shaped(type_info(KIND_TYPES[kind]))


@pytest.mark.parametrize("kind", KIND_TYPES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_spec_raises(kind: str, data: st.DataObject) -> None:
    spec = data.draw(specs(kind))
    file = {"apiVersion": api_versions(kind)[0], "kind": kind, "metadata": {"name": "x"}, "spec": spec}

    (reading,) = read_file(json.dumps(file).encode(), "f")

    assert reading.config is not None or reading.errors
