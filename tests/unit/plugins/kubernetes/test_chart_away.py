"""A chart whose host is away: whoever only takes things away does without it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from fairway.kube.errors import ClusterAway
from fairway.plugins.kubernetes.manifests.command import ToolTroubled
from fairway.plugins.kubernetes.site import Site
from fairway.plugins.kubernetes.stages import _running_before
from fairway.sdk import Files, Target

FILE = b"{apiVersion: pipecd.dev/v1beta1, kind: KubernetesApp, spec: {name: web}}"
FILES = Files(
    application_directory=Path(),
    commit="c0ffee1234",
    config_text=FILE,
    config_filename="app.pipecd.yaml",
    shared_directory=Path(),
)


def a_site(monkeypatch: pytest.MonkeyPatch, error: Exception) -> tuple[Site, list[str]]:
    said: list[str] = []

    async def load(_site: Site, _files: Files) -> NoReturn:
        raise error

    monkeypatch.setattr(Site, "load", load)
    run: Any = SimpleNamespace(log=SimpleNamespace(info=said.append), running=FILES)
    place: Any = SimpleNamespace(target=Target(name="here"), alone=True, plugin="kubernetes")
    return Site(run, place), said


async def test_the_variants_of_a_commit_are_taken_away_without_its_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    site, said = a_site(monkeypatch, ToolTroubled("no answer from charts.example"))

    loaded = await site.load_what_can_be(FILES)

    assert (loaded.manifests, loaded.settings.spec.variant_label.canary_value) == ((), "canary")
    assert said == ["The manifests of commit c0ffee1 cannot be used: no answer from charts.example"]


async def test_what_ran_before_is_not_looked_for_without_its_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    site, said = a_site(monkeypatch, ToolTroubled("no answer from charts.example"))

    assert await _running_before(site, ()) == []
    assert said[0].endswith("is not looked for: no answer from charts.example")


async def test_a_cluster_that_is_away_is_another_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    site, _ = a_site(monkeypatch, ClusterAway("no answer from the cluster"))

    with pytest.raises(ClusterAway):
        await site.load_what_can_be(FILES)
    with pytest.raises(ClusterAway):
        await _running_before(site, ())
