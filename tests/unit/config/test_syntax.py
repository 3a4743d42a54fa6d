"""Text that is no YAML: the place a person would point at, and what to write instead."""

from pathlib import Path

import pytest

from fairway.config.problems import Position
from fairway.config.read import read_file
from fairway.config.reader.document import read_documents

SEEDS = Path(__file__).with_name("seeds")


def test_the_rfc_with_quotes_inside_quotes_is_told_where_and_what_to_write() -> None:
    (reading,) = read_file((SEEDS / "script-run-rfc-2-curl.yaml").read_bytes(), "app.pipecd.yaml")

    (problem,) = reading.problems
    line = (SEEDS / "script-run-rfc-2-curl.yaml").read_text().splitlines()[18]
    assert problem.position == Position(19, line.index('{"text"') + 2)
    assert problem.message == (
        "the double quotes opened at column 17 are closed here, by a quote meant to be part of the text; what follows "
        '(`text":"successfully depl…`) is no YAML. Write that quote as \\" or use a block'
    )
    assert problem.advice == (
        "              - |-\n                curl -X POST -H 'Content-type: application/json' "
        """--data '{"text":"successfully deployed!!"}' $SLACK_WEBHOOK_URL"""
    )


def test_the_advice_for_quotes_inside_quotes_makes_the_file_readable() -> None:
    lines = (SEEDS / "script-run-rfc-3-curl-on-rollback.yaml").read_text().splitlines()
    for _ in range(2):
        (reading,) = read_file("\n".join(lines).encode(), "app.pipecd.yaml")
        (problem,) = reading.problems
        lines[problem.position.line - 1 : problem.position.line] = problem.advice.splitlines()

    (reading,) = read_file("\n".join(lines).encode(), "app.pipecd.yaml")

    assert reading.problems == ()
    options = reading.config.stages[0].options
    assert options.rollback_commands == (
        "curl -X POST -H 'Content-type: application/json' "
        """--data '{"text":"failed to deploy: rollback"}' $SLACK_WEBHOOK_URL""",
    )


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        pytest.param(
            "a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> topic\n",
            Position(2, 1),
            "two changes were merged and could not be put together here",
            id="merge conflict",
        ),
        pytest.param("a:\n\tb: 1\n", Position(2, 1), "found a tab in the indentation", id="tab"),
        pytest.param('a: "b\nc: d\n', Position(1, 4), 'the quote " that opens here is never closed', id="unclosed"),
        pytest.param("a: {{ .x }}\n", Position(1, 4), "a value that starts with {{ must be quoted", id="template"),
        pytest.param("a: b: c\n", Position(1, 5), "found `: ` inside a text without quotes", id="colon"),
        pytest.param("a: @b\n", Position(1, 4), "a value cannot start with @", id="reserved character"),
        pytest.param('a: "\\d"\n', Position(1, 5), "a backslash in double quotes starts an escape", id="escape"),
        pytest.param("a: *b\n", Position(1, 4), "*b refers to an anchor that is not defined", id="alias"),
        pytest.param("a:\n  b: 1\n c: 2\n", Position(3, 2), "this line is indented differently", id="indentation"),
        pytest.param("a: 1\na: 2\n", Position(2, 1), "the key 'a' is given twice, first in line 1", id="repeated key"),
        pytest.param("a: \x07\n", Position(1, 4), "found the control character U+0007", id="control character"),
        pytest.param("? [a]\n: b\n", Position(1, 3), "a key must be text", id="a list as a key"),
        pytest.param("a: !thing b\n", Position(1, 4), "the tag '!thing' is not known here", id="tag"),
    ],
)
def test_a_mistake_is_named_where_it_was_made(text: str, position: Position, message: str) -> None:
    _, (problem, *_rest) = read_documents(text.encode(), "app.pipecd.yaml")

    assert problem.position == position
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        pytest.param("a: {{ .x }}-y\n", "a: '{{ .x }}-y'", id="template"),
        pytest.param("a: {b: {{ .x }}}\n", "a: {b: '{{ .x }}'}", id="template in braces"),
        pytest.param("a: {b: {{ .x }}-y, c: {{ .z }}}\n", "a: {b: '{{ .x }}-y', c: '{{ .z }}'}", id="two templates"),
        pytest.param("a: {{ or .x 'y' }}\n", "a: '{{ or .x ''y'' }}'", id="template with quotes"),
        pytest.param("a: {b: {{ .x }},\n  c: d}\n", "", id="template in braces over several lines"),
        pytest.param("- run: echo a: b\n", '- run: "echo a: b"', id="colon"),
    ],
)
def test_a_simple_mistake_comes_with_the_line_to_write(text: str, advice: str) -> None:
    assert read_file(text.encode(), "app.pipecd.yaml")[0].problems[0].advice == advice
