"""Rules for what agents send to the server, and what it answers (`grpc.service.pipedservice`).

The nouns inside have theirs in `model.py`; what a rule means stands in `rule.py`.
"""

from fairway.rpc.rules.rule import DEFINED, NONEMPTY, POSITIVE, REQUIRED, UNDER_WAY, RuleTable, in_package

AGENT_API_RULES: RuleTable = in_package(
    "grpc.service.pipedservice",
    {
        "ReportPipedMetaResponse": {NONEMPTY: "name"},
        "ReportApplicationSyncStateRequest": {NONEMPTY: "application_id", REQUIRED: "state"},
        "ReportApplicationDeployingStatusRequest": {NONEMPTY: "application_id"},
        "ReportApplicationMostRecentDeploymentRequest": {
            NONEMPTY: "application_id",
            DEFINED: "status",
            REQUIRED: "deployment",
        },
        "GetApplicationMostRecentDeploymentRequest": {NONEMPTY: "application_id", DEFINED: "status"},
        "GetApplicationMostRecentDeploymentResponse": {REQUIRED: "deployment"},
        "GetDeploymentRequest": {NONEMPTY: "id"},
        "GetDeploymentResponse": {REQUIRED: "deployment"},
        "CreateDeploymentRequest": {REQUIRED: "deployment"},
        "ReportDeploymentPlannedRequest": {NONEMPTY: "deployment_id"},
        "ReportDeploymentStatusChangedRequest": {NONEMPTY: "deployment_id", UNDER_WAY: "status"},
        "ReportDeploymentCompletedRequest": {
            NONEMPTY: "deployment_id",
            DEFINED: "status",
            POSITIVE: "completed_at",
        },
        "SaveDeploymentMetadataRequest": {NONEMPTY: "deployment_id"},
        "SaveDeploymentSharedMetadataRequest": {NONEMPTY: "deployment_id"},
        "SaveDeploymentPluginMetadataRequest": {NONEMPTY: "deployment_id plugin_name"},
        "SaveStageMetadataRequest": {NONEMPTY: "deployment_id stage_id"},
        "ReportStageLogsRequest": {NONEMPTY: "deployment_id stage_id"},
        "ReportStageLogsFromLastCheckpointRequest": {NONEMPTY: "deployment_id stage_id"},
        "ReportStageStatusChangedRequest": {
            NONEMPTY: "deployment_id stage_id",
            DEFINED: "status",
            POSITIVE: "completed_at",
        },
        "ReportCommandHandledRequest": {NONEMPTY: "command_id", DEFINED: "status", POSITIVE: "handled_at"},
        "ReportApplicationLiveStateRequest": {REQUIRED: "snapshot"},
        "GetLatestEventRequest": {NONEMPTY: "name"},
        "GetLatestEventResponse": {REQUIRED: "event"},
        "ListEventsRequest": {DEFINED: "order status"},
        "ReportEventStatusesRequest.Event": {NONEMPTY: "id status_description", DEFINED: "status"},
        "GetLatestAnalysisResultRequest": {NONEMPTY: "application_id"},
        "GetLatestAnalysisResultResponse": {REQUIRED: "analysis_result"},
        "PutLatestAnalysisResultRequest": {NONEMPTY: "application_id", REQUIRED: "analysis_result"},
        "CreateDeploymentChainRequest": {REQUIRED: "first_deployment"},
        "InChainDeploymentPlannableRequest": {NONEMPTY: "deployment_id deployment_chain_id"},
        "GetApplicationSharedObjectRequest": {NONEMPTY: "application_id plugin_name key"},
        "PutApplicationSharedObjectRequest": {NONEMPTY: "application_id plugin_name key"},
    },
)
