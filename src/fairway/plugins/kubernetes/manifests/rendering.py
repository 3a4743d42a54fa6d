"""Rendering by tools: helm and kustomize, run on an application's files without changing them.

A tool that writes beside what it reads, as both do when they fetch charts, gets a copy: the files belong to a commit,
and others read them at the same time.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import msgspec

from fairway.config.platforms import HelmChart, HelmOptions, KubernetesInput
from fairway.plugins.kubernetes.manifests import helm, kustomize
from fairway.plugins.kubernetes.manifests.charts import BadCharts, HelmHome, Sources
from fairway.plugins.kubernetes.manifests.command import (
    Command,
    ToolFailed,
    ToolTroubled,
    hide,
    private_directory,
    run_tool,
)
from fairway.plugins.kubernetes.manifests.documents import parse_output
from fairway.plugins.kubernetes.manifests.git_remotes import checked_out, is_commit, logins_of_git
from fairway.plugins.kubernetes.manifests.places import OutsideRepository, Place
from fairway.plugins.kubernetes.manifests.renderings import FLOATING_SECONDS, Rendering, Renderings, digest
from fairway.plugins.kubernetes.manifests.tools import Tool, Tools

#: How many tools run at once: a new agent has all its applications to render, and each tool takes a processor.
_AT_ONCE: Final = max(2, os.cpu_count() or 2)
#: What a rendering may be made of; more is somebody's mistake.
_MOST_BYTES: Final = 256 << 20
_CHART_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_NO_UPDATE: Final = "Unable to get an update"
_OLD_INDEX: Final = re.compile(r"helm repo update|no cached repo|not found|no chart (name|version)|improper constraint")


class Renderer:
    """Runs the tools for all applications of a plugin."""

    def __init__(
        self, tools: Tools, sources: Sources, state: Path, renderings: Renderings, at_once: int = _AT_ONCE
    ) -> None:
        self._tools = tools
        self._sources = sources
        self._state = state
        self._renderings = renderings
        self._home = HelmHome(state / "helm", sources)
        self._turns = asyncio.Semaphore(at_once)
        self._updating: dict[str, asyncio.Lock] = {}

    async def by_kustomize(self, place: Place, directory: Path, wanted: KubernetesInput) -> Rendering:
        """The objects of a kustomization."""
        options = kustomize.arguments(wanted.kustomize_options)
        tool = await self._tools.find("kustomize", wanted.kustomize_version)
        inflater: Tool | None = None
        if "enable-helm" in wanted.kustomize_options:
            inflater = await self._tools.find("helm", wanted.helm_version)
            options = (*options, f"--helm-command={inflater.path}")
        anywhere = kustomize.reads_anywhere(wanted.kustomize_options)
        found = await asyncio.to_thread(kustomize.survey, place, directory, anywhere=anywhere)
        told = [tool.version, inflater and inflater.version, wanted.kustomize_options, place.shown(directory)]
        made_of = (place, found.directories, found.files)
        key = await asyncio.to_thread(_digest, *made_of)

        async def make() -> Rendering:
            async with AsyncExitStack() as stack:
                at = directory
                if inflater is not None:
                    # Kustomize puts the charts that it fetches beside the kustomization.
                    at = await _copied(stack, directory, (*found.directories, *(each.parent for each in found.files)))
                environment = await asyncio.to_thread(self._home.environment)
                if found.remote:
                    environment |= await self._for_git(stack)
                output = await self._in_turn(
                    Command(
                        name=f"kustomize build of {place.shown(directory)}",
                        arguments=(str(tool.path), "build", *options, "."),
                        directory=at,
                        environment=environment,
                        secrets=self._sources.secrets,
                    )
                )
            await asyncio.to_thread(_refuse_changed, key, *made_of)
            floating = found.remote or inflater is not None
            return await asyncio.to_thread(_built, output, floating=floating)

        return await self._renderings.get(f"kustomize {_told(told)} {key}", make)

    async def by_helm(self, place: Place, wanted: KubernetesInput, chart: HelmChart, release: str) -> Rendering:
        """The objects of a chart."""
        options = wanted.helm_options or HelmOptions()
        tool = await self._tools.find("helm", wanted.helm_version)
        template = await asyncio.to_thread(_template, place, options, wanted.namespace, options.release_name or release)
        paths = [*template.value_files, *(path for _, path in template.set_files)]
        local = [Path(each) for each in paths if "://" not in each]
        floating = len(local) < len(paths)
        told = [tool.version, chart, options, wanted.namespace, template.release, place.shown(place.directory)]
        directories: tuple[Path, ...] = ()
        if not chart.git_remote and not chart.repository:
            directory = await asyncio.to_thread(_chart_directory, place, chart)
            needs = await asyncio.to_thread(helm.dependencies, place, directory)
            directories = (directory, *needs.directories)
        key = await asyncio.to_thread(_digest, place, directories, local)

        async def make() -> Rendering:
            async with AsyncExitStack() as stack:
                if chart.git_remote:
                    output = await self._from_git(stack, place, tool, template, chart)
                    passing = not is_commit(chart.ref)
                elif chart.repository:
                    output = await self._from_repository(place, tool, template, chart)
                    passing = not helm.is_exact(chart.version)
                else:
                    here = msgspec.structs.replace(template, chart=str(directory))
                    output = await self._local(stack, place, tool, here, needs)
                    passing = needs.floating
            await asyncio.to_thread(_refuse_changed, key, place, directories, local)
            return await asyncio.to_thread(_templated, output, floating=floating or passing)

        return await self._renderings.get(f"helm {_told(told)} {key}", make)

    async def _local(
        self, stack: AsyncExitStack, place: Place, tool: Tool, template: helm.Template, needs: helm.Dependencies
    ) -> bytes:
        if needs.missing:
            chart = Path(template.chart)
            copy = await _copied(stack, chart, (chart, *needs.directories))
            template = msgspec.structs.replace(template, chart=str(copy))
            await self._run(place, tool, ("dependency", "update", str(copy)))
        return await self._run(place, tool, helm.arguments(template))

    async def _from_git(
        self, stack: AsyncExitStack, place: Place, tool: Tool, template: helm.Template, chart: HelmChart
    ) -> bytes:
        known_hosts = await asyncio.to_thread(self._known_hosts)
        checkout = checked_out(self._sources.remotes, chart.git_remote, chart.ref, known_hosts)
        root = (await stack.enter_async_context(checkout)).resolve()
        remote = Place(root, root)
        directory = await asyncio.to_thread(remote.path, chart.path or ".", "input.helmChart.path")
        # The files are ours alone, so they may be changed; but nothing in them may lead elsewhere.
        needs = await asyncio.to_thread(helm.dependencies, remote, directory)
        await asyncio.to_thread(_digest, remote, (root,), ())
        if needs.missing:
            await self._run(place, tool, ("dependency", "update", str(directory)))
        template = msgspec.structs.replace(template, chart=str(directory))
        return await self._run(place, tool, helm.arguments(template))

    async def _for_git(self, stack: AsyncExitStack) -> dict[str, str]:
        """What the git of a tool has to know of the remotes of the agent's file."""
        private = await stack.enter_async_context(private_directory())
        known_hosts = await asyncio.to_thread(self._known_hosts)
        return await asyncio.to_thread(logins_of_git, self._sources.remotes, known_hosts, private)

    def _known_hosts(self) -> Path:
        """Where ssh remembers the keys of hosts; the directory is there when this returns."""
        self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
        return (self._state / "known_hosts").absolute()

    async def _from_repository(self, place: Place, tool: Tool, template: helm.Template, chart: HelmChart) -> bytes:
        if not chart.name:
            raise BadCharts(f"input.helmChart names the repository {chart.repository!r}, but no chart; set its name")
        if not _CHART_NAME.fullmatch(chart.name):
            raise BadCharts(f"input.helmChart.name is {chart.name!r}; expected the name of a chart, such as web")
        address = f"{chart.repository.rstrip('/')}/{chart.name}"
        template = msgspec.structs.replace(template, chart=address, version=chart.version)
        if chart.repository.startswith("oci://"):
            plain = self._sources.speaks_plainly(chart.repository)
            return await self._run(place, tool, helm.arguments(msgspec.structs.replace(template, plain_http=plain)))
        repository = self._sources.repository(chart.repository)
        template = msgspec.structs.replace(template, insecure=repository.insecure)
        age = 0.0 if helm.is_exact(chart.version) else FLOATING_SECONDS
        fresh = await self._update(place, tool, chart.repository, age)
        try:
            return await self._run(place, tool, helm.arguments(template))
        except ToolFailed as error:
            if fresh or not _OLD_INDEX.search(str(error)):
                raise
            await self._update(place, tool, chart.repository, FLOATING_SECONDS, again=True)
            return await self._run(place, tool, helm.arguments(template))

    async def _update(self, place: Place, tool: Tool, repository: str, oldest: float, *, again: bool = False) -> bool:
        """Fetch the index of a repository when there is none, or one older than `oldest` seconds (0: any will do)."""
        async with self._updating.setdefault(repository, asyncio.Lock()):
            age = await asyncio.to_thread(self._home.index_age, repository)
            if age is not None and not again and (oldest == 0.0 or age < oldest):
                return False
            said = (await self._run(place, tool, ("repo", "update", repository))).decode("utf-8", "replace")
            # Helm takes this for a success.
            if _NO_UPDATE in said:
                why = hide(said[said.index(_NO_UPDATE) :].strip(), self._sources.secrets)
                raise ToolTroubled(f"the index of the chart repository {repository!r} cannot be fetched: {why}")
            return True

    async def _run(self, place: Place, tool: Tool, arguments: tuple[str, ...]) -> bytes:
        environment = await asyncio.to_thread(self._home.environment)
        command = Command(
            name=f"helm {arguments[0]} for {place.shown(place.directory)}",
            arguments=(str(tool.path), *arguments),
            # Not the application's: a directory there that is called like a chart would be taken for it.
            directory=self._home.directory,
            environment=environment,
            secrets=self._sources.secrets,
        )
        return await self._in_turn(command)

    async def _in_turn(self, command: Command) -> bytes:
        async with self._turns:
            return await run_tool(command)


