"""The list of commands: quick to load, and every command can be loaded."""

import re
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from fairway.cli.main import Commands, app

HEAVY = ("grpc", "httpx2", "litestar", "rich", "sqlalchemy", "yaml", "cryptography", "fairway.config", "fairway.server")


def test_the_list_of_commands_loads_none_of_the_heavy_libraries() -> None:
    code = f"import sys, fairway.cli.main; print([name for name in {HEAVY!r} if name in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded == "[]\n"


def test_help_loads_no_module_of_a_command() -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom fairway.cli.main import Commands, app\n"
        "said = CliRunner().invoke(app, ['--help']).output\n"
        "print([n for n, c in Commands.on_demand.items() if c.module in sys.modules or c.help not in said])"
    )

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded == "[]\n"


def every_command() -> list[list[str]]:
    found = []
    for name in Commands.on_demand:
        loaded = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]  # it is a group
        found += [[name, inner] for inner in getattr(loaded, "commands", {})] or [[name]]
    return found


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words)) for words in every_command()])
def test_every_command_says_what_it_does(words: list[str]) -> None:
    result = CliRunner().invoke(app, [*words, "--help"])

    assert (result.exit_code, f"Usage: fairway {' '.join(words)} " in result.output) == (0, True)
    # What an option takes is said in words for people: no names of Python's types, no empty choice.
    assert re.search(r"--[a-z-]+.*<(bool|str|int|float|list|Path|\|)", result.output) is None, result.output


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words)) for words in every_command()])
def test_lines_of_a_help_that_are_shown_as_they_were_written_fit_a_terminal(words: list[str]) -> None:
    command = typer.main.get_command(app)
    for word in words:
        command = command.get_command(None, word)  # type: ignore[attr-defined]  # it is a group

    # The first paragraph is one piece of text; of the others each line is, and two of them would be four.
    _, *others = (command.help or "").split("\n\n")
    assert [line for each in others for line in each.splitlines()[:-1] if len(line) > 78] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            "depl list", "No such command 'depl'. Did you mean 'deployment'?", id="the beginning of a command"
        ),
        pytest.param("Deploymnt list", "No such command 'Deploymnt'. Did you mean 'deployment'?", id="a command"),
        pytest.param("xyz", "No such command 'xyz'.", id="nothing near"),
        pytest.param("deployment lst", "No such command 'lst'. Did you mean 'list'?", id="a command of a noun"),
        pytest.param("deployment list --status runing", "'cancelled'. Did you mean 'running'?", id="a choice"),
        pytest.param("apikey add x --role READ_ONLY", "Did you mean 'read_only'?", id="a choice in capitals"),
        pytest.param("apikey add x --role xyz", "'xyz' is not one of 'read_only',", id="no choice"),
    ],
)
def test_a_misspelt_word_is_a_mistake_in_the_call_and_told_what_was_meant(words: str, said: str) -> None:
    result = CliRunner(env={"COLUMNS": "300", "TERMINAL_WIDTH": "300"}).invoke(app, words.split())

    output = " ".join(result.output.split())
    assert (result.exit_code, said in output, "Value error" in output) == (2, True, False), output
