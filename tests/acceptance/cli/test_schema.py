"""`fairway schema KIND`: what editors check with must agree with what the reader says."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fairway.config.find import find_config_files
from fairway.config.read import KIND_TYPES, read_file
from fairway.config.reader.document import read_documents

FAIRWAY = Path(sys.executable).with_name("fairway")
#: Beside them lie the manifests of others, which have schemas of their own.
EXAMPLES = list(find_config_files(Path(__file__).parents[3] / "examples"))


@cache
def the_schema(kind: str) -> Any:
    result = subprocess.run([FAIRWAY, "schema", kind], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


@pytest.mark.parametrize("kind", KIND_TYPES)
def test_every_kind_has_a_valid_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(the_schema(kind))


@pytest.mark.parametrize("path", [pytest.param(path, id="/".join(path.parts[-2:])) for path in EXAMPLES])
def test_an_example_that_the_reader_accepts_fits_its_schema(path: Path) -> None:
    documents, _ = read_documents(path.read_bytes(), path.name)
    value = documents[0].value

    jsonschema.validate(value, the_schema(value["kind"]))

    assert [problem for reading in read_file(path.read_bytes(), path.name) for problem in reading.errors] == []


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"nonsense": 1}, id="an unknown field"),
        pytest.param({"pipeline": {"stages": [{"name": "K8S_NOTHING"}]}}, id="an unknown stage"),
        pytest.param({"pipeline": {"stages": [{"name": "TERRAFORM_PLAN"}]}}, id="another platform's stage"),
        pytest.param({"pipeline": {"stages": [{"name": "WAIT", "with": {"duration": []}}]}}, id="a wrong option"),
        pytest.param({"labels": {"a": 1}}, id="a number for a text"),
    ],
)
def test_what_the_reader_refuses_does_not_fit_the_schema(spec: dict[str, Any]) -> None:
    value = {"apiVersion": "pipecd.dev/v1beta1", "kind": "KubernetesApp", "spec": spec}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, the_schema("KubernetesApp"))
    assert read_file(json.dumps(value).encode(), "app.pipecd.yaml")[0].errors


def test_an_unknown_kind_is_told_the_near_one() -> None:
    result = subprocess.run([FAIRWAY, "schema", "KubernetsApp"], capture_output=True, text=True, check=False)

    assert result.returncode == 2
    assert "did you mean 'KubernetesApp'?" in result.stderr
