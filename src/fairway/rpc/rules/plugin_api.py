"""Rules for what agent and plugins send each other (`grpc.plugin.*`, `grpc.piped.service`).

Live state and plan preview have none of their own. What a rule means stands in `rule.py`.
"""

from fairway.rpc.rules.rule import NONEMPTY, NOT_NEGATIVE, REQUIRED, RuleTable, in_package

PLUGIN_API_RULES: RuleTable = in_package(
    "grpc.plugin.deploymentapi.v1alpha1",
    {
        "DetermineVersionsRequest": {REQUIRED: "input"},
        "DetermineStrategyRequest": {REQUIRED: "input"},
        "BuildPipelineSyncStagesRequest.StageConfig": {NONEMPTY: "name", NOT_NEGATIVE: "index"},
        "ExecuteStageRequest": {REQUIRED: "input"},
        "PlanPluginInput": {REQUIRED: "deployment"},
        "ExecutePluginInput": {REQUIRED: "deployment stage"},
    },
) | in_package(
    "grpc.piped.service",
    {
        "DecryptSecretRequest": {NONEMPTY: "secret"},
        "InstallToolRequest": {NONEMPTY: "name version install_script"},
        "ReportStageLogsRequest": {NONEMPTY: "deployment_id stage_id"},
        "ReportStageLogsFromLastCheckpointRequest": {NONEMPTY: "deployment_id stage_id"},
        "GetStageMetadataRequest": {NONEMPTY: "deployment_id stage_id key"},
        "PutStageMetadataRequest": {NONEMPTY: "deployment_id stage_id key"},
        "PutStageMetadataMultiRequest": {NONEMPTY: "deployment_id stage_id"},
        "GetDeploymentPluginMetadataRequest": {NONEMPTY: "deployment_id key"},
        "PutDeploymentPluginMetadataRequest": {NONEMPTY: "deployment_id plugin_name key"},
        "PutDeploymentPluginMetadataMultiRequest": {NONEMPTY: "deployment_id plugin_name"},
        "GetDeploymentSharedMetadataRequest": {NONEMPTY: "deployment_id key"},
        "ListStageCommandsRequest": {NONEMPTY: "deployment_id stage_id"},
        "GetApplicationSharedObjectRequest": {NONEMPTY: "application_id plugin_name key"},
        "PutApplicationSharedObjectRequest": {NONEMPTY: "application_id plugin_name key"},
    },
)
