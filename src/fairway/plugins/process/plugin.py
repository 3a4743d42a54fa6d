"""The stages of the process platform: each writes down what is wanted, and waits until the keeper has made it so.

A stage that is asked for again finds its wish already written and only waits, so it does not matter who is killed when.
A stage fails when the new processes do not answer in time; what runs goes on serving meanwhile, and the rollback
needs only to wish for it again.
"""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from fairway.config.platforms import ProcessSpec
from fairway.config.problems import Severity
from fairway.config.read import read_application
from fairway.config.reader.document import read_documents
from fairway.config.reader.rules import read_settings
from fairway.config.stages import ProcessCanaryRolloutOptions, ProcessTrafficRoutingOptions, StageOptions
from fairway.config.terms import ACCEPTED
from fairway.in_thread import in_thread
from fairway.model.artifact import ArtifactVersion
from fairway.plugins.process.decide import all_answer, keeps_failing, what_is_missing
from fairway.plugins.process.keeping import told_keeper
from fairway.plugins.process.live import drift, resources
from fairway.plugins.process.records import WANTED, Group, Version, Wanted, load, save
from fairway.plugins.process.release import digest, forget_releases, keep_release
from fairway.sdk import (
    Files,
    Live,
    LiveQuestion,
    Plugin,
    PluginSettings,
    StageFailed,
    StageRun,
    Strategy,
    SyncStrategy,
    rollback,
    stage,
)

_LOOK_SECONDS = 0.03
#: What keeper and kernel may take beside the processes themselves.
_SPARE_SECONDS = 5.0
#: A process that has ended so often without an answer is not waited for.
_OFTEN = 3


