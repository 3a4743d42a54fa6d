"""The door of this package: the files of an application at one commit → the objects to be.

Rendered by the method that the files call for, each in its namespace, checked; BadManifests with everything that is
wrong, before anybody acts on any of it.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairway.config.platforms import KubernetesInput
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.manifests.charts import Sources
from fairway.plugins.kubernetes.manifests.documents import BadManifests
from fairway.plugins.kubernetes.manifests.kustomize import kustomization_in
from fairway.plugins.kubernetes.manifests.places import Place
from fairway.plugins.kubernetes.manifests.plain import find_files, parse_files, read_files
from fairway.plugins.kubernetes.manifests.rendering import Renderer
from fairway.plugins.kubernetes.manifests.renderings import Rendering, Renderings, digest
from fairway.plugins.kubernetes.manifests.scope import Namespaced, in_namespace
from fairway.plugins.kubernetes.manifests.together import described_twice, nothing_at_all
from fairway.plugins.kubernetes.manifests.tools import Install, Tools
from fairway.sdk import Files


class Manifests:
    """Loads manifests for all applications of a plugin; what was rendered is remembered.

    `state` is where the plugin keeps files, `config` its entry in the agent's file (chartRepositories and
    chartRegistries), `install` the agent's way to install tools: `Plugin.install_tool`.
    """

    def __init__(self, state: Path, config: Mapping[str, Any], install: Install) -> None:
        self._state = state
        self._config = config
        self._tools = Tools(install)
        self._renderings = Renderings()
        self._made: Renderer | None = None

    async def close(self) -> None:
        """Break off what is being rendered."""
        await self._renderings.close()

    async def load(
        self,
        files: Files,
        wanted: KubernetesInput,
        *,
        application_name: str,
        kustomize_dir: str = "",
        namespaced: Namespaced | None = None,
        may_be_empty: bool = False,
    ) -> tuple[Manifest, ...]:
        """The objects that the files describe; `namespaced` tells which kinds of a cluster have namespaces.

        None at all are refused unless they `may_be_empty`: whoever acts on them would remove all that runs.
        """
        rendering = await self.render(files, wanted, application_name=application_name, kustomize_dir=kustomize_dir)
        if not rendering.manifests and not may_be_empty:
            place = await asyncio.to_thread(Place.of, files)
            raise BadManifests([nothing_at_all(place.shown_for(files.config_filename))])
        placed = await in_namespace(rendering.manifests, wanted.namespace, namespaced)
        if problems := described_twice(placed):
            raise BadManifests(problems)
        return placed

    async def render(
        self, files: Files, wanted: KubernetesInput, *, application_name: str, kustomize_dir: str = ""
    ) -> Rendering:
        """The same before namespaces, with notes on what people should know about it."""
        place = await asyncio.to_thread(Place.of, files)
        if wanted.helm_chart is not None:
            return await self._renderer().by_helm(place, wanted, wanted.helm_chart, application_name)
        directory = await asyncio.to_thread(_kustomization, place, kustomize_dir)
        if directory is not None:
            return await self._renderer().by_kustomize(place, directory, wanted)
        return await self._plain(place, files, wanted)

    def _renderer(self) -> Renderer:
        # Made when it is needed: what is wrong with somebody's chart repositories concerns only those who use charts.
        if self._made is None:
            self._made = Renderer(self._tools, Sources(self._config), self._state, self._renderings)
        return self._made

    async def _plain(self, place: Place, files: Files, wanted: KubernetesInput) -> Rendering:
        contents, key = await asyncio.to_thread(_contents, place, files, wanted)
        named = bool(wanted.manifests)

        async def make() -> Rendering:
            parsed = await asyncio.to_thread(parse_files, contents, named=named)
            size = sum(len(data) for _, data in contents)
            return Rendering(manifests=tuple(parsed.checked()), notes=parsed.notes(), size=size)

        return await self._renderings.get(f"plain {named} {key}", make)


def _kustomization(place: Place, written: str) -> Path | None:
    """The directory that kustomize builds; None where there is none."""
    if written:
        return place.path(written, "kustomizeDir")
    return place.directory if kustomization_in(place.directory) else None


def _contents(place: Place, files: Files, wanted: KubernetesInput) -> tuple[list[tuple[str, bytes]], str]:
    contents = read_files(find_files(place, wanted.manifests, files.config_filename))
    return contents, digest(contents)
