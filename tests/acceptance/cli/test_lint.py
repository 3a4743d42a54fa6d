"""`fairway lint`, as a person and as a program call it."""

import json
import subprocess
import sys
from pathlib import Path

FAIRWAY = Path(sys.executable).with_name("fairway")
SEEDS = Path(__file__).parents[2] / "unit/config/seeds"
GOOD = "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec:\n  name: shop\n"
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n"


def fairway(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FAIRWAY, *arguments], capture_output=True, text=True, cwd=cwd, check=False)


def test_a_repository_without_mistakes_ends_with_zero(tmp_path: Path) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(GOOD)
    (tmp_path / "shop.yaml").write_text(MANIFEST)

    result = fairway("lint", tmp_path)

    assert (result.returncode, result.stdout) == (0, "✓ 2 files checked, nothing to complain about\n")


def test_a_mistake_is_shown_with_its_line_and_a_caret(tmp_path: Path) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(GOOD + "  planer: {}\n")

    result = fairway("lint", "app.pipecd.yaml", cwd=tmp_path)

    assert result.returncode == 1
    assert result.stdout == (
        "app.pipecd.yaml:5:3: error: spec.planer\n"
        "  is not a field of this; did you mean 'planner'?\n"
        "    5 │   planer: {}\n"
        "      │   ^\n"
        "\n"
        "1 file checked: 1 error, 0 warnings\n"
    )


def test_a_program_gets_the_same_as_json(tmp_path: Path) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(GOOD + "  planer: {}\n")

    result = fairway("lint", "--json", "app.pipecd.yaml", cwd=tmp_path)

    assert result.returncode == 1
    assert json.loads(result.stdout) == {
        "files": 1,
        "errors": 1,
        "warnings": 0,
        "problems": [
            {
                "file": "app.pipecd.yaml",
                "line": 5,
                "column": 3,
                "severity": "error",
                "path": "spec.planer",
                "message": "is not a field of this; did you mean 'planner'?",
                "advice": "",
            }
        ],
    }


def test_warnings_alone_do_not_fail(tmp_path: Path) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(GOOD.replace("name:", "Name:"))
    (tmp_path / "shop.yaml").write_text(MANIFEST)

    result = fairway("lint", tmp_path)

    assert result.returncode == 0
    assert "is spelled 'name'" in result.stdout


def test_advice_is_shown_ready_to_copy() -> None:
    result = fairway("lint", SEEDS / "script-run-rfc-2-curl.yaml")

    assert result.returncode == 1
    assert "write for example:" in result.stdout
    assert "      │               - |-\n" in result.stdout


def test_a_path_that_does_not_exist_is_a_mistake_in_the_call(tmp_path: Path) -> None:
    result = fairway("lint", tmp_path / "nowhere")

    assert result.returncode == 2
    assert "There is no such file or directory" in result.stderr


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    huge = tmp_path / "app.pipecd.yaml"
    with huge.open("wb") as file:
        file.truncate(100 << 20)

    result = fairway("lint", huge)

    assert result.returncode == 1
    assert "the file has 100.0 MiB, a configuration file may have 1 MiB" in result.stdout


def test_a_line_that_is_too_long_is_shown_around_the_mistake(tmp_path: Path) -> None:
    long = GOOD + "  labels: {" + ", ".join(f"k{index}: v" for index in range(200)) + ", bad: 1}\n"
    (tmp_path / "app.pipecd.yaml").write_text(long)

    result = fairway("lint", tmp_path)

    line, caret = result.stdout.splitlines()[2:4]
    assert len(line) < 130
    assert line[caret.index("^")] == "1"


def test_a_directory_without_configuration_says_so(tmp_path: Path) -> None:
    assert fairway("lint", tmp_path).stdout == "no configuration files found\n"


def test_escape_sequences_of_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "app.pipecd.yaml").write_text(GOOD + '  planer: "\x9b31m"\n', encoding="utf-8")

    result = fairway("lint", tmp_path)

    assert result.returncode == 1
    assert "\x9b" not in result.stdout
