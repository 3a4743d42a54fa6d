"""YAML edits: one value changes and no other byte does."""

import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairway.git.yaml_edit.edit import EditOptions, set_scalar, set_scalars
from fairway.git.yaml_edit.path import YamlEditError, YamlPath
from fairway.git.yaml_edit.scalar import Scalar


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        pytest.param("a: v1 # note\r\nb: x\r\n", "$.a", "v2", "a: v2 # note\r\nb: x\r\n", id="comment and CRLF stay"),
        pytest.param("a:   'v1'\n", "$.a", "it's", "a:   'it''s'\n", id="single quotes stay"),
        pytest.param('a: "v1"\n', "$.a", 'say "é"\n', 'a: "say \\"é\\"\\n"\n', id="double quotes stay"),
        pytest.param("a: v1\n", "$.a", "1.10", 'a: "1.10"\n', id="a string stays a string"),
        pytest.param("a: 1.9\n", "$.a", "1.10", 'a: "1.10"\n', id="a version is not rounded"),
        pytest.param("a: 3\n", "$.a", "4", "a: 4\n", id="a number given as text stays a number"),
        pytest.param("a: 3\n", "$.a", "v4", "a: v4\n", id="a number may become a string"),
        pytest.param("a: '3'\n", "$.a", 4, "a: '4'\n", id="a quoted number stays quoted"),
        pytest.param("a: 1\n", "$.a", 1e16, "a: 1.0e+16\n", id="a float all readers know"),
        pytest.param("a: yes\n", "$.a", False, "a: false\n", id="a truth value"),
        pytest.param("a: ~\n", "$.a", 3, "a: 3\n", id="nothing becomes a number"),
        pytest.param("a: # note\nb: 1\n", "$.a", "x", "a: x # note\nb: 1\n", id="an empty value is filled"),
        pytest.param("-\n- b\n", "$[0]", "x", "- x\n- b\n", id="an empty item is filled"),
        pytest.param("a: x\n  y # note\n", "$.a", "z", "a: z # note\n", id="a folded plain value"),
        pytest.param("a: |\n  x\n\nb: 1\n", "$.a", "y", "a: |-\n  y\n\nb: 1\n", id="a block keeps its shape"),
        pytest.param("a: >- # c\n   x\nb: 1\n", "$.a", "p\nq\n", "a: | # c\n   p\n   q\nb: 1\n", id="a folded block"),
        pytest.param("a: |\n  x\nb: 1\n", "$.a", "", 'a: ""\nb: 1\n', id="a block that cannot hold the value"),
        pytest.param("a: |\n  x", "$.a", " y", 'a: " y"', id="a block at the end of the file"),
        pytest.param("a: |2\n  x\n", "$.a", "y", 'a: "y"\n', id="a block with an indentation of its own"),
        pytest.param("a: &n !!str v # c\nb: *n\n", "$.a", "w", "a: &n !!str w # c\nb: *n\n", id="anchor and tag stay"),
        pytest.param("a: !own v\n", "$.a", "w", "a: !own w\n", id="an own tag stays"),
        pytest.param("{a: [x, {b: y}]}", "$.a[1].b", "p, q", '{a: [x, {b: "p, q"}]}', id="flow collections"),
        pytest.param('"a.b": {c d: 1}', """$["a.b"]['c d']""", 2, '"a.b": {c d: 2}', id="quoted keys"),
        pytest.param("\ufeffü: 'ä'\nb: 😀 # ß\n", "$.b", "ö", "\ufeffü: 'ä'\nb: ö # ß\n", id="BOM and wide characters"),
        pytest.param("v1\n", "$", "v2", "v2\n", id="a document that is one value"),
        pytest.param("a: v1\n", ("a",), "v2", "a: v2\n", id="a path as a sequence"),
    ],
)
def test_a_value_is_set_and_the_rest_stays(before: str, path: YamlPath, value: Scalar, after: str) -> None:
    assert set_scalar(before.encode(), path, value).decode() == after


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        pytest.param(
            "image: x\n", "$.imge", "line 1, column 1: $.imge does not exist; did you mean 'image'?", id="typo"
        ),
        pytest.param(
            "a:\n  x: 1\n", "$.a.zzz", "line 2, column 3: $.a.zzz does not exist; the keys there are x", id="absent"
        ),
        pytest.param(
            "a: [1]\n", "$.a[1]", "line 1, column 4: $.a[1] does not exist; the list has 1 items", id="past the end"
        ),
        pytest.param("a: 1\n", "$.a.b", "line 1, column 4: $.a is a single value; expected a mapping", id="too deep"),
        pytest.param("a: {}\n", "$.a[0]", "line 1, column 4: $.a is a mapping; expected a list", id="not a list"),
        pytest.param("a: [1]\n", "$.a", "line 1, column 4: $.a is a list; expected a single value", id="not a value"),
        pytest.param(
            "b:\n  a: 1\n  a: 2\n",
            "$.b.a",
            "$.b.a is there twice, at line 2, column 3 and line 3, column 3; remove one of them",
            id="duplicate",
        ),
        pytest.param(
            "a: &n v\nb: *n\n",
            "$.b",
            "$.b is an alias of the value at line 1, column 4; changing it there changes every place that uses it: "
            "name that place, or allow edits through aliases",
            id="alias",
        ),
        pytest.param(
            "a: &n {v: 1}\nb:\n  <<: *n\n",
            "$.b.v",
            "line 3, column 3: $.b.v is not written there: a merge key (<<) brings it from line 1, column 11; "
            "set it there",
            id="merge key",
        ),
        pytest.param(
            "{a}", "$.a", "$.a cannot be set without changing something else; edit the file by hand", id="no room"
        ),
        pytest.param("a: [\n", "$.a", "line 2, column 1: the file is not valid YAML", id="broken"),
        pytest.param("a: b: c\n", "$.a", "line 1, column 5: the file is not valid YAML", id="broken in the middle"),
        pytest.param("", "$.a", "the file has no document 0; it holds 0", id="empty"),
        pytest.param("[" * 300, "$.a", "line 1, column 201: the file is nested more than 200 levels deep", id="deep"),
        pytest.param("a: 1\n---\na: 2\n", "$.a", "the file holds 2 documents; say which one", id="which document"),
        pytest.param("a: 1", "a", "the path 'a' does not start with '$'", id="path without a root"),
        pytest.param("a: 1", "$.a[x]", "the path '$.a[x]' cannot be read from character 4 ('[x]')", id="odd path"),
    ],
)
def test_what_cannot_be_set_says_where_and_why(text: str, path: str, message: str) -> None:
    with pytest.raises(YamlEditError) as caught:
        set_scalar(text.encode(), path, "new")

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text", ["1e3", "0o7", "0b1", "y", "N", "1_000", ".5", "+1", "1:30", "2026-01-02T03:04:05Z", "="]
)
def test_a_text_that_only_some_readers_misread_is_quoted_too(text: str) -> None:
    assert set_scalar(b"a: old\n", "$.a", text) == f'a: "{text}"\n'.encode()


