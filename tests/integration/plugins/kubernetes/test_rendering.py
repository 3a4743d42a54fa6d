"""Tools that are run for many applications, by a stand-in for helm."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from fairway.config.platforms import HelmChart, KubernetesInput
from fairway.plugins.kubernetes.manifests.charts import Sources
from fairway.plugins.kubernetes.manifests.command import ToolFailed, ToolTroubled
from fairway.plugins.kubernetes.manifests.places import Place
from fairway.plugins.kubernetes.manifests.rendering import Renderer
from fairway.plugins.kubernetes.manifests.renderings import Rendering, Renderings
from fairway.plugins.kubernetes.manifests.tools import Tools
from tests.integration.agent.running import until

#: Counts how many of it run at this moment.
HELM = """\
#!/bin/sh
[ "$1" = version ] && echo v3.14.2 && exit
mkdir {folder}/running.$$
ls -d {folder}/running.* | wc -l >> {folder}/counted
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: a}}\\n'
rmdir {folder}/running.$$
"""


async def no_install(name: str, version: str, script: str) -> Path:
    raise AssertionError("it is on the PATH")


async def test_only_so_many_tools_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("bin", "counting", "chart"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin/helm").write_text(HELM.format(folder=tmp_path / "counting"))
    (tmp_path / "bin/helm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    renderer = Renderer(Tools(no_install), Sources({}), tmp_path / "state", Renderings(), at_once=1)
    chart = HelmChart(path="chart")
    wanted = KubernetesInput(helm_chart=chart)

    await asyncio.gather(
        *(renderer.by_helm(Place(tmp_path, tmp_path), wanted, chart, f"release-{number}") for number in range(8))
    )

    assert (tmp_path / "counting/counted").read_text().split() == ["1"] * 8


#: Tells that it runs, waits until somebody lets it go on, and makes an object of every template that it finds then.
SLOW_HELM = """\
#!/bin/sh
[ "$1" = version ] && echo v3.14.2 && exit
for chart; do :; done
echo >> {folder}/runs
read -r _ < {folder}/go
[ -d "$chart" ] || {{ echo "there is nothing at $chart" >&2; exit 1; }}
for each in "$chart"/*; do
  printf -- '---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: %s}}\\n' ${{each##*/}}
done
"""


class Counting(Renderings):
    """Knows how many have asked; those wait for what is being made."""

    asked = 0

    async def get(self, key: str, make: Callable[[], Awaitable[Rendering]]) -> Rendering:
        self.asked += 1
        return await super().get(key, make)


class SlowHelm:
    """A stand-in for helm, and the same chart in the trees of two deployments."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        for name in ("bin", "one/chart", "other/chart"):
            (folder / name).mkdir(parents=True)
        for name in ("one/chart/a", "one/chart/b", "other/chart/a", "other/chart/b"):
            (folder / name).write_text("")
        os.mkfifo(folder / "go")
        # Open for both, so that nobody waits for anybody to open it.
        self._go = os.open(folder / "go", os.O_RDWR)
        (folder / "bin/helm").write_text(SLOW_HELM.format(folder=folder))
        (folder / "bin/helm").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
        self._renderings = Counting()
        self._renderer = Renderer(Tools(no_install), Sources({}), folder / "state", self._renderings)

    async def render(self, tree: str) -> list[str]:
        """The names of the objects."""
        chart = HelmChart(path="chart")
        place = Place(self._folder / tree, self._folder / tree)
        found = await self._renderer.by_helm(place, KubernetesInput(helm_chart=chart), chart, "web")
        return [each.name for each in found.manifests]

    async def runs(self, asked: int) -> None:
        """Return when it does, and so many have asked for what it makes."""
        told = self._folder / "runs"

        async def look() -> bool:
            return told.exists() and self._renderings.asked == asked

        await until(look)

    def go_on(self) -> None:
        """Let the one that runs end."""
        os.write(self._go, b"go\n")

    def close(self) -> None:
        os.close(self._go)


@pytest.fixture
def helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowHelm]:
    slow = SlowHelm(tmp_path, monkeypatch)
    yield slow
    slow.close()


async def test_what_was_made_while_its_files_were_removed_is_not_remembered(helm: SlowHelm, tmp_path: Path) -> None:
    given_up = asyncio.create_task(helm.render("one"))
    await helm.runs(asked=1)
    given_up.cancel()
    (tmp_path / "one/chart/b").unlink()
    await asyncio.gather(given_up, return_exceptions=True)
    joined = asyncio.create_task(helm.render("other"))
    await helm.runs(asked=2)
    helm.go_on()
    with pytest.raises(ToolTroubled, match="have changed while they were rendered"):
        await joined

    again = asyncio.create_task(helm.render("other"))
    helm.go_on()

    assert await again == ["a", "b"]


async def test_who_shared_a_rendering_that_failed_makes_it_of_their_own_files(helm: SlowHelm, tmp_path: Path) -> None:
    one = asyncio.create_task(helm.render("one"))
    await helm.runs(asked=1)
    other = asyncio.create_task(helm.render("other"))
    await helm.runs(asked=2)
    shutil.rmtree(tmp_path / "one")
    helm.go_on()
    with pytest.raises(ToolFailed, match="there is nothing at"):
        await one

    helm.go_on()

    assert await other == ["a", "b"]
