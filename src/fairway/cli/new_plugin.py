"""The first files of a plugin: small, whole, and with a test that passes."""

import importlib.util
import keyword
import re
import sys
from pathlib import Path
from string import Template

from fairway import __version__

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_PROJECT = Template("""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "fairway-plugin-$name"
version = "0.1.0"
description = "A plugin for Fairway's and PipeCD's agents"
requires-python = ">=3.11"
dependencies = ["fairway>=$version"]

[project.scripts]
fairway-plugin-$name = "$module:main"

[project.optional-dependencies]
test = ["pytest", "pytest-asyncio"]

[tool.hatch.build.targets.wheel]
packages = ["src/$module"]

[tool.pytest.ini_options]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "function"
pythonpath = ["src"]
""")

_PLUGIN = Template('''\
"""$title: says hello. Change it into what you need.

An application uses it as a stage of its pipeline:

    - name: $stage
      with:
        whom: Ada
"""

from fairway.sdk import Plugin, StageFailed, StageOptions, StageRun, stage, undo
from fairway.sdk.start import main as start


class ${title}Options(StageOptions, frozen=True, kw_only=True):
    """What the stage is told under `with`."""

    whom: str


class $title(Plugin):
    """Says hello, and takes it back when the deployment fails later."""

    name = "$name"

    @stage("$stage", options=${title}Options)
    async def greet(self, run: StageRun[${title}Options]) -> None:
        """Say hello."""
        if run.options.whom == "nobody":
            raise StageFailed("there is nobody to greet; name somebody under with.whom")
        run.log.info(f"hello {run.options.whom}")
        await run.show(f"greeted {run.options.whom}")

    @undo("${stage}_ROLLBACK", of="$stage", options=${title}Options)
    async def take_back(self, run: StageRun[${title}Options]) -> None:
        """Say goodbye."""
        run.log.info(f"goodbye {run.options.whom}")


def main() -> None:
    """Run as a program, under an agent."""
    start($title)


if __name__ == "__main__":
    main()
''')

_TEST = Template('''\
"""$title over real gRPC, with a double of the agent."""

from pathlib import Path

from fairway.sdk import StageStatus
from fairway.sdk.testing import Ended, plugin_under_test

from $module import $title


async def test_it_says_hello(tmp_path: Path) -> None:
    async with plugin_under_test($title, tmp_path) as plugin:
        ended = await plugin.run("$stage", {"whom": "Ada"})

    assert ended == Ended(StageStatus.SUCCEEDED, "", ("hello Ada",))


async def test_it_says_why_it_failed(tmp_path: Path) -> None:
    async with plugin_under_test($title, tmp_path) as plugin:
        ended = await plugin.run("$stage", {"whom": "nobody"})

    assert ended.status is StageStatus.FAILED
    assert "name somebody" in ended.message


async def test_a_rollback_is_planned_with_it(tmp_path: Path) -> None:
    async with plugin_under_test($title, tmp_path) as plugin:
        stages = await plugin.plan("$stage", {"whom": "Ada"})

    assert [stage.name for stage in stages] == ["$stage", "${stage}_ROLLBACK"]
''')

_README = Template("""\
# $name

A plugin for Fairway's agent; PipeCD's piped v1 can start it too.

    pip install -e '.[test]' && python -m pytest

In the agent's file, where the plugin is installed beside Fairway:

    spec:
      plugins:
        - name: $name
          url: python:$module:$title

or, where it is not, as a program that is told its configuration by a pipe:

    spec:
      plugins:
        - name: $name
          url: /path/of/fairway-plugin-$name
          handover: pipe

PipeCD's agent starts the same program; there it needs a `port`.
""")


def bad_name(name: str) -> str:
    """What is wrong with a plugin's name; empty when nothing is."""
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names:
        return f"{name!r} means something to Python, so no package can have that name; choose another"
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name for a plugin; expected small letters, digits and single '-', such as 'greet'"
    found = importlib.util.find_spec(module)
    # A mere directory beside us, which has no origin, is in nobody's way.
    if found is not None and found.origin is not None:
        return f"{name!r} is the name of a module that is installed here, which the plugin would hide; choose another"
    return ""


def write_plugin(name: str, folder: Path) -> list[Path]:
    """Write the files; where they are."""
    module = name.replace("-", "_")
    words = {
        "name": name,
        "module": module,
        "title": "".join(word.capitalize() for word in name.split("-")),
        "stage": module.upper(),
        "version": __version__,
    }
    files = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"src/{module}/__init__.py": _PLUGIN,
        f"tests/test_{module}.py": _TEST,
    }
    for path, template in files.items():
        where = folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(template.substitute(words))
    return [folder / path for path in files]