def test_a_file_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(YamlEditError, match="not UTF-8"):
        set_scalar("a: 1".encode("utf-16"), "$.a", "2")


def test_an_alias_is_followed_when_asked() -> None:
    text = set_scalar(b"a: &n v # def\nb: *n\n", "$.b", "w", EditOptions(through_alias=True))

    assert text == b"a: &n w # def\nb: *n\n"


def test_one_document_of_many_is_chosen() -> None:
    text = set_scalar(b"a: 1\n---\na: 2\n...\n---\na: 3\n", "$.a", 9, EditOptions(document=1))

    assert text == b"a: 1\n---\na: 9\n...\n---\na: 3\n"


def test_several_values_are_set_at_once() -> None:
    text = set_scalars(b"a: x # 1\nb: [p, 'q'] # 2\n", {"$.b[1]": "r's", "$.a": "longer than before"})

    assert text == b"a: longer than before # 1\nb: [p, 'r''s'] # 2\n"


def test_two_values_for_one_place_are_refused() -> None:
    with pytest.raises(YamlEditError, match="two different values"):
        set_scalars(b"a: 1\n", {"$.a": "2", ("a",): "3"})


KEYS = st.text(string.ascii_letters + "._-/ é", min_size=1, max_size=8).filter(lambda key: key == key.strip())
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    [
        "1.10",
        "on",
        "null",
        "~",
        "0x1f",
        "1e3",
        "012",
        "2026-01-02",
        "12:30:45",
        "- a",
        "a: b",
        "a #b",
        "*x",
        "&y",
        "!z",
        "<<",
    ]
)
COMMENTS = st.sampled_from(["", " # plain", " # ünïcode 😀", " # 'quote' \"q\" {[", "   #"])
STYLES = st.sampled_from(
    ["old", "'old'", '"o\\nld"', "|\n    old\n    text", ">-\n    old", "!!str old", "&anchor old"]
)


@given(
    keys=st.lists(KEYS, min_size=1, max_size=5, unique=True),
    data=st.data(),
    newline=st.sampled_from(["\n", "\r\n"]),
    value=TEXTS,
)
def test_any_text_reads_back_and_every_other_byte_stays(
    keys: list[str], data: st.DataObject, newline: str, value: str
) -> None:
    chosen = data.draw(st.sampled_from(keys))
    style = data.draw(STYLES)
    lines = [f'  "{key}": {style if key == chosen else "kept"}' + _comment(data, style, key == chosen) for key in keys]
    text = "\n".join(["# head", "top:", *lines, "# foot", ""]).replace("\n", newline)
    index = text.index(f'"{chosen}": ') + len(f'"{chosen}": ')

    result = set_scalar(text.encode(), ["top", chosen], value).decode()

    assert yaml.load(result, yaml.CSafeLoader)["top"][chosen] == value
    assert result[:index] == text[:index]
    rest = text[index:].split(newline, style.count("\n") + 1)[-1]
    assert result.endswith(newline + rest)


def _comment(data: st.DataObject, style: str, is_chosen: bool) -> str:
    return "" if is_chosen and "\n" in style else data.draw(COMMENTS)


@given(
    old=st.integers() | st.floats(allow_nan=False) | st.booleans(),
    new=st.integers() | st.floats(allow_nan=False) | st.booleans(),
)
def test_numbers_and_truth_values_read_back(old: Scalar, new: Scalar) -> None:
    text = b"a:\n- " + yaml.safe_dump(old).split("\n")[0].encode() + b" # note\n"

    result = set_scalar(text, "$.a[0]", new)

    assert yaml.load(result, yaml.CSafeLoader) == {"a": [new]}
    assert result.endswith(b" # note\n")
