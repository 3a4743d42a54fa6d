"""Rules for what people and CI send to the server, and what it answers (`grpc.service.apiservice`).

The nouns inside have theirs in `model.py`; what a rule means stands in `rule.py`.
"""

from fairway.rpc.rules.rule import (
    AT_LEAST_ONE,
    AT_MOST_50,
    DEFINED,
    KEYS_IN_KEBAB_CASE,
    NONEMPTY,
    NONEMPTY_ENTRIES,
    NOT_NEGATIVE,
    REQUIRED,
    RuleTable,
    in_package,
)

USER_API_RULES: RuleTable = in_package(
    "grpc.service.apiservice",
    {
        "AddApplicationRequest": {NONEMPTY: "name piped_id", REQUIRED: "git_path", DEFINED: "kind"},
        "AddApplicationResponse": {NONEMPTY: "application_id"},
        "SyncApplicationRequest": {NONEMPTY: "application_id"},
        "GetApplicationRequest": {NONEMPTY: "application_id"},
        "GetPipedRequest": {NONEMPTY: "piped_id"},
        "RegisterPipedRequest": {NONEMPTY: "name"},
        "UpdatePipedRequest": {NONEMPTY: "piped_id name"},
        "EnableApplicationRequest": {NONEMPTY: "application_id"},
        "EnableApplicationResponse": {NONEMPTY: "application_id"},
        "DisableApplicationRequest": {NONEMPTY: "application_id"},
        "DisableApplicationResponse": {NONEMPTY: "application_id"},
        "UpdateApplicationRequest": {NONEMPTY: "application_id piped_id", REQUIRED: "git_path"},
        "UpdateApplicationResponse": {NONEMPTY: "application_id"},
        "DeleteApplicationRequest": {NONEMPTY: "application_id"},
        "DeleteApplicationResponse": {NONEMPTY: "application_id"},
        "RenameApplicationConfigFileRequest": {
            AT_LEAST_ONE: "application_ids",
            AT_MOST_50: "application_ids",
            NONEMPTY: "new_filename",
        },
        "UpdateApplicationDeployTargetsRequest": {
            NONEMPTY: "application_id",
            AT_LEAST_ONE: "deploy_targets_by_plugin",
        },
        "GetCommandRequest": {NONEMPTY: "command_id"},
        "EnablePipedRequest": {NONEMPTY: "piped_id"},
        "DisablePipedRequest": {NONEMPTY: "piped_id"},
        "RegisterEventRequest": {
            NONEMPTY: "name data",
            NONEMPTY_ENTRIES: "labels contexts",
            KEYS_IN_KEBAB_CASE: "contexts",
        },
        "RegisterEventResponse": {NONEMPTY: "event_id"},
        "RequestPlanPreviewRequest": {
            NONEMPTY: "repo_remote_url head_branch head_commit base_branch",
            NOT_NEGATIVE: "timeout",
        },
        "EncryptRequest": {NONEMPTY: "plaintext piped_id"},
        "EncryptResponse": {NONEMPTY: "ciphertext"},
        "ListStageLogsRequest": {NONEMPTY: "deployment_id"},
    },
)
