"""What is wrong with the objects of an application together, each of which may be right. Pure."""

from collections.abc import Iterable

from fairway.config.problems import Position, Problem
from fairway.kube.manifest import Key, Manifest


def nothing_at_all(config_file: str) -> Problem:
    """That there is no object: whoever acted on that would remove all that runs."""
    message = (
        "the application has no manifest at all; expected .yaml, .yml or .json files beside this one, a kustomization, "
        "or input.manifests or input.helmChart that say where they are"
    )
    return Problem(file=config_file, position=Position(1, 1), message=message)


def described_twice(manifests: Iterable[Manifest]) -> list[Problem]:
    """Which manifests describe an object that another describes before: which of them is meant, nobody can tell."""
    first: dict[Key, Manifest] = {}
    problems: list[Problem] = []
    for each in manifests:
        before = first.setdefault(each.key, each)
        if before is not each:
            message = f"{each.key} is described twice, first in {before.where}; remove one of them"
            position = Position(max(each.where.line, 1), 1)
            problems.append(Problem(file=each.where.file, position=position, message=message))
    return problems
