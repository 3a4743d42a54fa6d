"""The render process: its limits, what becomes of a request that exceeds one, and of the next request."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairway.secrets.renderer import Rendered, Renderer, RendererError
from fairway.secrets.secret import SecretError
from fairway.secrets.template import Text

DATA = {"encryptedSecrets": {"x": "hunter2"}, "attachment": {"file": "a" * 100_000}}
GOOD = Text("good.yaml", "{{ .encryptedSecrets.x }}")
DOUBLING = '{{ $x := "0123456789" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}'


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    made = Renderer(cpu_seconds=1.0)
    yield made
    made.close()


def children() -> list[int]:
    return [int(each) for each in Path("/proc/self/task", str(os.getpid()), "children").read_text().split()]


@pytest.mark.parametrize(
    ("template", "exceeded"),
    [
        pytest.param(
            DOUBLING, "bad.yaml: the template was stopped: it needed more than 512 MiB of memory", id="memory"
        ),
        pytest.param(
            "{{ range until 99999 }}{{ range until 99999 }}{{ end }}{{ end }}",
            "bad.yaml:1:56: the template was stopped: ",
            id="iterations",
        ),
        pytest.param(
            '{{ range until 90000 }}{{ $x := splitList "a" $.attachment.file }}{{ end }}',
            "bad.yaml: the template was stopped: it took more than 1 s of CPU time",
            id="time",
        ),
        pytest.param(
            "{{ range until 60 }}{{ $.attachment.file }}{{ end }}",
            "bad.yaml: the templates of this application were stopped: they produced more than 16777216 characters",
            id="total output",
        ),
    ],
)
def test_a_template_that_exceeds_a_limit_is_refused_with_its_file_and_the_limit(
    renderer: Renderer, template: str, exceeded: str
) -> None:
    bad = Text("bad.yaml", template, ((0, None),) * 3)
    try:
        problem = renderer.render([GOOD, bad], DATA)[1].problem
    except SecretError as error:
        problem = str(error)

    assert problem.startswith(exceeded)
    assert renderer.render([GOOD], DATA) == [Rendered(("hunter2",))]


def test_many_requests_use_one_process_without_secrets_in_arguments_or_environment(renderer: Renderer) -> None:
    before = set(children())
    renderer.render([GOOD], DATA)
    (process,) = set(children()) - before

    assert renderer.render([GOOD, GOOD], DATA) == [Rendered(("hunter2",))] * 2
    assert set(children()) - before == {process}
    shown = [Path("/proc", str(process), name).read_bytes() for name in ("cmdline", "environ")]
    assert not any(b"hunter2" in each for each in shown)


def test_a_killed_process_is_reported_and_replaced(renderer: Renderer) -> None:
    before = set(children())
    renderer.render([GOOD], DATA)
    (process,) = set(children()) - before
    os.kill(process, 9)

    with pytest.raises(RendererError, match=r"good\.yaml: the template process was killed"):
        renderer.render([GOOD], DATA)
    assert renderer.render([GOOD], DATA) == [Rendered(("hunter2",))]


def test_nothing_to_render_starts_no_process(renderer: Renderer) -> None:
    before = children()

    assert renderer.render([], DATA) == []
    assert children() == before
