from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ChainStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEPLOYMENT_CHAIN_PENDING: _ClassVar[ChainStatus]
    DEPLOYMENT_CHAIN_RUNNING: _ClassVar[ChainStatus]
    DEPLOYMENT_CHAIN_SUCCESS: _ClassVar[ChainStatus]
    DEPLOYMENT_CHAIN_FAILURE: _ClassVar[ChainStatus]
    DEPLOYMENT_CHAIN_CANCELLED: _ClassVar[ChainStatus]

class ChainBlockStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEPLOYMENT_BLOCK_PENDING: _ClassVar[ChainBlockStatus]
    DEPLOYMENT_BLOCK_RUNNING: _ClassVar[ChainBlockStatus]
    DEPLOYMENT_BLOCK_SUCCESS: _ClassVar[ChainBlockStatus]
    DEPLOYMENT_BLOCK_FAILURE: _ClassVar[ChainBlockStatus]
    DEPLOYMENT_BLOCK_CANCELLED: _ClassVar[ChainBlockStatus]
DEPLOYMENT_CHAIN_PENDING: ChainStatus
DEPLOYMENT_CHAIN_RUNNING: ChainStatus
DEPLOYMENT_CHAIN_SUCCESS: ChainStatus
DEPLOYMENT_CHAIN_FAILURE: ChainStatus
DEPLOYMENT_CHAIN_CANCELLED: ChainStatus
DEPLOYMENT_BLOCK_PENDING: ChainBlockStatus
DEPLOYMENT_BLOCK_RUNNING: ChainBlockStatus
DEPLOYMENT_BLOCK_SUCCESS: ChainBlockStatus
DEPLOYMENT_BLOCK_FAILURE: ChainBlockStatus
DEPLOYMENT_BLOCK_CANCELLED: ChainBlockStatus

class DeploymentChain(_message.Message):
    __slots__ = ("id", "project_id", "status", "blocks", "completed_at", "created_at", "updated_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    project_id: str
    status: ChainStatus
    blocks: _containers.RepeatedCompositeFieldContainer[ChainBlock]
    completed_at: int
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., project_id: _Optional[str] = ..., status: _Optional[_Union[ChainStatus, str]] = ..., blocks: _Optional[_Iterable[_Union[ChainBlock, _Mapping]]] = ..., completed_at: _Optional[int] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class ChainApplicationRef(_message.Message):
    __slots__ = ("application_id", "application_name")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_NAME_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    application_name: str
    def __init__(self, application_id: _Optional[str] = ..., application_name: _Optional[str] = ...) -> None: ...

class ChainDeploymentRef(_message.Message):
    __slots__ = ("deployment_id", "status", "status_reason")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    status: _deployment_pb2.DeploymentStatus
    status_reason: str
    def __init__(self, deployment_id: _Optional[str] = ..., status: _Optional[_Union[_deployment_pb2.DeploymentStatus, str]] = ..., status_reason: _Optional[str] = ...) -> None: ...

class ChainNode(_message.Message):
    __slots__ = ("application_ref", "deployment_ref")
    APPLICATION_REF_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_REF_FIELD_NUMBER: _ClassVar[int]
    application_ref: ChainApplicationRef
    deployment_ref: ChainDeploymentRef
    def __init__(self, application_ref: _Optional[_Union[ChainApplicationRef, _Mapping]] = ..., deployment_ref: _Optional[_Union[ChainDeploymentRef, _Mapping]] = ...) -> None: ...

class ChainBlock(_message.Message):
    __slots__ = ("nodes", "status", "started_at", "completed_at")
    NODES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[ChainNode]
    status: ChainBlockStatus
    started_at: int
    completed_at: int
    def __init__(self, nodes: _Optional[_Iterable[_Union[ChainNode, _Mapping]]] = ..., status: _Optional[_Union[ChainBlockStatus, str]] = ..., started_at: _Optional[int] = ..., completed_at: _Optional[int] = ...) -> None: ...
