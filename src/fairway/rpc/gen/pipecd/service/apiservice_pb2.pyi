from fairway.rpc.gen.pipecd.model import application_pb2 as _application_pb2
from fairway.rpc.gen.pipecd.model import command_pb2 as _command_pb2
from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from fairway.rpc.gen.pipecd.model import logblock_pb2 as _logblock_pb2
from fairway.rpc.gen.pipecd.model import piped_pb2 as _piped_pb2
from fairway.rpc.gen.pipecd.model import planpreview_pb2 as _planpreview_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AddApplicationRequest(_message.Message):
    __slots__ = ("name", "piped_id", "git_path", "kind", "platform_provider", "description", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    GIT_PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    name: str
    piped_id: str
    git_path: _common_pb2.ApplicationGitPath
    kind: _common_pb2.ApplicationKind
    platform_provider: str
    description: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, name: _Optional[str] = ..., piped_id: _Optional[str] = ..., git_path: _Optional[_Union[_common_pb2.ApplicationGitPath, _Mapping]] = ..., kind: _Optional[_Union[_common_pb2.ApplicationKind, str]] = ..., platform_provider: _Optional[str] = ..., description: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class AddApplicationResponse(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class SyncApplicationRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class SyncApplicationResponse(_message.Message):
    __slots__ = ("command_id",)
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    def __init__(self, command_id: _Optional[str] = ...) -> None: ...

class GetApplicationRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class GetApplicationResponse(_message.Message):
    __slots__ = ("application",)
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    application: _application_pb2.Application
    def __init__(self, application: _Optional[_Union[_application_pb2.Application, _Mapping]] = ...) -> None: ...

class ListApplicationsRequest(_message.Message):
    __slots__ = ("name", "kind", "disabled", "labels", "limit", "piped_id", "cursor")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    disabled: bool
    labels: _containers.ScalarMap[str, str]
    limit: int
    piped_id: str
    cursor: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., disabled: _Optional[bool] = ..., labels: _Optional[_Mapping[str, str]] = ..., limit: _Optional[int] = ..., piped_id: _Optional[str] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListApplicationsResponse(_message.Message):
    __slots__ = ("applications", "cursor")
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    applications: _containers.RepeatedCompositeFieldContainer[_application_pb2.Application]
    cursor: str
    def __init__(self, applications: _Optional[_Iterable[_Union[_application_pb2.Application, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class GetPipedRequest(_message.Message):
    __slots__ = ("piped_id",)
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    piped_id: str
    def __init__(self, piped_id: _Optional[str] = ...) -> None: ...

class GetPipedResponse(_message.Message):
    __slots__ = ("piped",)
    PIPED_FIELD_NUMBER: _ClassVar[int]
    piped: _piped_pb2.Piped
    def __init__(self, piped: _Optional[_Union[_piped_pb2.Piped, _Mapping]] = ...) -> None: ...

class RegisterPipedRequest(_message.Message):
    __slots__ = ("name", "desc")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESC_FIELD_NUMBER: _ClassVar[int]
    name: str
    desc: str
    def __init__(self, name: _Optional[str] = ..., desc: _Optional[str] = ...) -> None: ...

class RegisterPipedResponse(_message.Message):
    __slots__ = ("id", "key")
    ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    id: str
    key: str
    def __init__(self, id: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class UpdatePipedRequest(_message.Message):
    __slots__ = ("piped_id", "name", "desc")
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESC_FIELD_NUMBER: _ClassVar[int]
    piped_id: str
    name: str
    desc: str
    def __init__(self, piped_id: _Optional[str] = ..., name: _Optional[str] = ..., desc: _Optional[str] = ...) -> None: ...

class UpdatePipedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class EnableApplicationRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class EnableApplicationResponse(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class DisableApplicationRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class DisableApplicationResponse(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class UpdateApplicationRequest(_message.Message):
    __slots__ = ("application_id", "piped_id", "platform_provider", "git_path")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    GIT_PATH_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    piped_id: str
    platform_provider: str
    git_path: _common_pb2.ApplicationGitPath
    def __init__(self, application_id: _Optional[str] = ..., piped_id: _Optional[str] = ..., platform_provider: _Optional[str] = ..., git_path: _Optional[_Union[_common_pb2.ApplicationGitPath, _Mapping]] = ...) -> None: ...

class UpdateApplicationResponse(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class DeleteApplicationRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class DeleteApplicationResponse(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class RenameApplicationConfigFileRequest(_message.Message):
    __slots__ = ("application_ids", "new_filename")
    APPLICATION_IDS_FIELD_NUMBER: _ClassVar[int]
    NEW_FILENAME_FIELD_NUMBER: _ClassVar[int]
    application_ids: _containers.RepeatedScalarFieldContainer[str]
    new_filename: str
    def __init__(self, application_ids: _Optional[_Iterable[str]] = ..., new_filename: _Optional[str] = ...) -> None: ...

class RenameApplicationConfigFileResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class UpdateApplicationDeployTargetsRequest(_message.Message):
    __slots__ = ("application_id", "deploy_targets_by_plugin")
    class DeployTargetsByPluginEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _deployment_pb2.DeployTargets
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_deployment_pb2.DeployTargets, _Mapping]] = ...) -> None: ...
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGETS_BY_PLUGIN_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    deploy_targets_by_plugin: _containers.MessageMap[str, _deployment_pb2.DeployTargets]
    def __init__(self, application_id: _Optional[str] = ..., deploy_targets_by_plugin: _Optional[_Mapping[str, _deployment_pb2.DeployTargets]] = ...) -> None: ...

class UpdateApplicationDeployTargetsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDeploymentRequest(_message.Message):
    __slots__ = ("deployment_id",)
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    def __init__(self, deployment_id: _Optional[str] = ...) -> None: ...

class GetDeploymentResponse(_message.Message):
    __slots__ = ("deployment",)
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ...) -> None: ...

class ListDeploymentsRequest(_message.Message):
    __slots__ = ("statuses", "kinds", "application_ids", "application_name", "labels", "limit", "cursor")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_IDS_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    statuses: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    application_ids: _containers.RepeatedScalarFieldContainer[str]
    application_name: str
    labels: _containers.ScalarMap[str, str]
    limit: int
    cursor: str
    def __init__(self, statuses: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., application_ids: _Optional[_Iterable[str]] = ..., application_name: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class ListDeploymentsResponse(_message.Message):
    __slots__ = ("deployments", "cursor")
    DEPLOYMENTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    deployments: _containers.RepeatedCompositeFieldContainer[_deployment_pb2.Deployment]
    cursor: str
    def __init__(self, deployments: _Optional[_Iterable[_Union[_deployment_pb2.Deployment, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class GetCommandRequest(_message.Message):
    __slots__ = ("command_id",)
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    def __init__(self, command_id: _Optional[str] = ...) -> None: ...

class GetCommandResponse(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _command_pb2.Command
    def __init__(self, command: _Optional[_Union[_command_pb2.Command, _Mapping]] = ...) -> None: ...

class EnablePipedRequest(_message.Message):
    __slots__ = ("piped_id",)
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    piped_id: str
    def __init__(self, piped_id: _Optional[str] = ...) -> None: ...

class EnablePipedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DisablePipedRequest(_message.Message):
    __slots__ = ("piped_id",)
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    piped_id: str
    def __init__(self, piped_id: _Optional[str] = ...) -> None: ...

class DisablePipedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RegisterEventRequest(_message.Message):
    __slots__ = ("name", "data", "labels", "contexts", "commit_hash", "commit_url", "commit_title", "commit_message", "commit_author", "commit_timestamp")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ContextsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    COMMIT_URL_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TITLE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_AUTHOR_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    name: str
    data: str
    labels: _containers.ScalarMap[str, str]
    contexts: _containers.ScalarMap[str, str]
    commit_hash: str
    commit_url: str
    commit_title: str
    commit_message: str
    commit_author: str
    commit_timestamp: int
    def __init__(self, name: _Optional[str] = ..., data: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., contexts: _Optional[_Mapping[str, str]] = ..., commit_hash: _Optional[str] = ..., commit_url: _Optional[str] = ..., commit_title: _Optional[str] = ..., commit_message: _Optional[str] = ..., commit_author: _Optional[str] = ..., commit_timestamp: _Optional[int] = ...) -> None: ...

class RegisterEventResponse(_message.Message):
    __slots__ = ("event_id",)
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    def __init__(self, event_id: _Optional[str] = ...) -> None: ...

class RequestPlanPreviewRequest(_message.Message):
    __slots__ = ("repo_remote_url", "head_branch", "head_commit", "base_branch", "timeout")
    REPO_REMOTE_URL_FIELD_NUMBER: _ClassVar[int]
    HEAD_BRANCH_FIELD_NUMBER: _ClassVar[int]
    HEAD_COMMIT_FIELD_NUMBER: _ClassVar[int]
    BASE_BRANCH_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    repo_remote_url: str
    head_branch: str
    head_commit: str
    base_branch: str
    timeout: int
    def __init__(self, repo_remote_url: _Optional[str] = ..., head_branch: _Optional[str] = ..., head_commit: _Optional[str] = ..., base_branch: _Optional[str] = ..., timeout: _Optional[int] = ...) -> None: ...

class RequestPlanPreviewResponse(_message.Message):
    __slots__ = ("commands",)
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, commands: _Optional[_Iterable[str]] = ...) -> None: ...

class GetPlanPreviewResultsRequest(_message.Message):
    __slots__ = ("commands", "command_handle_timeout")
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_HANDLE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedScalarFieldContainer[str]
    command_handle_timeout: int
    def __init__(self, commands: _Optional[_Iterable[str]] = ..., command_handle_timeout: _Optional[int] = ...) -> None: ...

class GetPlanPreviewResultsResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[_planpreview_pb2.PlanPreviewCommandResult]
    def __init__(self, results: _Optional[_Iterable[_Union[_planpreview_pb2.PlanPreviewCommandResult, _Mapping]]] = ...) -> None: ...

class EncryptRequest(_message.Message):
    __slots__ = ("plaintext", "piped_id", "base64_encoding")
    PLAINTEXT_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    BASE64_ENCODING_FIELD_NUMBER: _ClassVar[int]
    plaintext: str
    piped_id: str
    base64_encoding: bool
    def __init__(self, plaintext: _Optional[str] = ..., piped_id: _Optional[str] = ..., base64_encoding: _Optional[bool] = ...) -> None: ...

class EncryptResponse(_message.Message):
    __slots__ = ("ciphertext",)
    CIPHERTEXT_FIELD_NUMBER: _ClassVar[int]
    ciphertext: str
    def __init__(self, ciphertext: _Optional[str] = ...) -> None: ...

class StageLog(_message.Message):
    __slots__ = ("blocks", "completed")
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    blocks: _containers.RepeatedCompositeFieldContainer[_logblock_pb2.LogBlock]
    completed: bool
    def __init__(self, blocks: _Optional[_Iterable[_Union[_logblock_pb2.LogBlock, _Mapping]]] = ..., completed: _Optional[bool] = ...) -> None: ...

class ListStageLogsRequest(_message.Message):
    __slots__ = ("deployment_id",)
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    def __init__(self, deployment_id: _Optional[str] = ...) -> None: ...

class ListStageLogsResponse(_message.Message):
    __slots__ = ("stage_logs",)
    class StageLogsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: StageLog
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[StageLog, _Mapping]] = ...) -> None: ...
    STAGE_LOGS_FIELD_NUMBER: _ClassVar[int]
    stage_logs: _containers.MessageMap[str, StageLog]
    def __init__(self, stage_logs: _Optional[_Mapping[str, StageLog]] = ...) -> None: ...
