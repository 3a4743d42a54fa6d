"""A field as an API server names it → the line on which it stands."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.manifests.documents import parse_file
from fairway.plugins.kubernetes.manifests.fields import line_of, path_of

TEXT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    example.com/a.b: x
spec:
  template:
    spec:
      containers:
      - name: first
      - name: web
        ports:
        - {name: a, containerPort: 80}
        - name: b
          containerPort: 81
        args:
        - one
        - two
"""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        pytest.param("spec.template.spec.containers[1].ports[1].containerPort", 20, id="places in lists"),
        pytest.param(
            'spec.template.spec.containers[name="web"].ports[containerPort=81,protocol="TCP"].containerPort',
            20,
            id="entries by their fields, some filled in",
        ),
        pytest.param('spec.template.spec.containers[name="web"].args[="two"]', 23, id="an entry by its value"),
        pytest.param("metadata.annotations.example.com/a.b", 10, id="a name with dots"),
        pytest.param("metadata.annotations[example.com/a.b]", 10, id="a name in brackets"),
        pytest.param("spec.template.spec.containers[0].image", 15, id="what is missing"),
        pytest.param("spec.selector", 11, id="what is missing higher up"),
        pytest.param("nonsense", 5, id="what nobody knows"),
        pytest.param("", 5, id="nothing"),
    ],
)
def test_a_field_stands_on_its_line(field: str, line: int) -> None:
    (_, deployment) = parse_file(TEXT.encode(), "web.yaml").checked()

    assert line_of(TEXT.encode(), deployment, field) == line


def test_a_file_that_has_something_else_there_says_nothing() -> None:
    (_, deployment) = parse_file(TEXT.encode(), "web.yaml").checked()

    assert line_of(TEXT.replace("name: web\n  ann", "name: wep\n  ann").encode(), deployment, "spec") == 0


@given(st.text(max_size=30), st.sampled_from(list(yaml.safe_load_all(TEXT))))
def test_whatever_a_server_says_leads_to_something_that_is_there(field: str, body: object) -> None:
    for step in path_of(field, body):
        assert isinstance(body, dict | list)
        body = body[step]  # type: ignore[index]  # A place in a list is a number, a name in a mapping a text.