class Process(Plugin):
    """Runs an application as processes of this host."""

    name = "process"

    def __init__(self, settings: PluginSettings) -> None:
        super().__init__(settings)
        #: Application id → the newest commit that was looked at, and what its files are.
        self._digests: dict[str, tuple[str, str]] = {}

    async def versions(self, target: Files) -> tuple[ArtifactVersion, ...]:
        return (ArtifactVersion(name=self.settings.name, version=target.commit[:7]),)

    async def strategy(self, target: Files, running: Files | None) -> Strategy | None:
        if running is None or self._found_spec(running) is None:
            return None
        before, after = (_without_replicas(self._spec(files)) for files in (running, target))
        both = (running.application_directory, target.application_directory)
        old, new = [await asyncio.to_thread(digest, files) for files in both]
        if before == after and old == new:
            return Strategy(SyncStrategy.QUICK_SYNC, "Quick sync, because no process would run otherwise than now")
        return Strategy(SyncStrategy.PIPELINE, "Pipeline, because the processes would be replaced")

    async def live_state(self, question: LiveQuestion) -> Live:
        spec = self._spec(question.files)
        directory = self._directory(question.application_id)
        wanted = load(directory, WANTED, Wanted)
        if wanted is None:
            return Live(drift=("Nothing has been deployed on this host",))
        # A host that was started again has no keepers; this brings them back.
        seen = await told_keeper(directory, wanted)
        in_git = version_of(question.files, spec, await self._digest(question))
        return Live(resources=resources(wanted, seen), drift=drift(wanted, seen, in_git, spec.replicas))

    async def _digest(self, question: LiveQuestion) -> str:
        """What the files of an application are; looked at once for each commit."""
        commit, known = self._digests.get(question.application_id, ("", ""))
        if commit != question.files.commit:
            known = await asyncio.to_thread(digest, question.files.application_directory)
            self._digests[question.application_id] = (question.files.commit, known)
        return known

    @stage("PROCESS_SYNC", quick_sync=True)
    async def sync(self, run: StageRun[StageOptions]) -> None:
        """Bring everything to the new version at once."""
        await self._bring_primary(run, run.target, keep_canary=False)

    @stage("PROCESS_CANARY_ROLLOUT", options=ProcessCanaryRolloutOptions)
    async def roll_out_canary(self, run: StageRun[ProcessCanaryRolloutOptions]) -> None:
        """Start the new version beside the primary."""
        spec = self._spec(run.target)
        wanted = self._wanted(run)
        before = wanted.group("canary")
        group = Group(
            variant="canary",
            version=await self._kept(run, run.target, spec),
            replicas=max(1, run.options.replicas.of(spec.replicas)),
            share=before.share if before else 0.0,
        )
        if not wanted.groups:
            wanted = _placed(wanted, spec)
        await self._make(run, _with(wanted, group), spec)

    @stage("PROCESS_TRAFFIC_ROUTING", options=ProcessTrafficRoutingOptions)
    async def route_traffic(self, run: StageRun[ProcessTrafficRoutingOptions]) -> None:
        """Share out the connections."""
        primary, canary = map(float, run.options.shares)
        wanted = self._wanted(run)
        if canary and wanted.group("canary") is None:
            raise StageFailed("there is no canary to send traffic to; put PROCESS_CANARY_ROLLOUT before this stage")
        await self._make(run, _shared(wanted, primary, canary), self._spec(run.target))
        await run.show(f"primary {primary:g} %, canary {canary:g} %")

    @stage("PROCESS_PRIMARY_ROLLOUT")
    async def roll_out_primary(self, run: StageRun[StageOptions]) -> None:
        """Bring the primary to the new version."""
        await self._bring_primary(run, run.target, keep_canary=True)

    @stage("PROCESS_CANARY_CLEAN")
    async def clean_canary(self, run: StageRun[StageOptions]) -> None:
        """Send everything to the primary and end the canary."""
        await self._make(run, _shared(_with(self._wanted(run), None), 100.0, 0.0), self._spec(run.target))

    @rollback("PROCESS_ROLLBACK")
    async def roll_back(self, run: StageRun[StageOptions]) -> None:
        """Bring back what ran before the deployment; on a first deployment that is nothing."""
        if run.running is not None and self._found_spec(run.running) is not None:
            await self._bring_primary(run, run.running, keep_canary=False)
            return
        run.log.info("Nothing ran here before this deployment: all processes are ended")
        wanted = msgspec.structs.replace(self._wanted(run), groups=())
        await self._make(run, wanted, self._spec(run.target))
        forget_releases(self._directory(run.deployment.application_id), but=())

    async def _bring_primary(self, run: StageRun[StageOptions], files: Files, *, keep_canary: bool) -> None:
        spec = self._spec(files)
        wanted = _placed(self._wanted(run), spec)
        before = wanted.group("primary")
        group = Group(
            variant="primary",
            version=await self._kept(run, files, spec),
            replicas=spec.replicas,
            share=before.share if before and keep_canary else 100.0,
        )
        if not keep_canary:
            wanted = _with(wanted, None)
        wanted = _with(wanted, group)
        await self._make(run, wanted, spec)
        forget_releases(
            self._directory(run.deployment.application_id), but={each.version.release for each in wanted.groups}
        )

    async def _make(self, run: StageRun[Any], wanted: Wanted, spec: ProcessSpec) -> None:
        """Wish for it, and wait until it is so."""
        directory = self._directory(run.deployment.application_id)
        run.log.info(_in_words(wanted))
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        await in_thread(save, directory, WANTED, wanted)
        time_to_answer = spec.health.timeout.total_seconds()
        loop = asyncio.get_running_loop()
        until = loop.time() + time_to_answer + 2 * wanted.stop_timeout + _SPARE_SECONDS
        heard: float | None = None
        missing = told = ""
        while loop.time() < until:
            seen = await told_keeper(directory, wanted)
            missing = what_is_missing(wanted, seen)
            if not missing:
                run.log.success("It is as wanted")
                return
            if missing != told:
                run.log.info(missing)
                told = missing
            if heard is None and seen.wanted == wanted.key:
                heard = loop.time()
            late = heard is not None and loop.time() > heard + time_to_answer
            if late and seen.problem:
                # Such as a port that is taken; the processes themselves may be well.
                raise StageFailed(f"It cannot be made as wanted: {seen.problem}")
            if (late and not all_answer(wanted, seen)) or keeps_failing(wanted, seen, _OFTEN):
                break
            await asyncio.sleep(_LOOK_SECONDS)
        raise StageFailed(f"The new processes did not come up: {missing}")

    async def _kept(self, run: StageRun[Any], files: Files, spec: ProcessSpec) -> Version:
        version = version_of(files, spec, await asyncio.to_thread(digest, files.application_directory))
        await in_thread(
            keep_release, self._directory(run.deployment.application_id), files.application_directory, version.release
        )
        return version

    def _wanted(self, run: StageRun[Any]) -> Wanted:
        return load(self._directory(run.deployment.application_id), WANTED, Wanted) or Wanted()

    def _directory(self, application_id: str) -> Path:
        return self.settings.state / "apps" / application_id

    def _spec(self, files: Files) -> ProcessSpec:
        spec = self._found_spec(files)
        if spec is None:
            raise StageFailed(f"{files.config_filename} has no settings under spec.plugins.{self.settings.name}")
        return spec

    def _found_spec(self, files: Files) -> ProcessSpec | None:
        """The settings; None for files of a time when the application ran elsewhere."""
        written = read_application(files.config_text, files.config_filename, ACCEPTED).plugins.get(self.settings.name)
        if written is None or isinstance(written, ProcessSpec):
            return written
        # Under another name than its own the reader does not know the plugin's settings.
        documents, _ = read_documents(msgspec.json.encode(written), files.config_filename)
        spec, problems = read_settings(documents[0], documents[0].value, ProcessSpec, ())
        wrong = [str(each) for each in problems if each.severity is Severity.ERROR]
        if wrong:
            raise StageFailed("; ".join(wrong))
        return spec


