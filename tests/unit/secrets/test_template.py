"""The goldens in rendered_by_go.json were made once by a program in Go; see the file's own `about`."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.secrets.engine import render
from fairway.secrets.secret import SecretError
from fairway.secrets.template import Data, Source


class Case(msgspec.Struct, frozen=True):
    name: str
    template: str
    rendered: str | None


class Goldens(msgspec.Struct, frozen=True):
    encrypted_secrets: Mapping[str, str]
    attachment: Mapping[str, str]
    cases: tuple[Case, ...]


GO = msgspec.json.decode(Path(__file__).with_name("rendered_by_go.json").read_bytes(), type=Goldens)


def the_values(secrets: Mapping[str, str], attachment: Mapping[str, str] | None = None) -> Data:
    return {"encryptedSecrets": secrets, "attachment": attachment or {}}


def rendered(template: str, **secrets: str) -> str:
    return render(Source("app.yaml", template), the_values(secrets))


def problem_of(template: str, **secrets: str) -> str:
    with pytest.raises(SecretError) as caught:
        rendered(template, **secrets)
    return str(caught.value)


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in GO.cases if c.rendered is not None])
def test_a_template_renders_as_in_go(case: Case) -> None:
    values = the_values(GO.encrypted_secrets, GO.attachment)

    assert render(Source("t", case.template), values) == case.rendered


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in GO.cases if c.rendered is None])
def test_what_go_refuses_is_refused(case: Case) -> None:
    with pytest.raises(SecretError, match=r"^t:\d+:\d+: "):
        render(Source("t", case.template), the_values(GO.encrypted_secrets, GO.attachment))


@given(st.text())
def test_a_value_is_put_in_as_it_is(text: str) -> None:
    assert rendered("<{{ .encryptedSecrets.x }}>", x=text) == f"<{text}>"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        pytest.param(
            "a: 1\nb: {{ .encryptedSecrets.pasword }}\n",
            'app.yaml:2:7: .encryptedSecrets has no "pasword" (it has "my-name", "password"); '
            'did you mean "password"?\n  2 | b: {{ .encryptedSecrets.pasword }}',
            id="a name with a slip",
        ),
        pytest.param(
            '{{ index .encryptedSecrets "nothing" }}',
            'app.yaml:1:4: .encryptedSecrets has no "nothing" (it has "my-name", "password")\n'
            '  1 | {{ index .encryptedSecrets "nothing" }}',
            id="index, where Go would give an empty text",
        ),
        pytest.param(
            '{{ get .encryptedSecrets "nothing" }}',
            'app.yaml:1:4: .encryptedSecrets has no "nothing" (it has "my-name", "password")\n'
            '  1 | {{ get .encryptedSecrets "nothing" }}',
            id="get",
        ),
        pytest.param(
            "{{ .attachment.x }}",
            'app.yaml:1:4: .attachment has no "x" (it is empty)\n  1 | {{ .attachment.x }}',
            id="no attachments at all",
        ),
        pytest.param(
            "é: {{ .encryptedSecrets.my-name }}",
            "app.yaml:1:27: a name with a dash cannot follow a dot: write "
            '{{ index .encryptedSecrets "my-name" }}\n  1 | é: {{ .encryptedSecrets.my-name }}',
            id="a name with a dash",
        ),
        pytest.param(
            "{{ .encryptedSecrets.my-1 }}",
            "app.yaml:1:24: a name with a dash cannot follow a dot: write "
            '{{ index .encryptedSecrets "my-1" }}\n  1 | {{ .encryptedSecrets.my-1 }}',
            id="a dash and a number",
        ),
        pytest.param(
            "{{ .encryptedSecret.password }}",
            "app.yaml:1:4: there is no .encryptedSecret (templates have .encryptedSecrets and .attachment); "
            'did you mean "encryptedSecrets"?\n  1 | {{ .encryptedSecret.password }}',
            id="the group misspelt",
        ),
        pytest.param(
            '{{ b64encode "x" }}',
            'app.yaml:1:4: there is no function "b64encode"; did you mean "b64enc"?\n  1 | {{ b64encode "x" }}',
            id="a function misspelt",
        ),
        pytest.param(
            "{{ .encryptedSecrets.password",
            "app.yaml:1:1: unclosed action\n  1 | {{ .encryptedSecrets.password",
            id="unclosed",
        ),
        pytest.param(
            '{{ fail "stop" }}', "app.yaml:1:4: function 'fail' failed: stop\n  1 | {{ fail \"stop\" }}", id="fail"
        ),
    ],
)
def test_a_problem_is_told_with_place_cause_and_advice(template: str, problem: str) -> None:
    assert problem_of(template, **{"password": "hunter2", "my-name": "x"}) == problem


@pytest.mark.parametrize("call", ['env "HOME"', 'expandenv "$HOME"', 'getHostByName "localhost"', "now", "uuidv4"])
def test_a_template_knows_nothing_of_the_machine(call: str) -> None:
    assert "is not available: templates cannot " in problem_of(f"{{{{ {call} }}}}")


@pytest.mark.parametrize("field", ["upper", "format", "__class__", "encode"])
def test_a_value_has_no_methods(field: str) -> None:
    assert "is not allowed" in problem_of(f"{{{{ .encryptedSecrets.x.{field} }}}}", x="hunter2")


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{{ fail .encryptedSecrets.x }}", id="as it is"),
        pytest.param("{{ fail (b64enc .encryptedSecrets.x) }}", id="as base64"),
        pytest.param("hunter2 {{ fail .encryptedSecrets.short }}", id="too short to be masked"),
        pytest.param("hunter2 {{ nothing }}", id="in a line that was rendered before"),
    ],
)
def test_an_error_shows_no_value(template: str) -> None:
    with pytest.raises(SecretError) as caught:
        rendered(template, x="hunter2", short="§")

    assert not any(text in f"{caught.value} {caught.value.__cause__}" for text in ("hunter2", "aHVudGVyMg", "§"))


@pytest.mark.parametrize(
    "template",
    [
        pytest.param('{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}', id="recursion"),
        pytest.param("{{ range until 200000 }}x{{ end }}", id="a long loop"),
        pytest.param('{{ range until 9000 }}{{ repeat 1000 "x" }}{{ end }}', id="much output"),
        pytest.param('{{ repeat 1000000000000 "x" }}', id="repeat"),
        pytest.param("{{ until 1000000000000 }}", id="until"),
        pytest.param("{{ untilStep 0 1000000000000 1 }}", id="untilStep"),
        pytest.param("{{ seq 1 1000000000000 }}", id="seq"),
        pytest.param('{{ indent 1000000000000 "x" }}', id="indent"),
        pytest.param('{{ nindent 1000000000000 "x" }}', id="nindent"),
        pytest.param('{{ printf "%1000000000000d" 1 }}', id="printf with a width"),
        pytest.param('{{ printf "%*d" 1000000000000 1 }}', id="printf with a width from an argument"),
    ],
)
def test_a_template_that_runs_away_is_stopped(template: str) -> None:
    assert "the template was stopped" in problem_of(template)


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", id="parentheses"),
        pytest.param("{{ if true }}" * 5000 + "{{ end }}" * 5000, id="blocks"),
    ],
)
def test_a_template_that_is_nested_too_deeply_is_refused_in_few_words(template: str) -> None:
    problem = problem_of(template)

    assert "nesting limit exceeded" in problem
    assert len(problem) < 300


def test_a_piece_of_a_text_tells_its_place_in_the_whole() -> None:
    text = "first\n  {{ .encryptedSecrets.x }}"

    with pytest.raises(SecretError, match=r"^run:2:6: "):
        render(Source("run", text, start=8), the_values({}))
