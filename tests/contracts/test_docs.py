"""Docs are short, true and tested: every YAML block is read, every command is run, every link leads somewhere."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from fairway.config.read import read_file

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


class Block(NamedTuple):
    page: str
    language: str
    text: str


def blocks(*languages: str) -> Iterator[object]:
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        text = page.read_text()
        for match in FENCE.finditer(text):
            if match[1] in languages:
                line = text.count("\n", 0, match.start()) + 1
                yield pytest.param(Block(name, match[1], match[2]), id=f"{name}:{line}")


def run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = f"{BIN}:/usr/bin:/bin"
    return subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, cwd=cwd, env={"PATH": path}, check=False
    )


@pytest.mark.parametrize("block", list(blocks("yaml")))
def test_every_yaml_block_is_accepted(block: Block) -> None:
    problems = [str(problem) for reading in read_file(block.text.encode(), block.page) for problem in reading.problems]

    assert problems == []


@pytest.mark.parametrize("block", list(blocks("console")))
def test_every_session_prints_what_the_page_shows(block: Block) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")

        assert run(command, ROOT).stdout == output


@pytest.mark.parametrize("block", list(blocks("sh")))
def test_every_command_works(block: Block, tmp_path: Path) -> None:
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        # A test inside `make test` does not start `make test` again; that the target is there is what can go wrong.
        command = f"make -C {ROOT} -n {words[1]}" if words[0] == "make" else line

        result = run(command, tmp_path)

        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES])
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_is_under_150_lines() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def test_every_make_target_says_what_it_is_for() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)

    assert [target for target in targets if f"make {target} " not in run("make", ROOT).stdout] == []