def version_of(files: Files, spec: ProcessSpec, files_digest: str) -> Version:
    """What the processes of these files are."""
    return Version(
        commit=files.commit,
        files=files_digest,
        command=("/bin/sh", "-c", spec.command) if isinstance(spec.command, str) else spec.command,
        env=spec.env,
        health_path=spec.health.path,
        health_interval=spec.health.interval.total_seconds(),
    )


def _without_replicas(spec: ProcessSpec) -> ProcessSpec:
    return msgspec.structs.replace(spec, replicas=1)


def _placed(wanted: Wanted, spec: ProcessSpec) -> Wanted:
    """What is wanted, at the place and with the patience of these settings."""
    seconds = spec.stop_timeout.total_seconds()
    return Wanted(host=spec.host, port=spec.port, stop_timeout=seconds, groups=wanted.groups)


def _with(wanted: Wanted, group: Group | None) -> Wanted:
    """What is wanted, with this group in place of the one of its variant; None: without a canary."""
    variant = group.variant if group else "canary"
    others = [each for each in wanted.groups if each.variant != variant]
    groups = sorted([*others, *([group] if group else [])], key=lambda each: each.variant, reverse=True)
    return msgspec.structs.replace(wanted, groups=tuple(groups))


def _shared(wanted: Wanted, primary: float, canary: float) -> Wanted:
    shares = {"primary": primary, "canary": canary}
    groups = (msgspec.structs.replace(each, share=shares[each.variant]) for each in wanted.groups)
    return msgspec.structs.replace(wanted, groups=tuple(groups))


def _in_words(wanted: Wanted) -> str:
    if not wanted.groups:
        return "Wanted: no process"
    parts = (
        f"{each.replicas} × {each.variant} of {each.version.commit[:7]} with {each.share:g} % of the traffic"
        for each in wanted.groups
    )
    return f"Wanted on port {wanted.port}: {', '.join(parts)}"
