from fairway.rpc.gen.pipecd.plugin import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetPlanPreviewRequest(_message.Message):
    __slots__ = ("application_id", "deploy_targets", "target_deployment_source", "running_deployment_source", "application_name", "piped_id")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGETS_FIELD_NUMBER: _ClassVar[int]
    TARGET_DEPLOYMENT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    RUNNING_DEPLOYMENT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_NAME_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    deploy_targets: _containers.RepeatedScalarFieldContainer[str]
    target_deployment_source: _common_pb2.DeploymentSource
    running_deployment_source: _common_pb2.DeploymentSource
    application_name: str
    piped_id: str
    def __init__(self, application_id: _Optional[str] = ..., deploy_targets: _Optional[_Iterable[str]] = ..., target_deployment_source: _Optional[_Union[_common_pb2.DeploymentSource, _Mapping]] = ..., running_deployment_source: _Optional[_Union[_common_pb2.DeploymentSource, _Mapping]] = ..., application_name: _Optional[str] = ..., piped_id: _Optional[str] = ...) -> None: ...

class GetPlanPreviewResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[PlanPreviewResult]
    def __init__(self, results: _Optional[_Iterable[_Union[PlanPreviewResult, _Mapping]]] = ...) -> None: ...

class PlanPreviewResult(_message.Message):
    __slots__ = ("deploy_target", "summary", "no_change", "details", "diff_language")
    DEPLOY_TARGET_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    NO_CHANGE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    DIFF_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    deploy_target: str
    summary: str
    no_change: bool
    details: bytes
    diff_language: str
    def __init__(self, deploy_target: _Optional[str] = ..., summary: _Optional[str] = ..., no_change: _Optional[bool] = ..., details: _Optional[bytes] = ..., diff_language: _Optional[str] = ...) -> None: ...
