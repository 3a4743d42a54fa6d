"""Text → objects: lines, Lists, and every mistake said with its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.kube.manifest import Manifest, Where
from fairway.plugins.kubernetes.manifests.documents import (
    LIMITS,
    BadManifests,
    parse_file,
    parse_output,
    split,
)

TWO = """\
# The service.
apiVersion: v1
kind: Service
metadata: {name: web}
---
# Nothing here.
---

apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
"""


def problems(text: str | bytes, file: str = "web.yaml") -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    return [str(each) for each in parse_file(data, file).problems]


def test_each_document_is_an_object_at_its_line() -> None:
    parsed = parse_file(TWO.encode(), "web.yaml")

    assert parsed.checked() == [
        Manifest({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}, Where("web.yaml", 2)),
        Manifest({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}, Where("web.yaml", 9)),
    ]


def test_a_list_is_written_out_also_within_a_list() -> None:
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
    two = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}}
    inner = {"apiVersion": "v1", "kind": "List", "items": [two]}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [one, inner]})

    assert [each.body for each in parse_file(text.encode(), "all.json").checked()] == [one, two]


def test_the_items_of_a_list_of_one_kind_need_not_say_what_they_are() -> None:
    text = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: one}\n"

    parsed = parse_file(text.encode(), "all.yaml")

    assert parsed.checked() == [
        Manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}, Where("all.yaml", 4))
    ]


def test_a_kind_that_only_ends_like_a_list_is_an_object() -> None:
    text = "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: one}\n"

    assert [each.kind for each in parse_file(text.encode(), "a.yaml").checked()] == ["AllowList"]


def test_an_object_that_helm_rendered_stands_where_its_template_does() -> None:
    text = "---\n# Source: web/templates/service.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"

    (manifest,) = parse_output(text.encode(), "helm template").checked()

    assert str(manifest.where) == "web/templates/service.yaml (helm template)"


def test_what_a_tool_does_not_trace_stands_in_its_output() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"

    (manifest,) = parse_output(text.encode(), "kustomize build").checked()

    assert str(manifest.where) == "kustomize build"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("- a\n", "1:1: error: found a list, expected a mapping with apiVersion", id="a list"),
        pytest.param("just words\n", '1:1: error: found "just words", expected a mapping', id="text"),
        pytest.param("apiVersion: v1\nmetadata: {name: a}\n", "1:1: error: kind is missing; expected", id="no kind"),
        pytest.param(
            "apiVersion: v1\nKind: Pod\nmetadata: {name: a}\n",
            "kind is missing (is 'Kind' a misspelling of it?)",
            id="kind in other letters",
        ),
        pytest.param(
            "kind: Deployment\nmetadata: {name: a}\n",
            "apiVersion is missing; expected apps/v1 for a Deployment",
            id="no apiVersion",
        ),
        pytest.param(
            "apiVersion: app/v1\nkind: Deployment\nmetadata: {name: a}\n",
            "1:13: error: apiVersion: found \"app/v1\", which no cluster has for a Deployment; did you mean 'apps/v1'?",
            id="a group that nobody has",
        ),
        pytest.param(
            "apiVersion: 1\nkind: Service\nmetadata: {name: a}\n",
            "apiVersion: found the number 1, expected a text such as apps/v1; did you mean 'v1'?",
            id="a number for a version",
        ),
        pytest.param(
            "apiVersion: a/b/c\nkind: X\nmetadata: {name: a}\n", "expected VERSION or GROUP/VERSION", id="two slashes"
        ),
        pytest.param("apiVersion: v1\nkind: [Pod]\nmetadata: {name: a}\n", "kind: found a list", id="a list of kinds"),
        pytest.param(
            "apiVersion: v1\nkind: Pod\n", "metadata is missing; expected a mapping with a name", id="no data"
        ),
        pytest.param("apiVersion: v1\nkind: Pod\nmetadata: a\n", '3:11: error: metadata: found "a"', id="a word"),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: a\n",
            "4:3: error: metadata: name is missing; expected the name of the object",
            id="no name",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\n",
            "4:17: error: metadata.generateName: asks for another name with every deployment",
            id="a name to be made",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 12\n",
            '4:9: error: metadata.name: found the number 12, expected a text; put it in quotes: "12"',
            id="a number for a name",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: y\n",
            '4:9: error: metadata.name: found true, expected a text; put it in quotes: "y"',
            id="a letter that means true",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a/../b\n",
            "metadata.name: found \"a/../b\", expected a name without spaces, '/' and '%'",
            id="a path for a name",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    pipecd.dev/order: 07\n",
            'found the number 7, expected a text; put it in quotes: "07"',
            id="a number for an annotation",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: [x]\n",
            "metadata.labels: found a list, expected a mapping of texts",
            id="a list of labels",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems: {}\n", "items: found an empty mapping, expected a list", id="items"
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- 3\n", "4:3: error: items[0]: found the number 3", id="an item"
        ),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nkind: Job\nmetadata: {name: a}\n",
            "3:1: error: the key 'kind' is given twice, first in line 2",
            id="a key twice",
        ),
        pytest.param("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n", "4:1: error: found a tab", id="a tab"),
        pytest.param(
            "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {a: .nan}\n",
            "4:11: error: spec.a: is no number that JSON has a form for",
            id="no number",
        ),
        pytest.param(b"\xff\xfea\x00", "the file is UTF-16; save it as UTF-8", id="UTF-16"),
        pytest.param(b"a: \xe9\n", "1:4: error: byte 0xe9 is not UTF-8", id="Latin-1"),
        pytest.param("a: 1\n...\n  b: 2\n", "3:3: error: did not find expected <document start>", id="no leaving out"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str | bytes, said: str) -> None:
    assert said in "\n".join(problems(text))


def test_all_mistakes_of_a_file_are_told_also_where_some_of_it_is_no_yaml() -> None:
    text = "apiVersion: v1\nkind: Pod\n---\na: [1\n---\napiVersion: v1\nkind: Service\nmetadata: {}\n---\nb: 'x\n"

    found = problems(text)

    assert [each.split(": error: ")[0] for each in found] == [
        "web.yaml:1:1",
        "web.yaml:5:1",
        "web.yaml:8:11",
        "web.yaml:10:4",
    ]


def test_a_file_with_mistakes_gives_no_object_at_all() -> None:
    parsed = parse_file((TWO + "---\nkind: 1\n").encode(), "web.yaml")

    with pytest.raises(BadManifests, match=r"web\.yaml:14"):
        parsed.checked()


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{n}: &{n} [{', '.join([f'*{b}'] * 10)}]" for b, n in zip("abcdefg", "bcdefgh", strict=True)]

    assert "written out, the aliases make more than 1,000,000 values" in problems("\n".join(lines))[0]


def test_a_file_that_is_too_large_is_refused_unread() -> None:
    assert "a manifest file may have 8 MiB" in problems(b"a" * (LIMITS.bytes + 1))[0]


def test_whole_numbers_are_whole_as_the_tools_of_kubernetes_read_them() -> None:
    text = "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {replicas: 2.0, ratio: 0.5, list: [1e3]}\n"

    (manifest,) = parse_file(text.encode(), "a.yaml").checked()

    assert repr(manifest.body["spec"]) == "{'replicas': 2, 'ratio': 0.5, 'list': [1000]}"


def test_an_annotation_without_a_value_is_an_empty_one() -> None:
    text = "apiVersion: v1\nkind: X\nmetadata: {name: a, annotations: {b: }}\n"

    (manifest,) = parse_file(text.encode(), "a.yaml").checked()

    assert manifest.annotations == {"b": ""}


def test_json_is_read_also_where_yaml_is_stricter() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "😀"}}

    (manifest,) = parse_file(json.dumps(body).encode(), "a.json").checked()

    assert manifest == Manifest(body, Where("a.json", 1))


def test_directives_belong_to_the_document_that_they_precede() -> None:
    text = "a: 1\n...\n%YAML 1.1\n---\nb: 2\n"

    assert split(text)[-1].text.endswith("---\nb: 2\n")


LINES = st.sampled_from(["a: 1", "b: |", "  ---", "--- # x", "---", "---x: 1", "# c", "", "%YAML 1.1", "...", "- y"])


@given(st.lists(LINES, max_size=12), st.booleans())
def test_the_parts_of_a_text_are_the_text_and_know_their_lines(lines: list[str], ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if ended else "")

    parts = split(text)

    assert "".join(part.text for part in parts) == text
    assert [part.line for part in parts] == [
        text[: sum(len(before.text) for before in parts[:index])].count("\n") for index in range(len(parts))
    ]
    assert all(part.text for part in parts)


NAMES = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
NOISE = st.sampled_from(["", "\n", "# a comment\n", "\n\n# two\n\n"])
TEXTS = st.sampled_from(["x", "a: b\n---x\n", "---", "one\n\n  two\n", "'q' \"p\"", "# no comment"])


@given(st.lists(st.tuples(NAMES, NOISE, TEXTS), min_size=1, max_size=6))
def test_what_is_written_is_read_and_its_line_is_where_it_stands(objects: list[tuple[str, str, str]]) -> None:
    text, lines = "", []
    for name, noise, value in objects:
        text += f"---\n{noise}"
        lines.append(text.count("\n") + 1)
        data = json.dumps(value)
        text += f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {json.dumps(name)}\ndata:\n  x: {data}\n"

    parsed = parse_file(text.encode(), "all.yaml").checked()

    assert [(each.name, each.body["data"]["x"]) for each in parsed] == [(name, value) for name, _, value in objects]
    assert [each.where.line for each in parsed] == lines


@given(st.text(alphabet="ab: -\n\t[]{}'\"&*|>%.#!", max_size=60))
def test_no_text_is_read_without_an_answer(text: str) -> None:
    parsed = parse_file(text.encode(), "any.yaml")

    assert all(problem.position.line >= 1 for problem in parsed.problems)
