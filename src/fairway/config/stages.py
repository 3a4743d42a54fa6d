"""The entries of a pipeline: what each stage may be told in its `with`.

v0 puts timeout and skipOn inside `with`, v1 beside it; both places are read in both generations, and `settle_stage`
brings them to where they belong. Which plugin owns which stage is in `platforms.py`.
"""

from typing import Any, Literal, Self

import msgspec

from fairway.config.application import DEFAULT_TIMEOUT, Generation, SkipOn, StageConfig, UndoScript
from fairway.config.scalars import Duration, Percentage, Replicas
from fairway.config.settings import Problems, Settings, ZeroMeansDefault
from fairway.model.stage import GROUP_OF_OPERATORS


class StageEntry(Settings, frozen=True):
    """One entry of `pipeline.stages`, as it is written."""

    name: str
    id: str = ""
    desc: str = ""
    timeout: Duration | None = None
    skip_on: SkipOn | None = None
    #: What runs in the rollback when this stage was started, and the variables it runs with; Fairway's own.
    on_rollback: str | tuple[str, ...] = ()
    env: dict[str, str] = {}
    options: dict[str, Any] = msgspec.field(name="with", default={})


class Pipeline(Settings, frozen=True):
    """The stages of a deployment, in order."""

    stages: tuple[StageEntry, ...] = ()


class StageOptions(ZeroMeansDefault, frozen=True):
    """What every stage may have in its `with`."""

    id: str = ""
    desc: str = ""
    timeout: Duration | None = None
    skip_on: SkipOn | None = None

    def in_generation(self, _generation: Generation) -> tuple[Self, Problems]:
        """The options with the defaults of a generation, and what that generation asks for and does not find."""
        return self, []


class WaitOptions(StageOptions, frozen=True):
    """WAIT: let some time pass."""

    duration: Duration | None = None

    def in_generation(self, generation: Generation) -> tuple[Self, Problems]:
        if self.duration:
            return self, []
        if generation is Generation.V0:
            return msgspec.structs.replace(self, duration=Duration(minutes=1)), []
        return self, [("duration", f"is missing; expected {Duration.expected}")]


class WaitApprovalOptions(StageOptions, frozen=True):
    """WAIT_APPROVAL: go on when enough people have said yes."""

    approvers: tuple[str, ...] = ()
    #: Groups of the sign-in provider whose members may approve too; Fairway's own.
    groups: tuple[str, ...] = ()
    min_approver_num: int = 1
    #: What becomes of the stage when too few have answered within its timeout; Fairway's own.
    on_timeout: Literal["fail", "approve"] = "fail"

    def problems(self) -> Problems:
        found: Problems = []
        if self.min_approver_num < 1:
            found.append(("minApproverNum", f"is {self.min_approver_num}; expected at least 1"))
        # How many people are in a group is not known here.
        countable = self.approvers and not any(each.startswith(GROUP_OF_OPERATORS) for each in self.operators)
        if countable and len(set(self.approvers)) < self.min_approver_num:
            message = f"asks for {self.min_approver_num} approvals, but only {len(set(self.approvers))} may approve"
            found.append(("minApproverNum", message))
        return found

    def warnings(self) -> Problems:
        if self.operators:
            return []
        return [("approvers", "is missing: any user with a role that allows it may approve; list who may")]

    @property
    def operators(self) -> tuple[str, ...]:
        """Who may approve, people and groups; nobody listed means everybody who may act on the application."""
        return (*self.approvers, *(f"{GROUP_OF_OPERATORS}{group}" for group in self.groups))

    @property
    def approves_on_timeout(self) -> bool:
        """Whether too few answers within the timeout are as good as a yes."""
        return self.on_timeout == "approve"


#: How often a script may be run again.
MOST_RETRIES = 100


