from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Project(_message.Message):
    __slots__ = ("id", "desc", "static_admin", "static_admin_disabled", "sso", "rbac", "shared_sso_name", "allow_stray_as_viewer", "rbac_roles", "user_groups", "created_at", "updated_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    DESC_FIELD_NUMBER: _ClassVar[int]
    STATIC_ADMIN_FIELD_NUMBER: _ClassVar[int]
    STATIC_ADMIN_DISABLED_FIELD_NUMBER: _ClassVar[int]
    SSO_FIELD_NUMBER: _ClassVar[int]
    RBAC_FIELD_NUMBER: _ClassVar[int]
    SHARED_SSO_NAME_FIELD_NUMBER: _ClassVar[int]
    ALLOW_STRAY_AS_VIEWER_FIELD_NUMBER: _ClassVar[int]
    RBAC_ROLES_FIELD_NUMBER: _ClassVar[int]
    USER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    desc: str
    static_admin: ProjectStaticUser
    static_admin_disabled: bool
    sso: ProjectSSOConfig
    rbac: ProjectRBACConfig
    shared_sso_name: str
    allow_stray_as_viewer: bool
    rbac_roles: _containers.RepeatedCompositeFieldContainer[ProjectRBACRole]
    user_groups: _containers.RepeatedCompositeFieldContainer[ProjectUserGroup]
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., desc: _Optional[str] = ..., static_admin: _Optional[_Union[ProjectStaticUser, _Mapping]] = ..., static_admin_disabled: _Optional[bool] = ..., sso: _Optional[_Union[ProjectSSOConfig, _Mapping]] = ..., rbac: _Optional[_Union[ProjectRBACConfig, _Mapping]] = ..., shared_sso_name: _Optional[str] = ..., allow_stray_as_viewer: _Optional[bool] = ..., rbac_roles: _Optional[_Iterable[_Union[ProjectRBACRole, _Mapping]]] = ..., user_groups: _Optional[_Iterable[_Union[ProjectUserGroup, _Mapping]]] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class ProjectStaticUser(_message.Message):
    __slots__ = ("username", "password_hash")
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_HASH_FIELD_NUMBER: _ClassVar[int]
    username: str
    password_hash: str
    def __init__(self, username: _Optional[str] = ..., password_hash: _Optional[str] = ...) -> None: ...

class ProjectSSOConfig(_message.Message):
    __slots__ = ("provider", "session_ttl", "github", "google", "oidc")
    class Provider(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        GITHUB: _ClassVar[ProjectSSOConfig.Provider]
        GOOGLE: _ClassVar[ProjectSSOConfig.Provider]
        OIDC: _ClassVar[ProjectSSOConfig.Provider]
    GITHUB: ProjectSSOConfig.Provider
    GOOGLE: ProjectSSOConfig.Provider
    OIDC: ProjectSSOConfig.Provider
    class GitHub(_message.Message):
        __slots__ = ("client_id", "client_secret", "base_url", "upload_url", "proxy_url")
        CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
        CLIENT_SECRET_FIELD_NUMBER: _ClassVar[int]
        BASE_URL_FIELD_NUMBER: _ClassVar[int]
        UPLOAD_URL_FIELD_NUMBER: _ClassVar[int]
        PROXY_URL_FIELD_NUMBER: _ClassVar[int]
        client_id: str
        client_secret: str
        base_url: str
        upload_url: str
        proxy_url: str
        def __init__(self, client_id: _Optional[str] = ..., client_secret: _Optional[str] = ..., base_url: _Optional[str] = ..., upload_url: _Optional[str] = ..., proxy_url: _Optional[str] = ...) -> None: ...
    class Google(_message.Message):
        __slots__ = ("client_id", "client_secret")
        CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
        CLIENT_SECRET_FIELD_NUMBER: _ClassVar[int]
        client_id: str
        client_secret: str
        def __init__(self, client_id: _Optional[str] = ..., client_secret: _Optional[str] = ...) -> None: ...
    class Oidc(_message.Message):
        __slots__ = ("client_id", "client_secret", "issuer", "redirect_uri", "authorization_endpoint", "token_endpoint", "user_info_endpoint", "proxy_url", "scopes", "roles_claim_key", "username_claim_key", "avatar_url_claim_key")
        CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
        CLIENT_SECRET_FIELD_NUMBER: _ClassVar[int]
        ISSUER_FIELD_NUMBER: _ClassVar[int]
        REDIRECT_URI_FIELD_NUMBER: _ClassVar[int]
        AUTHORIZATION_ENDPOINT_FIELD_NUMBER: _ClassVar[int]
        TOKEN_ENDPOINT_FIELD_NUMBER: _ClassVar[int]
        USER_INFO_ENDPOINT_FIELD_NUMBER: _ClassVar[int]
        PROXY_URL_FIELD_NUMBER: _ClassVar[int]
        SCOPES_FIELD_NUMBER: _ClassVar[int]
        ROLES_CLAIM_KEY_FIELD_NUMBER: _ClassVar[int]
        USERNAME_CLAIM_KEY_FIELD_NUMBER: _ClassVar[int]
        AVATAR_URL_CLAIM_KEY_FIELD_NUMBER: _ClassVar[int]
        client_id: str
        client_secret: str
        issuer: str
        redirect_uri: str
        authorization_endpoint: str
        token_endpoint: str
        user_info_endpoint: str
        proxy_url: str
        scopes: _containers.RepeatedScalarFieldContainer[str]
        roles_claim_key: str
        username_claim_key: str
        avatar_url_claim_key: str
        def __init__(self, client_id: _Optional[str] = ..., client_secret: _Optional[str] = ..., issuer: _Optional[str] = ..., redirect_uri: _Optional[str] = ..., authorization_endpoint: _Optional[str] = ..., token_endpoint: _Optional[str] = ..., user_info_endpoint: _Optional[str] = ..., proxy_url: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., roles_claim_key: _Optional[str] = ..., username_claim_key: _Optional[str] = ..., avatar_url_claim_key: _Optional[str] = ...) -> None: ...
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    SESSION_TTL_FIELD_NUMBER: _ClassVar[int]
    GITHUB_FIELD_NUMBER: _ClassVar[int]
    GOOGLE_FIELD_NUMBER: _ClassVar[int]
    OIDC_FIELD_NUMBER: _ClassVar[int]
    provider: ProjectSSOConfig.Provider
    session_ttl: int
    github: ProjectSSOConfig.GitHub
    google: ProjectSSOConfig.Google
    oidc: ProjectSSOConfig.Oidc
    def __init__(self, provider: _Optional[_Union[ProjectSSOConfig.Provider, str]] = ..., session_ttl: _Optional[int] = ..., github: _Optional[_Union[ProjectSSOConfig.GitHub, _Mapping]] = ..., google: _Optional[_Union[ProjectSSOConfig.Google, _Mapping]] = ..., oidc: _Optional[_Union[ProjectSSOConfig.Oidc, _Mapping]] = ...) -> None: ...

class ProjectRBACConfig(_message.Message):
    __slots__ = ("admin", "editor", "viewer")
    ADMIN_FIELD_NUMBER: _ClassVar[int]
    EDITOR_FIELD_NUMBER: _ClassVar[int]
    VIEWER_FIELD_NUMBER: _ClassVar[int]
    admin: str
    editor: str
    viewer: str
    def __init__(self, admin: _Optional[str] = ..., editor: _Optional[str] = ..., viewer: _Optional[str] = ...) -> None: ...

class ProjectUserGroup(_message.Message):
    __slots__ = ("sso_group", "role")
    SSO_GROUP_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    sso_group: str
    role: str
    def __init__(self, sso_group: _Optional[str] = ..., role: _Optional[str] = ...) -> None: ...

class ProjectRBACRole(_message.Message):
    __slots__ = ("name", "policies", "is_builtin")
    NAME_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    IS_BUILTIN_FIELD_NUMBER: _ClassVar[int]
    name: str
    policies: _containers.RepeatedCompositeFieldContainer[ProjectRBACPolicy]
    is_builtin: bool
    def __init__(self, name: _Optional[str] = ..., policies: _Optional[_Iterable[_Union[ProjectRBACPolicy, _Mapping]]] = ..., is_builtin: _Optional[bool] = ...) -> None: ...

class ProjectRBACResource(_message.Message):
    __slots__ = ("type", "labels")
    class ResourceType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ALL: _ClassVar[ProjectRBACResource.ResourceType]
        APPLICATION: _ClassVar[ProjectRBACResource.ResourceType]
        DEPLOYMENT: _ClassVar[ProjectRBACResource.ResourceType]
        EVENT: _ClassVar[ProjectRBACResource.ResourceType]
        PIPED: _ClassVar[ProjectRBACResource.ResourceType]
        DEPLOYMENT_CHAIN: _ClassVar[ProjectRBACResource.ResourceType]
        PROJECT: _ClassVar[ProjectRBACResource.ResourceType]
        API_KEY: _ClassVar[ProjectRBACResource.ResourceType]
        INSIGHT: _ClassVar[ProjectRBACResource.ResourceType]
    ALL: ProjectRBACResource.ResourceType
    APPLICATION: ProjectRBACResource.ResourceType
    DEPLOYMENT: ProjectRBACResource.ResourceType
    EVENT: ProjectRBACResource.ResourceType
    PIPED: ProjectRBACResource.ResourceType
    DEPLOYMENT_CHAIN: ProjectRBACResource.ResourceType
    PROJECT: ProjectRBACResource.ResourceType
    API_KEY: ProjectRBACResource.ResourceType
    INSIGHT: ProjectRBACResource.ResourceType
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    type: ProjectRBACResource.ResourceType
    labels: _containers.ScalarMap[str, str]
    def __init__(self, type: _Optional[_Union[ProjectRBACResource.ResourceType, str]] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ProjectRBACPolicy(_message.Message):
    __slots__ = ("resources", "actions")
    class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ALL: _ClassVar[ProjectRBACPolicy.Action]
        GET: _ClassVar[ProjectRBACPolicy.Action]
        LIST: _ClassVar[ProjectRBACPolicy.Action]
        CREATE: _ClassVar[ProjectRBACPolicy.Action]
        UPDATE: _ClassVar[ProjectRBACPolicy.Action]
        DELETE: _ClassVar[ProjectRBACPolicy.Action]
    ALL: ProjectRBACPolicy.Action
    GET: ProjectRBACPolicy.Action
    LIST: ProjectRBACPolicy.Action
    CREATE: ProjectRBACPolicy.Action
    UPDATE: ProjectRBACPolicy.Action
    DELETE: ProjectRBACPolicy.Action
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[ProjectRBACResource]
    actions: _containers.RepeatedScalarFieldContainer[ProjectRBACPolicy.Action]
    def __init__(self, resources: _Optional[_Iterable[_Union[ProjectRBACResource, _Mapping]]] = ..., actions: _Optional[_Iterable[_Union[ProjectRBACPolicy.Action, str]]] = ...) -> None: ...
