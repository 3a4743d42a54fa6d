"""Shapes of a pipeline that an RFC considered and turned down: refused, with the shape that was chosen instead.

They are recognised before anything else, because their errors would otherwise be about everything but the point.
"""

from typing import Any, Final

from fairway.config.problems import Problem
from fairway.config.reader.document import Document

_ADVICE: Final = """\
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata:
  name: {name}
  namespace: {namespace}
spec:
  environments:
    - name: {environment}
      targets:
        - namespace: {environment}"""
_LABEL: Final = "label each HelmRelease or Kustomization with pipelines.weave.works/pipeline: {name}"


def rejected_shape(document: Document) -> Problem | None:
    """What to write instead, if this is one of those shapes."""
    value = document.value
    if value.get("kind") == "Pipeline" and isinstance(value.get("spec"), dict) and "stages" in value["spec"]:
        return _release_refs(document)
    if value.get("kind") == "ConfigMap" and _describes_a_pipeline(value):
        return _config_map(document)
    return None


def _release_refs(document: Document) -> Problem:
    stages = document.at(("spec", "stages"))
    with_references = isinstance(stages, list) and any(isinstance(s, dict) and "releaseRefs" in s for s in stages)
    name, namespace = _identity(document)
    found = "spec.stages with releaseRefs" if with_references else "spec.stages"
    message = (
        f"found {found}, a shape that was considered and not adopted; write the stages as spec.environments "
        f"(their order is the order of the list) and, in place of releaseRefs, {_LABEL.format(name=name)}"
    )
    environments = [s.get("name") for s in stages if isinstance(s, dict)] if isinstance(stages, list) else []
    advice = _ADVICE.format(name=name, namespace=namespace, environment=environments[0] if environments else "dev")
    position = document.position(("spec", "stages"), of_key=True)
    return Problem(file=document.file, position=position, path=("spec", "stages"), message=message, advice=advice)


def _config_map(document: Document) -> Problem:
    name, namespace = _identity(document)
    message = "found a pipeline in a ConfigMap, which was considered and not adopted; write it as a Pipeline resource"
    advice = _ADVICE.format(name=name, namespace=namespace, environment="dev")
    return Problem(
        file=document.file,
        position=document.position(("kind",)),
        path=("kind",),
        message=message,
        advice=advice,
    )


def _describes_a_pipeline(value: dict[str, Any]) -> bool:
    data = value.get("data")
    texts = data.values() if isinstance(data, dict) else ()
    return any(isinstance(text, str) and "environments:" in text and "targets:" in text for text in texts)


def _identity(document: Document) -> tuple[str, str]:
    name, namespace = document.at(("metadata", "name")), document.at(("metadata", "namespace"))
    return str(name or "my-pipeline"), str(namespace or "default")
