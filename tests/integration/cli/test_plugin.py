"""`fairway plugin`: what it refuses, and that it writes what it says."""

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairway.cli.plugin import commands


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["new", "Not A Name"], "is no name for a plugin", id="no name"),
        pytest.param(["new", "class"], "means something to Python", id="a word of Python"),
        pytest.param(["new", "json"], "means something to Python", id="a module of Python"),
        *(
            pytest.param(["new", name], "is installed", id=f"a module that is installed: {name}")
            for name in ("fairway", "grpc", "pytest")
        ),
        pytest.param(["run", "no.such:Class", "start"], "is no plugin", id="no class"),
        pytest.param(["wait"], " wait: error: the following arguments are required", id="no word of what to do"),
        pytest.param(
            ["run", "fairway.plugins.wait:Wait"],
            " run fairway.plugins.wait:Wait: error: the following arguments are required",
            id="the same of one's own",
        ),
        pytest.param(
            ["wait", "start", "--piped-plugin-service", "x:1", "--config", "{}"],
            "--config cannot be used",
            id="a configuration that says nothing",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], expected: str) -> None:
    result = CliRunner().invoke(commands, arguments)

    assert result.exit_code != 0
    assert expected in result.output


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")

    result = CliRunner().invoke(commands, ["new", "greet", "--folder", str(tmp_path)])

    assert (result.exit_code, [each.name for each in tmp_path.iterdir()]) == (2, ["mine"])


def test_a_new_plugin_is_written_where_it_says(tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["new", "greet", "--folder", str(tmp_path / "new")])

    written = sorted(str(path) for path in (tmp_path / "new").rglob("*") if path.is_file())
    assert sorted(line.strip() for line in result.output.splitlines()[:-1]) == written
    tried = f"try it:  cd {tmp_path / 'new'} && pip install -e '.[test]' && python -m pytest"
    project = tomllib.loads((tmp_path / "new" / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"] == {"test": ["pytest", "pytest-asyncio"]}
    assert result.output.splitlines()[-1] == tried