def _template(place: Place, options: HelmOptions, namespace: str, release: str) -> helm.Template:
    value_files = enumerate(options.value_files)
    return helm.Template(
        release=release,
        chart="",
        namespace=namespace,
        options=options,
        value_files=tuple(
            helm.value_file(place, each, f"input.helmOptions.valueFiles[{index}]") for index, each in value_files
        ),
        set_files=tuple(
            (key, helm.value_file(place, each, f"input.helmOptions.setFiles.{key}"))
            for key, each in options.set_files.items()
        ),
    )


def _chart_directory(place: Place, chart: HelmChart) -> Path:
    if not chart.path:
        raise BadCharts("input.helmChart says of no chart; set path, repository and name, or gitRemote and path")
    directory = place.path(chart.path, "input.helmChart.path")
    if not directory.is_dir():
        raise BadCharts(f"input.helmChart.path is {chart.path!r}; expected the directory of a chart")
    return directory


def _built(output: bytes, *, floating: bool) -> Rendering:
    parsed = parse_output(output, "kustomize build")
    manifests = tuple(parsed.checked())
    return Rendering(manifests=manifests, notes=parsed.notes(), size=len(output), floating=floating)


def _templated(output: bytes, *, floating: bool) -> Rendering:
    parsed = parse_output(output, "helm template", helm.is_hook)
    manifests, notes = helm.without_hooks(parsed.checked())
    return Rendering(manifests=tuple(manifests), notes=(*notes, *parsed.notes()), size=len(output), floating=floating)


