import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.secrets.render import render_options
from fairway.secrets.secret import Secret, SecretError
from fairway.secrets.template import TemplateValues

VALUES = TemplateValues(
    {"x": Secret("hunter2"), "my-name": Secret("dashed"), "braces": Secret("{{ .encryptedSecrets.x }}")},
    {"file": Secret("attached")},
)


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        pytest.param(
            "echo {{ .encryptedSecrets.x }} | sudo -S su", "echo hunter2 | sudo -S su", id="the seed's example"
        ),
        pytest.param("{{.encryptedSecrets.x}}{{.attachment.file}}", "hunter2attached", id="tight, side by side"),
        pytest.param("{{ .encryptedSecrets.x | b64enc }}", "aHVudGVyMg==", id="a pipeline"),
        pytest.param('{{ index .encryptedSecrets "my-name" }}', "dashed", id="index"),
        pytest.param("{{ $.encryptedSecrets.x }}", "hunter2", id="from the root"),
        pytest.param("{{ (print .encryptedSecrets.x) | upper }}", "HUNTER2", id="in parentheses"),
        pytest.param("a \n {{- .encryptedSecrets.x -}} \t\n b", "ahunter2b", id="trim markers"),
        pytest.param("a {{- .encryptedSecrets.x }} b", "ahunter2 b", id="trim before only"),
        pytest.param("a {{ .encryptedSecrets.x -}} {{.Names}}", "a hunter2{{.Names}}", id="trim up to a stranger"),
        pytest.param(
            "{{.encryptedSecrets.x -}} {{- .encryptedSecrets.x}}", "hunter2hunter2", id="trim from both sides"
        ),
        pytest.param('{{ printf "}} %s {{" .encryptedSecrets.x }}', "}} hunter2 {{", id="braces in a string"),
        pytest.param("{{ print `}}` .encryptedSecrets.x }}", "}}hunter2", id="braces in a raw string"),
        pytest.param("{{ .encryptedSecrets.braces }}", "{{ .encryptedSecrets.x }}", id="a value is not rendered again"),
        pytest.param(
            "{{ if .encryptedSecrets.x }}on{{ else }}off{{ end }} {{ end }}", "on {{ end }}", id="a block of ours"
        ),
        pytest.param(
            "{{ with .encryptedSecrets.x }}{{ if true }}<{{ . }}>{{ end }}{{ end }}", "<hunter2>", id="nested blocks"
        ),
        pytest.param(
            "{{range .Items}}{{.Name}} {{ .encryptedSecrets.x }}{{end}}",
            "{{range .Items}}{{.Name}} hunter2{{end}}",
            id="ours inside a stranger's block",
        ),
        pytest.param('{"a":{{ .encryptedSecrets.x }}}', '{"a":hunter2}', id="inside JSON"),
        pytest.param("{{{ .encryptedSecrets.x }}}", "{hunter2}", id="three braces"),
        pytest.param(
            "awk {{print} f; echo {{ .encryptedSecrets.x }}", "awk {{print} f; echo hunter2", id="after open braces"
        ),
        pytest.param(
            "echo {{ it's\n{{ .encryptedSecrets.x }}", "echo {{ it's\nhunter2", id="after a quote that never ends"
        ),
    ],
)
def test_what_is_ours_is_rendered(text: str, rendered: str) -> None:
    assert render_options(text, VALUES, "run") == rendered


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("docker ps --format '{{.Names}}\t{{json .}}'", id="docker"),
        pytest.param(
            "kubectl get po -o go-template='{{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}'", id="kubectl"
        ),
        pytest.param("echo ${{ secrets.X }} {{ matrix.os }}", id="workflow expressions"),
        pytest.param("{{/* .encryptedSecrets.x */}} {{- /* .attachment.y }} */ -}}", id="ours in a comment"),
        pytest.param('{{ ".encryptedSecrets.x" }} {{ `.attachment` }}', id="ours in a string"),
        pytest.param("{{ .encryptedSecretsX.y }} {{ .myencryptedSecrets }}", id="longer names"),
        pytest.param("echo .encryptedSecrets.x {{ }} }} {{ {{", id="loose braces"),
        pytest.param("awk '{{print $1}}' file", id="awk"),
        pytest.param("a {{- .Names -}} b", id="a stranger's trim markers"),
        pytest.param("{{ $x := 1 }}{{ $x }}", id="a stranger's variable"),
    ],
)
def test_what_is_not_ours_stays_as_it_is(text: str) -> None:
    assert render_options(text, VALUES, "run") == text


@given(st.text("{}-./*\"'` \n\\xif=:"))
def test_a_text_without_our_fields_is_never_touched(text: str) -> None:
    assert render_options(text, VALUES, "run") == text


foreign = st.sampled_from(
    ["{{.Names}}", "{{- json . -}}", "{{ end }}", "{{", "}}", "'{{print}}'", "\n", "a b", '{{"{{"}}']
)


@given(st.lists(foreign), st.lists(foreign))
def test_our_action_is_found_between_any_strangers(before: list[str], after: list[str]) -> None:
    start, end = "".join(before) + "\n", "\n" + "".join(after)

    assert render_options(f"{start}{{{{ .encryptedSecrets.x }}}}{end}", VALUES, "run") == f"{start}hunter2{end}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a\nb {{ .encryptedSecrets.y }}", 'run:2:6: .encryptedSecrets has no "y"', id="a missing name"),
        pytest.param("echo {{ .encryptedSecrets.x }", "run:1:6: the action is not closed", id="one brace"),
        pytest.param("echo {{ .encryptedSecrets.x\n{{.Names}}", "run:1:6: the action is not closed", id="no brace"),
        pytest.param('{{ print "a .encryptedSecrets.x }}', "run:1:1: the action is not closed", id="an open quote"),
        pytest.param(
            "{{ $p := .encryptedSecrets.x }}{{ $p }}", "run:1:1: a variable that is set here", id="a variable"
        ),
        pytest.param("\n{{ if .encryptedSecrets.x }}y", "run:2:1: {{ if … }} has no {{ end }}", id="a block left open"),
        pytest.param("{{ else if .attachment.file }}", "run:1:1: unexpected else", id="half a block"),
        pytest.param("{{ .encryptedSecrets.my-name }}", 'write {{ index .encryptedSecrets "my-name" }}', id="a dash"),
    ],
)
def test_a_mistake_in_what_is_ours_is_told(text: str, problem: str) -> None:
    with pytest.raises(SecretError) as caught:
        render_options(text, VALUES, "run")

    assert problem in str(caught.value)
