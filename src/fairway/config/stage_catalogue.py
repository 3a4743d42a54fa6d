"""Every stage that Fairway knows by name: which plugin owns it, what it may be told, who may write it.

A v1 pipeline may name stages of any plugin; those that are not here are left to their plugin. In v0 every stage is
known, and a stage of another platform is a mistake.
"""

from typing import Final

import msgspec

from fairway.config import stages
from fairway.config.analysis import AnalysisOptions
from fairway.config.stages import StageOptions

#: Plugins whose stages fit into every application.
EVERYWHERE: Final = frozenset({"wait", "waitapproval", "analysis", "scriptrun", "customsync"})


class KnownStage(msgspec.Struct, frozen=True):
    """What is known of a stage before anything runs."""

    plugin: str
    options: type[StageOptions] = StageOptions
    #: Which generations' files may name it; the rest are made by the planner.
    in_v0: bool = True
    in_v1: bool = True


STAGES: Final[dict[str, KnownStage]] = {
    "WAIT": KnownStage("wait", stages.WaitOptions),
    "WAIT_APPROVAL": KnownStage("waitapproval", stages.WaitApprovalOptions),
    "ANALYSIS": KnownStage("analysis", AnalysisOptions),
    "SCRIPT_RUN": KnownStage("scriptrun", stages.ScriptRunOptions),
    "CUSTOM_SYNC": KnownStage("customsync", stages.CustomSyncOptions),
    "K8S_SYNC": KnownStage("kubernetes", stages.K8sSyncOptions, in_v0=False),
    "K8S_PRIMARY_ROLLOUT": KnownStage("kubernetes", stages.K8sPrimaryRolloutOptions),
    "K8S_CANARY_ROLLOUT": KnownStage("kubernetes", stages.K8sCanaryRolloutOptions),
    "K8S_CANARY_CLEAN": KnownStage("kubernetes"),
    "K8S_BASELINE_ROLLOUT": KnownStage("kubernetes", stages.K8sBaselineRolloutOptions),
    "K8S_BASELINE_CLEAN": KnownStage("kubernetes"),
    "K8S_TRAFFIC_ROUTING": KnownStage("kubernetes", stages.K8sTrafficRoutingOptions),
    "K8S_MULTI_SYNC": KnownStage("kubernetes_multicluster", stages.K8sMultiSyncOptions, in_v0=False),
    "K8S_MULTI_PRIMARY_ROLLOUT": KnownStage(
        "kubernetes_multicluster", stages.K8sMultiPrimaryRolloutOptions, in_v0=False
    ),
    "K8S_MULTI_CANARY_ROLLOUT": KnownStage("kubernetes_multicluster", stages.K8sMultiCanaryRolloutOptions, in_v0=False),
    "K8S_MULTI_CANARY_CLEAN": KnownStage("kubernetes_multicluster", stages.K8sMultiCleanOptions, in_v0=False),
    "K8S_MULTI_BASELINE_ROLLOUT": KnownStage(
        "kubernetes_multicluster", stages.K8sMultiBaselineRolloutOptions, in_v0=False
    ),
    "K8S_MULTI_BASELINE_CLEAN": KnownStage("kubernetes_multicluster", stages.K8sMultiCleanOptions, in_v0=False),
    "K8S_MULTI_TRAFFIC_ROUTING": KnownStage(
        "kubernetes_multicluster", stages.K8sMultiTrafficRoutingOptions, in_v0=False
    ),
    "TERRAFORM_SYNC": KnownStage("terraform", in_v1=False),
    "TERRAFORM_PLAN": KnownStage("terraform", stages.TerraformPlanOptions),
    "TERRAFORM_APPLY": KnownStage("terraform"),
    "CLOUDRUN_SYNC": KnownStage("cloudrun"),
    "CLOUDRUN_PROMOTE": KnownStage("cloudrun", stages.PromoteOptions),
    "LAMBDA_SYNC": KnownStage("lambda"),
    "LAMBDA_CANARY_ROLLOUT": KnownStage("lambda"),
    "LAMBDA_PROMOTE": KnownStage("lambda", stages.PromoteOptions),
    "ECS_SYNC": KnownStage("ecs", stages.EcsSyncOptions),
    "ECS_CANARY_ROLLOUT": KnownStage("ecs", stages.EcsCanaryRolloutOptions),
    "ECS_PRIMARY_ROLLOUT": KnownStage("ecs"),
    "ECS_TRAFFIC_ROUTING": KnownStage("ecs", stages.EcsTrafficRoutingOptions),
    "ECS_CANARY_CLEAN": KnownStage("ecs"),
    "PROCESS_SYNC": KnownStage("process", in_v0=False),
    "PROCESS_CANARY_ROLLOUT": KnownStage("process", stages.ProcessCanaryRolloutOptions, in_v0=False),
    "PROCESS_TRAFFIC_ROUTING": KnownStage("process", stages.ProcessTrafficRoutingOptions, in_v0=False),
    "PROCESS_PRIMARY_ROLLOUT": KnownStage("process", in_v0=False),
    "PROCESS_CANARY_CLEAN": KnownStage("process", in_v0=False),
}

#: Every plugin that has one of them.
PLUGINS: Final = tuple(sorted({known.plugin for known in STAGES.values()}))

#: Stages that only the planner makes.
GENERATED: Final = frozenset(
    {
        "ROLLBACK",
        "CUSTOM_SYNC_ROLLBACK",
        "SCRIPT_RUN_ROLLBACK",
        "K8S_ROLLBACK",
        "K8S_MULTI_ROLLBACK",
        "TERRAFORM_ROLLBACK",
        "ECS_ROLLBACK",
        "PROCESS_ROLLBACK",
    }
)