class ScriptRunOptions(StageOptions, frozen=True):
    """SCRIPT_RUN: run commands; `onRollback` undoes them."""

    #: One script for the shell.
    run: str = ""
    #: A list of commands; the first that fails ends the stage.
    runs: tuple[str, ...] = ()
    env: dict[str, str] = {}
    on_rollback: str | tuple[str, ...] = ()
    #: What reads the script; Fairway's own.
    shell: str = "/bin/sh"
    #: How often a script that failed is run again; Fairway's own.
    retry: int = 0
    #: What becomes of a script that was ended with the machine it ran on; Fairway's own.
    on_interrupted: Literal["fail", "run-again"] = "fail"
    #: Whether processes that a script leaves running are ended with it; Fairway's own.
    background: Literal["end", "keep"] = "end"

    def problems(self) -> Problems:
        found: Problems = []
        if self.run and self.runs:
            found.append(("runs", "is given beside `run`; write either one script or a list of commands"))
        if not self.commands:
            found.append(("run", "is missing; write the script to run"))
        if not 0 <= self.retry <= MOST_RETRIES:
            found.append(("retry", f"is {self.retry}; expected 0 to {MOST_RETRIES}"))
        return found

    @property
    def commands(self) -> tuple[str, ...]:
        """What runs, in order, whichever way it was written."""
        return (self.run,) if self.run else self.runs

    @property
    def rollback_commands(self) -> tuple[str, ...]:
        """What undoes it, in order."""
        return UndoScript(on_rollback=self.on_rollback).commands


class CustomSyncOptions(StageOptions, frozen=True):
    """CUSTOM_SYNC: deploy with a script of one's own (deprecated; SCRIPT_RUN does it better)."""

    without_effect = {"env": "write the variables under envs"}

    run: str = ""
    envs: dict[str, str] = {}

    def problems(self) -> Problems:
        return [] if self.run else [("run", "is missing; write the script to run")]


class K8sSyncOptions(StageOptions, frozen=True):
    """K8S_SYNC: apply everything at once."""

    add_variant_label_to_selector: bool = False
    prune: bool = False


class K8sPrimaryRolloutOptions(StageOptions, frozen=True):
    """K8S_PRIMARY_ROLLOUT: bring the primary to the new version."""

    suffix: str = "primary"
    create_service: bool = False
    add_variant_label_to_selector: bool = False
    prune: bool = False


class PatchTarget(Settings, frozen=True):
    """Which manifest is patched, and which text inside it."""

    kind: str
    name: str
    document_root: str = ""


class PatchOp(Settings, frozen=True):
    """One change of one field."""

    path: str
    value: str
    op: Literal["yaml-replace"] = "yaml-replace"


class Patch(Settings, frozen=True):
    """How the canary's manifests differ from the primary's."""

    target: PatchTarget
    ops: tuple[PatchOp, ...]


class K8sCanaryRolloutOptions(StageOptions, frozen=True):
    """K8S_CANARY_ROLLOUT: start the new version beside the primary."""

    replicas: Replicas = Replicas(1)
    suffix: str = "canary"
    create_service: bool = False
    patches: tuple[Patch, ...] = ()


class K8sBaselineRolloutOptions(StageOptions, frozen=True):
    """K8S_BASELINE_ROLLOUT: start the old version afresh, to compare the canary with."""

    replicas: Replicas = Replicas(1)
    suffix: str = "baseline"
    create_service: bool = False


class K8sTrafficRoutingOptions(StageOptions, frozen=True):
    """K8S_TRAFFIC_ROUTING: who gets how much traffic."""

    all: Literal["", "primary", "canary", "baseline"] = ""
    #: What canary and baseline leave over, unless it is given.
    primary: Percentage | None = None
    canary: Percentage | None = None
    baseline: Percentage | None = None

    def problems(self) -> Problems:
        given = [share for share in (self.primary, self.canary, self.baseline) if share is not None]
        if self.all:
            return [("all", "is given beside percentages; write either")] if any(given) else []
        if not given:
            return [("", "routes no traffic; write all, or the percentages of primary, canary and baseline")]
        total = sum(given, start=0.0)
        if total > 100 or (self.primary is not None and total != 100):
            return [("", f"routes {total:g} % of the traffic; primary, canary and baseline must make 100 together")]
        return []

    @property
    def shares(self) -> tuple[float, float, float]:
        """Primary, canary, baseline."""
        if self.all:
            return 100.0 * (self.all == "primary"), 100.0 * (self.all == "canary"), 100.0 * (self.all == "baseline")
        canary, baseline = self.canary or 0.0, self.baseline or 0.0
        return 100 - canary - baseline, canary, baseline


class K8sMultiSyncOptions(K8sSyncOptions, frozen=True):
    """K8S_MULTI_SYNC: on the named targets only, or on all."""

    multi_targets: tuple[str, ...] = ()


