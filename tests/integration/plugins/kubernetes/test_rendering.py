"""Tools that are run for many applications, by a stand-in for helm."""

import asyncio
from pathlib import Path

import pytest

from fairway.config.platforms import HelmChart, KubernetesInput
from fairway.plugins.kubernetes.manifests.charts import Sources
from fairway.plugins.kubernetes.manifests.places import Place
from fairway.plugins.kubernetes.manifests.rendering import Renderer
from fairway.plugins.kubernetes.manifests.renderings import Renderings
from fairway.plugins.kubernetes.manifests.tools import Tools

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
