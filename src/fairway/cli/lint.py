"""`fairway lint PATH…`: everything that is wrong with configuration files, before a deployment finds out."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from fairway.cli.lint_repository import Applications
from fairway.cli.lint_secrets import is_secret, masked_line, masked_problem
from fairway.config.application import ApplicationConfig
from fairway.config.find import find_config_files, is_application_file, is_shared_file
from fairway.config.platforms import KubernetesSpec
from fairway.config.problems import ConfigError, Problem, Severity, in_order, path_text
from fairway.config.read import read_agent, read_application_file, read_file
from fairway.config.reader.document import LARGEST_FILE, read_documents, too_large
from fairway.config.terms import UNKNOWN_AGENT, Terms

commands = typer.Typer(add_completion=False)


class LintResult(msgspec.Struct, frozen=True):
    """What was looked at, and what was found."""

    files: tuple[str, ...]
    problems: tuple[Problem, ...]

    def count(self, severity: Severity) -> int:
        return sum(1 for problem in self.problems if problem.severity is severity)


@commands.command("lint")
def lint(
    paths: Annotated[list[Path], typer.Argument(help="Files, or directories such as a whole repository.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    allow_unknown_fields: Annotated[
        bool, typer.Option("--allow-unknown-fields", help="Warn about unknown fields instead of refusing them.")
    ] = False,
    agent_file: Annotated[
        Path | None,
        typer.Option(help="The file of the agent that deploys the applications.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Check configuration files, and manifests.

    Manifests are those of applications on Kubernetes that no tool has to render.
    Files that an application attaches, or wants rendered, have to be there; that
    two applications of one repository have the same name is a warning.
    Ends with 0 when every file can be used, 1 when one cannot, 2 when a path
    does not exist. Warnings are shown and do not change that, except with
    --strict. Agents judge application files with the same rules; with
    --agent-file, lint knows the plugins of the agent, and its
    allowUnknownFields, and so reaches the same verdict.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        typer.echo(f"There is no such file or directory: {', '.join(map(str, missing))}", err=True)
        raise typer.Exit(2)
    try:
        result = lint_paths(paths, _terms(agent_file, allow_unknown_fields))
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    result = _with_errors_only(result) if strict else result
    if as_json:
        typer.echo(json.dumps(_as_json(result), indent=2, ensure_ascii=False))
    else:
        _print(result)
    raise typer.Exit(1 if result.count(Severity.ERROR) else 0)


def _terms(agent_file: Path | None, allow_unknown_fields: bool) -> Terms:
    terms = UNKNOWN_AGENT if agent_file is None else read_agent(agent_file.read_bytes(), str(agent_file)).terms
    return msgspec.structs.replace(terms, allow_unknown_fields=allow_unknown_fields or terms.allow_unknown_fields)


def _with_errors_only(result: LintResult) -> LintResult:
    problems = (msgspec.structs.replace(each, severity=Severity.ERROR) for each in result.problems)
    return LintResult(result.files, tuple(problems))


def lint_paths(paths: Iterable[Path], terms: Terms = UNKNOWN_AGENT) -> LintResult:
    """Check files, and the configuration files below directories; with the plain manifests that belong to them."""
    files: dict[Path, bool] = {}
    for path in paths:
        if path.is_dir():
            # What was only found by its content may hold other people's documents too; they are passed over.
            for found in find_config_files(path):
                relative = found.relative_to(path).as_posix()
                files.setdefault(found, not (is_application_file(relative) or is_shared_file(relative)))
        else:
            files[path] = False
    checked: dict[str, None] = dict.fromkeys(map(str, files))
    problems: dict[Problem, None] = {}
    applications = Applications()
    for path, skip in files.items():
        result = _lint_file(path, applications, terms, skip_foreign=skip)
        checked |= dict.fromkeys(result.files)
        problems |= dict.fromkeys(map(_without_secrets, result.problems))
    return LintResult(tuple(checked), tuple(in_order(problems)))


def _lint_file(path: Path, applications: Applications, terms: Terms, *, skip_foreign: bool) -> LintResult:
    size = path.stat().st_size
    if size > LARGEST_FILE:
        return LintResult((), (too_large(size, str(path)),))
    data = path.read_bytes()
    if is_application_file(path.as_posix()):
        readings = [read_application_file(data, str(path), terms)]
    else:
        readings = read_file(data, str(path), skip_foreign=skip_foreign, terms=terms)
    problems = [problem for reading in readings for problem in reading.problems]
    configs = [reading.config for reading in readings if isinstance(reading.config, ApplicationConfig)]
    if len(readings) == len(configs) == 1:
        # An application is one document in a file of its own.
        problems += applications.problems(path, read_documents(data, str(path))[0][0], configs[0])
    specs = [
        (spec, config) for config in configs for spec in config.plugins.values() if isinstance(spec, KubernetesSpec)
    ]
    if not specs:
        return LintResult((), tuple(problems))
    # Only for those who have manifests: it takes a third of a second.
    from fairway.plugins.kubernetes.manifests.linting import lint_manifests

    found = [lint_manifests(path, spec, config, are_needed=_needs_manifests(config)) for spec, config in specs]
    files = [file for each in found for file in each.files]
    return LintResult(tuple(files), (*problems, *(problem for each in found for problem in each.problems)))


def _needs_manifests(config: ApplicationConfig) -> bool:
    """Whether each deployment of an application applies some: not where its pipeline is of scripts and waits alone."""
    return not config.stages or any(stage.name.startswith("K8S_") for stage in config.stages)


def _without_secrets(problem: Problem) -> Problem:
    """The problem as everybody may read it."""
    lines, number = _lines(problem.file), problem.position.line
    if 0 < number <= len(lines) and is_secret(lines, number):
        return masked_problem(problem, lines[number - 1])
    return problem


def _as_json(result: LintResult) -> dict[str, Any]:
    return {
        "files": len(result.files),
        "errors": result.count(Severity.ERROR),
        "warnings": result.count(Severity.WARNING),
        "problems": [
            {
                "file": problem.file,
                "line": problem.position.line,
                "column": problem.position.column,
                "severity": problem.severity.value,
                "path": path_text(problem.path),
                "message": problem.message,
                "advice": problem.advice,
            }
            for problem in result.problems
        ],
    }


if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def _print(result: LintResult) -> None:
    from rich.console import Console  # takes a tenth of a second: only when something is printed for people

    console = Console(highlight=False, soft_wrap=True)
    lines: dict[str, list[str]] = {}
    for problem in result.problems:
        if problem.file not in lines:
            lines[problem.file] = _lines(problem.file)
        _print_problem(console, problem, lines[problem.file])
    errors, warnings = result.count(Severity.ERROR), result.count(Severity.WARNING)
    checked = _plural(len(result.files), "file")
    if not result.files:
        console.print("no configuration files found")
    elif errors or warnings:
        console.print(f"{checked} checked: {_plural(errors, 'error')}, {_plural(warnings, 'warning')}")
    else:
        console.print(f"[green]✓[/green] {checked} checked, nothing to complain about")


def _print_problem(console: "Console", problem: Problem, lines: list[str]) -> None:
    from rich.markup import escape

    colour = _COLOURS[problem.severity]
    where = f"{problem.file}:{problem.position.line}:{problem.position.column}"
    path = f" [bold]{escape(path_text(problem.path))}[/bold]" if problem.path else ""
    console.print(f"[bold]{escape(where)}[/bold]: [{colour}]{problem.severity.value}[/{colour}]:{path}")
    console.print(f"  {escape(problem.message)}")
    number, column = problem.position.line, problem.position.column
    if 0 < number <= len(lines):
        line = lines[number - 1]
        if is_secret(lines, number):
            line = masked_line(line)
            column = min(column, len(line))
        text, caret = _window(line, column)
        gutter = f"{number:>5}"
        console.print(f"[dim]{gutter} │[/dim] {escape(text)}")
        console.print(f"[dim]{' ' * len(gutter)} │[/dim] {' ' * caret}[{colour}]^[/{colour}]")
    if problem.advice:
        console.print("  write for example:")
        for line in problem.advice.splitlines():
            console.print(f"[dim]      │[/dim] [green]{escape(line)}[/green]")
    console.print()


def _window(line: str, column: int, width: int = 110) -> tuple[str, int]:
    """The part of a line around a column, and where the column is in it."""
    start = max(0, column - 1 - width * 2 // 3) if len(line) > width else 0
    text = "".join(character if character.isprintable() else " " for character in line[start : start + width])
    if start:
        text = "…" + text[1:]
    if start + width < len(line):
        text = text[:-1] + "…"
    return text, column - 1 - start


def _lines(file: str) -> list[str]:
    path = Path(file)
    if path.stat().st_size > LARGEST_FILE:
        return []
    return path.read_bytes().decode("utf-8-sig", "replace").splitlines()


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