class K8sMultiPrimaryRolloutOptions(K8sPrimaryRolloutOptions, frozen=True):
    """K8S_MULTI_PRIMARY_ROLLOUT: on the named targets only, or on all."""

    multi_targets: tuple[str, ...] = ()


class K8sMultiCanaryRolloutOptions(K8sCanaryRolloutOptions, frozen=True):
    """K8S_MULTI_CANARY_ROLLOUT: on the named targets only, or on all."""

    multi_targets: tuple[str, ...] = ()


class K8sMultiBaselineRolloutOptions(K8sBaselineRolloutOptions, frozen=True):
    """K8S_MULTI_BASELINE_ROLLOUT: on the named targets only, or on all."""

    multi_targets: tuple[str, ...] = ()


class K8sMultiTrafficRoutingOptions(K8sTrafficRoutingOptions, frozen=True):
    """K8S_MULTI_TRAFFIC_ROUTING: on the named targets only, or on all."""

    multi_targets: tuple[str, ...] = ()


class K8sMultiCleanOptions(StageOptions, frozen=True):
    """K8S_MULTI_CANARY_CLEAN, K8S_MULTI_BASELINE_CLEAN: on the named targets only, or on all."""

    multi_targets: tuple[str, ...] = ()


class TerraformPlanOptions(StageOptions, frozen=True):
    """TERRAFORM_PLAN: show what would change."""

    exit_on_no_changes: bool = False


class PromoteOptions(StageOptions, frozen=True):
    """CLOUDRUN_PROMOTE, LAMBDA_PROMOTE: the share of the new version."""

    percent: Percentage = Percentage(0)


class EcsSyncOptions(StageOptions, frozen=True):
    """ECS_SYNC: replace the service at once."""

    recreate: bool = False


class EcsCanaryRolloutOptions(StageOptions, frozen=True):
    """ECS_CANARY_ROLLOUT: start the new version beside the primary."""

    scale: Percentage = Percentage(0)


class EcsTrafficRoutingOptions(StageOptions, frozen=True):
    """ECS_TRAFFIC_ROUTING: one share is given, the other is the rest."""

    primary: Percentage | None = None
    canary: Percentage | None = None

    def problems(self) -> Problems:
        if self.primary is not None and self.canary is not None and self.primary + self.canary != 100:
            return [("canary", f"and primary make {self.primary + self.canary:g} %; together they must make 100")]
        return []

    @property
    def shares(self) -> tuple[float, float]:
        """Primary, canary; an explicit 0 means 0."""
        if self.primary is not None:
            return self.primary, 100 - self.primary
        return (100 - self.canary, self.canary) if self.canary is not None else (100, 0)


class ProcessCanaryRolloutOptions(StageOptions, frozen=True):
    """PROCESS_CANARY_ROLLOUT: start the new version beside the primary."""

    replicas: Replicas = Replicas(1)


class ProcessTrafficRoutingOptions(EcsTrafficRoutingOptions, frozen=True):
    """PROCESS_TRAFFIC_ROUTING: one share is given, the other is the rest."""

    def problems(self) -> Problems:
        if self.primary is None and self.canary is None:
            return [("canary", "is missing; write the share of the canary, or that of the primary")]
        return super().problems()


def settle_stage(
    index: int, entry: StageEntry, options: StageOptions | dict[str, Any], undo: UndoScript | None = None
) -> StageConfig:
    """The entry with each option in its one place; what stands beside `with` wins over what stands inside."""
    inner = options if isinstance(options, StageOptions) else StageOptions()
    timeout = entry.timeout or inner.timeout or DEFAULT_TIMEOUT
    written = entry.options
    if isinstance(options, WaitApprovalOptions) and options.approves_on_timeout:
        # The plugin ends the stage itself then, and must know when, wherever that is written.
        written = {**written, "timeout": str(timeout)}
    if isinstance(options, WaitOptions) and options.duration and not written.get("duration"):
        # The plugin has no default; v0 has one.
        written = {**written, "duration": str(options.duration)}
    return StageConfig(
        index=index,
        name=entry.name,
        id=entry.id or inner.id,
        desc=entry.desc or inner.desc,
        timeout=timeout,
        skip_on=entry.skip_on or inner.skip_on or SkipOn(),
        options=options,
        written=written,
        undo=undo,
    )
