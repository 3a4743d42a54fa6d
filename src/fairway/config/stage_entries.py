"""The entries of a pipeline → settled stages, and everything that is wrong with them.

Names are judged by the catalogue, options by the type the catalogue gives them; both know which generation wrote
the file.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from fairway.config.application import Generation, StageConfig
from fairway.config.problems import Path, Problem, Severity, did_you_mean, without_consequences
from fairway.config.reader.document import Document
from fairway.config.reader.rules import at, read_settings
from fairway.config.stage_catalogue import EVERYWHERE, GENERATED, STAGES, KnownStage
from fairway.config.stages import StageEntry, WaitApprovalOptions, settle_stage
from fairway.config.undoing import take_undo


def settle_stages(
    document: Document, entries: tuple[StageEntry, ...], generation: Generation, allowed: set[str] | None
) -> tuple[tuple[StageConfig, ...], list[Problem]]:
    settled: list[StageConfig] = []
    problems: list[Problem] = []
    for index, written in enumerate(entries):
        path: Path = ("spec", "pipeline", "stages", index)
        entry, undo, undo_problems = take_undo(document, path, written)
        problems += undo_problems
        known = STAGES.get(entry.name)
        problems += _name_problems(document, path, entry.name, generation, allowed)
        options: Any = entry.options
        if known is not None:
            options, found = _options(document, path, entry, known, generation)
            problems += found
            entry = _without_ignored(document, path, entry)
        settled.append(settle_stage(index, entry, options, undo))
    problems += _repeated_ids(document, settled)
    return tuple(settled), problems


def _options(
    document: Document, path: Path, entry: StageEntry, known: KnownStage, generation: Generation
) -> tuple[Any, list[Problem]]:
    below = (*path, "with")
    options, problems = read_settings(document, entry.options, known.options, below)
    if any(each.severity is Severity.ERROR and each.path[:-1] == below for each in problems):
        # A field with an error may be the misspelt name of the field that a warning misses.
        problems = [each for each in problems if each.severity is Severity.ERROR or document.at(each.path) is not None]
    options, missing = options.in_generation(generation)
    problems += without_consequences(at(document, below, missing), problems)
    for name, beside, inside in (
        ("timeout", entry.timeout, options.timeout),
        ("skipOn", entry.skip_on, options.skip_on),
    ):
        if beside is not None and inside is not None:
            message = f"has no effect: the stage has a {name} beside `with`, which wins"
            problems.append(document.problem((*below, name), message, Severity.WARNING, of_key=True))
    if (
        isinstance(options, WaitApprovalOptions)
        and options.approves_on_timeout
        and not (entry.timeout or options.timeout)
    ):
        message = "is approve, but the stage has no timeout; write one, such as `timeout: 30m` beside `with`"
        problems += without_consequences([document.problem((*below, "onTimeout"), message)], problems)
    return options, problems


def _name_problems(
    document: Document, path: Path, name: str, generation: Generation, allowed: set[str] | None
) -> Iterator[Problem]:
    where = (*path, "name")
    known = STAGES.get(name)
    if name in GENERATED or (known is not None and not (known.in_v0 if allowed else known.in_v1)):
        quick = name.endswith("_SYNC")
        instead = "a quick sync does it without a pipeline" if quick else "it is added when a deployment is planned"
        yield document.problem(where, f"is {name}, which cannot be written in a pipeline: {instead}")
    elif known is None:
        yield _unknown_name(document, where, name, generation)
    elif allowed is not None and known.plugin not in allowed:
        platform = ", ".join(sorted(allowed - EVERYWHERE))
        yield document.problem(
            where, f"is {name}, a stage of {known.plugin}; this application is deployed by {platform}"
        )
    elif name == "CUSTOM_SYNC":
        yield document.problem(where, "is CUSTOM_SYNC, which is deprecated; SCRIPT_RUN does the same", Severity.WARNING)


def _unknown_name(document: Document, where: Path, name: str, generation: Generation) -> Problem:
    """The verdict on a stage name that is not in the catalogue: an error, unless a foreign plugin may have it."""
    foreign, near = document.terms.foreign_plugins, did_you_mean(name, STAGES)
    if generation is Generation.V0:
        return document.problem(where, f"is {name!r}; there is no such stage{near}")
    if foreign is None:
        message = f"is {name!r}, which no built-in plugin has; a plugin of the agent must have it{near}"
        return document.problem(where, message, Severity.WARNING)
    if foreign:
        message = f"is {name!r}, which no built-in plugin has; known at planning: the stages of"
        return document.problem(where, f"{message} {', '.join(foreign)}{near}", Severity.WARNING)
    return document.later_rule(where, f"is {name!r}, which no plugin of the agent has{near}")


def _without_ignored(document: Document, path: Path, entry: StageEntry) -> StageEntry:
    """The entry without the options that its plugin would refuse and the agent's file allows."""
    below = (*path, "with")
    ignored = [each[len(below) :] for each in document.ignored if each[: len(below)] == below]
    options = entry.options
    for each in ignored:
        options = _without(options, each)
    return msgspec.structs.replace(entry, options=options) if ignored else entry


def _without(value: Any, path: Path) -> Any:
    """The value with one key below it left out."""
    (step, *rest), copy = path, value.copy()
    if rest:
        copy[step] = _without(value[step], tuple(rest))
    else:
        del copy[step]
    return copy


def _repeated_ids(document: Document, stages: list[StageConfig]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for stage in stages:
        if stage.id and stage.id in seen:
            path: Path = ("spec", "pipeline", "stages", stage.index, "id")
            yield document.problem(path, f"is {stage.id!r}, the id of stage {seen[stage.id] + 1} already")
        seen.setdefault(stage.id, stage.index)