def _told(values: Iterable[object]) -> str:
    return digest([("told", msgspec.json.encode(tuple(values)))])


def _digest(place: Place, directories: Iterable[Path], files: Iterable[Path]) -> str:
    """What files and all files of directories are; refuses links out of the repository, and more than can be meant."""
    paths: dict[Path, None] = dict.fromkeys(files)
    for directory in directories:
        paths.update(dict.fromkeys(place.files_below(directory)))
    total = sum(path.stat().st_size for path in paths)
    if total > _MOST_BYTES:
        raise ToolFailed(
            f"the files that the manifests of {place.shown(place.directory)} are made of have {total >> 20} MiB, "
            f"expected at most {_MOST_BYTES >> 20} MiB"
        )
    return digest((place.shown(path), path.read_bytes()) for path in sorted(paths))


def _refuse_changed(key: str, place: Place, directories: Iterable[Path], files: Iterable[Path]) -> None:
    """Refuse what was made of files that are others by now: they may go, or change, once nobody waits for it any more,
    and what was made of half of them would be remembered as made of all."""
    try:
        same = _digest(place, directories, files) == key
    except (OSError, OutsideRepository):
        same = False
    if not same:
        raise ToolTroubled(f"the files at {place.shown(place.directory)} have changed while they were rendered")


async def _copied(stack: AsyncExitStack, directory: Path, needed: Iterable[Path]) -> Path:
    """The same directory in a copy, with all that it needs beside it."""
    base = Path(os.path.commonpath([directory, *needed]))
    private = await stack.enter_async_context(private_directory())
    try:
        await asyncio.to_thread(shutil.copytree, base, private / "copy", ignore=shutil.ignore_patterns(".git"))
    except (OSError, RecursionError) as error:
        raise ToolFailed(f"the files at {base} cannot be copied to be rendered: {error}") from error
    return private / "copy" / directory.relative_to(base)
