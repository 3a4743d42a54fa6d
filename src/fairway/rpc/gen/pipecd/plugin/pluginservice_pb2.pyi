from fairway.rpc.gen.pipecd.model import command_pb2 as _command_pb2
from fairway.rpc.gen.pipecd.model import logblock_pb2 as _logblock_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecryptSecretRequest(_message.Message):
    __slots__ = ("secret",)
    SECRET_FIELD_NUMBER: _ClassVar[int]
    secret: str
    def __init__(self, secret: _Optional[str] = ...) -> None: ...

class DecryptSecretResponse(_message.Message):
    __slots__ = ("decrypted_secret",)
    DECRYPTED_SECRET_FIELD_NUMBER: _ClassVar[int]
    decrypted_secret: str
    def __init__(self, decrypted_secret: _Optional[str] = ...) -> None: ...

class InstallToolRequest(_message.Message):
    __slots__ = ("name", "version", "install_script")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INSTALL_SCRIPT_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    install_script: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., install_script: _Optional[str] = ...) -> None: ...

class InstallToolResponse(_message.Message):
    __slots__ = ("installed_path",)
    INSTALLED_PATH_FIELD_NUMBER: _ClassVar[int]
    installed_path: str
    def __init__(self, installed_path: _Optional[str] = ...) -> None: ...

class ReportStageLogsRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "retried_count", "blocks")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    retried_count: int
    blocks: _containers.RepeatedCompositeFieldContainer[_logblock_pb2.LogBlock]
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., retried_count: _Optional[int] = ..., blocks: _Optional[_Iterable[_Union[_logblock_pb2.LogBlock, _Mapping]]] = ...) -> None: ...

class ReportStageLogsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportStageLogsFromLastCheckpointRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "retried_count", "blocks", "completed")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    retried_count: int
    blocks: _containers.RepeatedCompositeFieldContainer[_logblock_pb2.LogBlock]
    completed: bool
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., retried_count: _Optional[int] = ..., blocks: _Optional[_Iterable[_Union[_logblock_pb2.LogBlock, _Mapping]]] = ..., completed: _Optional[bool] = ...) -> None: ...

class ReportStageLogsFromLastCheckpointResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetStageMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "key")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    key: str
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class GetStageMetadataResponse(_message.Message):
    __slots__ = ("value", "found")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    value: str
    found: bool
    def __init__(self, value: _Optional[str] = ..., found: _Optional[bool] = ...) -> None: ...

class PutStageMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "key", "value")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    key: str
    value: str
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class PutStageMetadataResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutStageMetadataMultiRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PutStageMetadataMultiResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDeploymentPluginMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "plugin_name", "key")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    plugin_name: str
    key: str
    def __init__(self, deployment_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class GetDeploymentPluginMetadataResponse(_message.Message):
    __slots__ = ("value", "found")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    value: str
    found: bool
    def __init__(self, value: _Optional[str] = ..., found: _Optional[bool] = ...) -> None: ...

class PutDeploymentPluginMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "plugin_name", "key", "value")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    plugin_name: str
    key: str
    value: str
    def __init__(self, deployment_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class PutDeploymentPluginMetadataResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutDeploymentPluginMetadataMultiRequest(_message.Message):
    __slots__ = ("deployment_id", "plugin_name", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    plugin_name: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, deployment_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PutDeploymentPluginMetadataMultiResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDeploymentSharedMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "key")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    key: str
    def __init__(self, deployment_id: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class GetDeploymentSharedMetadataResponse(_message.Message):
    __slots__ = ("value", "found")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    value: str
    found: bool
    def __init__(self, value: _Optional[str] = ..., found: _Optional[bool] = ...) -> None: ...

class ListStageCommandsRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ...) -> None: ...

class ListStageCommandsResponse(_message.Message):
    __slots__ = ("commands",)
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedCompositeFieldContainer[_command_pb2.Command]
    def __init__(self, commands: _Optional[_Iterable[_Union[_command_pb2.Command, _Mapping]]] = ...) -> None: ...

class GetApplicationSharedObjectRequest(_message.Message):
    __slots__ = ("application_id", "plugin_name", "key")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    plugin_name: str
    key: str
    def __init__(self, application_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class GetApplicationSharedObjectResponse(_message.Message):
    __slots__ = ("object",)
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    object: bytes
    def __init__(self, object: _Optional[bytes] = ...) -> None: ...

class PutApplicationSharedObjectRequest(_message.Message):
    __slots__ = ("application_id", "plugin_name", "key", "object")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    plugin_name: str
    key: str
    object: bytes
    def __init__(self, application_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., key: _Optional[str] = ..., object: _Optional[bytes] = ...) -> None: ...

class PutApplicationSharedObjectResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
