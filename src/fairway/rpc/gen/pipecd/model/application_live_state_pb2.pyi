from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApplicationLiveStateSnapshot(_message.Message):
    __slots__ = ("application_id", "piped_id", "project_id", "kind", "health_status", "kubernetes", "terraform", "cloudrun", "ecs", "version", "application_live_state")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ApplicationLiveStateSnapshot.Status]
        HEALTHY: _ClassVar[ApplicationLiveStateSnapshot.Status]
        OTHER: _ClassVar[ApplicationLiveStateSnapshot.Status]
        UNHEALTHY: _ClassVar[ApplicationLiveStateSnapshot.Status]
    UNKNOWN: ApplicationLiveStateSnapshot.Status
    HEALTHY: ApplicationLiveStateSnapshot.Status
    OTHER: ApplicationLiveStateSnapshot.Status
    UNHEALTHY: ApplicationLiveStateSnapshot.Status
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    KUBERNETES_FIELD_NUMBER: _ClassVar[int]
    TERRAFORM_FIELD_NUMBER: _ClassVar[int]
    CLOUDRUN_FIELD_NUMBER: _ClassVar[int]
    LAMBDA_FIELD_NUMBER: _ClassVar[int]
    ECS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_LIVE_STATE_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    piped_id: str
    project_id: str
    kind: _common_pb2.ApplicationKind
    health_status: ApplicationLiveStateSnapshot.Status
    kubernetes: KubernetesApplicationLiveState
    terraform: TerraformApplicationLiveState
    cloudrun: CloudRunApplicationLiveState
    ecs: ECSApplicationLiveState
    version: ApplicationLiveStateVersion
    application_live_state: ApplicationLiveState
    def __init__(self, application_id: _Optional[str] = ..., piped_id: _Optional[str] = ..., project_id: _Optional[str] = ..., kind: _Optional[_Union[_common_pb2.ApplicationKind, str]] = ..., health_status: _Optional[_Union[ApplicationLiveStateSnapshot.Status, str]] = ..., kubernetes: _Optional[_Union[KubernetesApplicationLiveState, _Mapping]] = ..., terraform: _Optional[_Union[TerraformApplicationLiveState, _Mapping]] = ..., cloudrun: _Optional[_Union[CloudRunApplicationLiveState, _Mapping]] = ..., ecs: _Optional[_Union[ECSApplicationLiveState, _Mapping]] = ..., version: _Optional[_Union[ApplicationLiveStateVersion, _Mapping]] = ..., application_live_state: _Optional[_Union[ApplicationLiveState, _Mapping]] = ..., **kwargs) -> None: ...

class ApplicationLiveStateVersion(_message.Message):
    __slots__ = ("timestamp", "index")
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    timestamp: int
    index: int
    def __init__(self, timestamp: _Optional[int] = ..., index: _Optional[int] = ...) -> None: ...

class KubernetesApplicationLiveState(_message.Message):
    __slots__ = ("resources",)
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[KubernetesResourceState]
    def __init__(self, resources: _Optional[_Iterable[_Union[KubernetesResourceState, _Mapping]]] = ...) -> None: ...

class TerraformApplicationLiveState(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CloudRunApplicationLiveState(_message.Message):
    __slots__ = ("resources",)
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[CloudRunResourceState]
    def __init__(self, resources: _Optional[_Iterable[_Union[CloudRunResourceState, _Mapping]]] = ...) -> None: ...

class ECSApplicationLiveState(_message.Message):
    __slots__ = ("resources",)
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[ECSResourceState]
    def __init__(self, resources: _Optional[_Iterable[_Union[ECSResourceState, _Mapping]]] = ...) -> None: ...

class LambdaApplicationLiveState(_message.Message):
    __slots__ = ("resources",)
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[LambdaResourceState]
    def __init__(self, resources: _Optional[_Iterable[_Union[LambdaResourceState, _Mapping]]] = ...) -> None: ...

class ApplicationLiveState(_message.Message):
    __slots__ = ("resources", "health_status")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ApplicationLiveState.Status]
        HEALTHY: _ClassVar[ApplicationLiveState.Status]
        OTHER: _ClassVar[ApplicationLiveState.Status]
    UNKNOWN: ApplicationLiveState.Status
    HEALTHY: ApplicationLiveState.Status
    OTHER: ApplicationLiveState.Status
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[ResourceState]
    health_status: ApplicationLiveState.Status
    def __init__(self, resources: _Optional[_Iterable[_Union[ResourceState, _Mapping]]] = ..., health_status: _Optional[_Union[ApplicationLiveState.Status, str]] = ...) -> None: ...

