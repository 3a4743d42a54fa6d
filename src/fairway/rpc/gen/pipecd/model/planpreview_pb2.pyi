from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanPreviewCommandResult(_message.Message):
    __slots__ = ("command_id", "piped_id", "piped_url", "results", "error", "piped_name")
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    PIPED_URL_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PIPED_NAME_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    piped_id: str
    piped_url: str
    results: _containers.RepeatedCompositeFieldContainer[ApplicationPlanPreviewResult]
    error: str
    piped_name: str
    def __init__(self, command_id: _Optional[str] = ..., piped_id: _Optional[str] = ..., piped_url: _Optional[str] = ..., results: _Optional[_Iterable[_Union[ApplicationPlanPreviewResult, _Mapping]]] = ..., error: _Optional[str] = ..., piped_name: _Optional[str] = ...) -> None: ...

class ApplicationPlanPreviewResult(_message.Message):
    __slots__ = ("application_id", "application_name", "application_url", "application_kind", "application_directory", "piped_id", "project_id", "labels", "head_branch", "head_commit", "sync_strategy", "plan_summary", "plan_details", "no_change", "plugin_plan_results", "plugin_names", "error", "created_at")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_NAME_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_URL_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_KIND_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    HEAD_BRANCH_FIELD_NUMBER: _ClassVar[int]
    HEAD_COMMIT_FIELD_NUMBER: _ClassVar[int]
    SYNC_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    PLAN_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PLAN_DETAILS_FIELD_NUMBER: _ClassVar[int]
    NO_CHANGE_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_PLAN_RESULTS_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAMES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    application_name: str
    application_url: str
    application_kind: _common_pb2.ApplicationKind
    application_directory: str
    piped_id: str
    project_id: str
    labels: _containers.ScalarMap[str, str]
    head_branch: str
    head_commit: str
    sync_strategy: _common_pb2.SyncStrategy
    plan_summary: bytes
    plan_details: bytes
    no_change: bool
    plugin_plan_results: _containers.RepeatedCompositeFieldContainer[PluginPlanPreviewResult]
    plugin_names: _containers.RepeatedScalarFieldContainer[str]
    error: str
    created_at: int
    def __init__(self, application_id: _Optional[str] = ..., application_name: _Optional[str] = ..., application_url: _Optional[str] = ..., application_kind: _Optional[_Union[_common_pb2.ApplicationKind, str]] = ..., application_directory: _Optional[str] = ..., piped_id: _Optional[str] = ..., project_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., head_branch: _Optional[str] = ..., head_commit: _Optional[str] = ..., sync_strategy: _Optional[_Union[_common_pb2.SyncStrategy, str]] = ..., plan_summary: _Optional[bytes] = ..., plan_details: _Optional[bytes] = ..., no_change: _Optional[bool] = ..., plugin_plan_results: _Optional[_Iterable[_Union[PluginPlanPreviewResult, _Mapping]]] = ..., plugin_names: _Optional[_Iterable[str]] = ..., error: _Optional[str] = ..., created_at: _Optional[int] = ...) -> None: ...

class PluginPlanPreviewResult(_message.Message):
    __slots__ = ("plugin_name", "deploy_target", "plan_summary", "plan_details", "diff_language")
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGET_FIELD_NUMBER: _ClassVar[int]
    PLAN_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PLAN_DETAILS_FIELD_NUMBER: _ClassVar[int]
    DIFF_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    plugin_name: str
    deploy_target: str
    plan_summary: bytes
    plan_details: bytes
    diff_language: str
    def __init__(self, plugin_name: _Optional[str] = ..., deploy_target: _Optional[str] = ..., plan_summary: _Optional[bytes] = ..., plan_details: _Optional[bytes] = ..., diff_language: _Optional[str] = ...) -> None: ...