class ResourceState(_message.Message):
    __slots__ = ("id", "parent_ids", "name", "resource_type", "resource_metadata", "health_status", "health_description", "deploy_target", "plugin_name", "created_at", "updated_at")
    class HealthStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ResourceState.HealthStatus]
        HEALTHY: _ClassVar[ResourceState.HealthStatus]
        UNHEALTHY: _ClassVar[ResourceState.HealthStatus]
    UNKNOWN: ResourceState.HealthStatus
    HEALTHY: ResourceState.HealthStatus
    UNHEALTHY: ResourceState.HealthStatus
    class ResourceMetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_TYPE_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_METADATA_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGET_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    name: str
    resource_type: str
    resource_metadata: _containers.ScalarMap[str, str]
    health_status: ResourceState.HealthStatus
    health_description: str
    deploy_target: str
    plugin_name: str
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., parent_ids: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., resource_type: _Optional[str] = ..., resource_metadata: _Optional[_Mapping[str, str]] = ..., health_status: _Optional[_Union[ResourceState.HealthStatus, str]] = ..., health_description: _Optional[str] = ..., deploy_target: _Optional[str] = ..., plugin_name: _Optional[str] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class KubernetesResourceState(_message.Message):
    __slots__ = ("id", "owner_ids", "parent_ids", "name", "api_version", "kind", "namespace", "health_status", "health_description", "created_at", "updated_at")
    class HealthStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[KubernetesResourceState.HealthStatus]
        HEALTHY: _ClassVar[KubernetesResourceState.HealthStatus]
        OTHER: _ClassVar[KubernetesResourceState.HealthStatus]
    UNKNOWN: KubernetesResourceState.HealthStatus
    HEALTHY: KubernetesResourceState.HealthStatus
    OTHER: KubernetesResourceState.HealthStatus
    ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_IDS_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    API_VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    owner_ids: _containers.RepeatedScalarFieldContainer[str]
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    name: str
    api_version: str
    kind: str
    namespace: str
    health_status: KubernetesResourceState.HealthStatus
    health_description: str
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., owner_ids: _Optional[_Iterable[str]] = ..., parent_ids: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., api_version: _Optional[str] = ..., kind: _Optional[str] = ..., namespace: _Optional[str] = ..., health_status: _Optional[_Union[KubernetesResourceState.HealthStatus, str]] = ..., health_description: _Optional[str] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class KubernetesResourceStateEvent(_message.Message):
    __slots__ = ("id", "application_id", "type", "state", "snapshot_version", "created_at")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ADD_OR_UPDATED: _ClassVar[KubernetesResourceStateEvent.Type]
        DELETED: _ClassVar[KubernetesResourceStateEvent.Type]
    ADD_OR_UPDATED: KubernetesResourceStateEvent.Type
    DELETED: KubernetesResourceStateEvent.Type
    ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_VERSION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    application_id: str
    type: KubernetesResourceStateEvent.Type
    state: KubernetesResourceState
    snapshot_version: ApplicationLiveStateVersion
    created_at: int
    def __init__(self, id: _Optional[str] = ..., application_id: _Optional[str] = ..., type: _Optional[_Union[KubernetesResourceStateEvent.Type, str]] = ..., state: _Optional[_Union[KubernetesResourceState, _Mapping]] = ..., snapshot_version: _Optional[_Union[ApplicationLiveStateVersion, _Mapping]] = ..., created_at: _Optional[int] = ...) -> None: ...

class CloudRunResourceState(_message.Message):
    __slots__ = ("id", "owner_ids", "parent_ids", "name", "api_version", "kind", "namespace", "health_status", "health_description", "created_at", "updated_at")
    class HealthStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[CloudRunResourceState.HealthStatus]
        HEALTHY: _ClassVar[CloudRunResourceState.HealthStatus]
        OTHER: _ClassVar[CloudRunResourceState.HealthStatus]
    UNKNOWN: CloudRunResourceState.HealthStatus
    HEALTHY: CloudRunResourceState.HealthStatus
    OTHER: CloudRunResourceState.HealthStatus
    ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_IDS_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    API_VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    owner_ids: _containers.RepeatedScalarFieldContainer[str]
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    name: str
    api_version: str
    kind: str
    namespace: str
    health_status: CloudRunResourceState.HealthStatus
    health_description: str
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., owner_ids: _Optional[_Iterable[str]] = ..., parent_ids: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., api_version: _Optional[str] = ..., kind: _Optional[str] = ..., namespace: _Optional[str] = ..., health_status: _Optional[_Union[CloudRunResourceState.HealthStatus, str]] = ..., health_description: _Optional[str] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class ECSResourceState(_message.Message):
    __slots__ = ("id", "owner_ids", "parent_ids", "name", "kind", "health_status", "health_description", "created_at", "updated_at")
    class HealthStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ECSResourceState.HealthStatus]
        HEALTHY: _ClassVar[ECSResourceState.HealthStatus]
        OTHER: _ClassVar[ECSResourceState.HealthStatus]
    UNKNOWN: ECSResourceState.HealthStatus
    HEALTHY: ECSResourceState.HealthStatus
    OTHER: ECSResourceState.HealthStatus
    ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_IDS_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    owner_ids: _containers.RepeatedScalarFieldContainer[str]
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    name: str
    kind: str
    health_status: ECSResourceState.HealthStatus
    health_description: str
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., owner_ids: _Optional[_Iterable[str]] = ..., parent_ids: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., kind: _Optional[str] = ..., health_status: _Optional[_Union[ECSResourceState.HealthStatus, str]] = ..., health_description: _Optional[str] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class LambdaResourceState(_message.Message):
    __slots__ = ("id", "owner_ids", "parent_ids", "name", "kind", "health_status", "health_description", "created_at", "updated_at")
    class HealthStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[LambdaResourceState.HealthStatus]
        HEALTHY: _ClassVar[LambdaResourceState.HealthStatus]
        OTHER: _ClassVar[LambdaResourceState.HealthStatus]
    UNKNOWN: LambdaResourceState.HealthStatus
    HEALTHY: LambdaResourceState.HealthStatus
    OTHER: LambdaResourceState.HealthStatus
    ID_FIELD_NUMBER: _ClassVar[int]
    OWNER_IDS_FIELD_NUMBER: _ClassVar[int]
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    owner_ids: _containers.RepeatedScalarFieldContainer[str]
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    name: str
    kind: str
    health_status: LambdaResourceState.HealthStatus
    health_description: str
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., owner_ids: _Optional[_Iterable[str]] = ..., parent_ids: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., kind: _Optional[str] = ..., health_status: _Optional[_Union[LambdaResourceState.HealthStatus, str]] = ..., health_description: _Optional[str] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...
