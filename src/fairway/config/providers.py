"""The places an agent reaches out to: clusters, clouds, databases, buckets.

v0 writes them as `platformProviders[].config`, v1 as `deployTargets[].config`, the control plane as the configuration
of its stores. They stay plain mappings in the model, because their plugin reads them; here they are only checked.
"""

from typing import Final

import msgspec

from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, SettingsTypes, ZeroMeansDefault


class ResourceKind(Settings, frozen=True):
    """A kind of Kubernetes resource."""

    api_version: str = ""
    kind: str = ""


class AppStateInformer(Settings, frozen=True):
    """Which resources are watched."""

    namespace: str = ""
    include_resources: tuple[ResourceKind, ...] = ()
    exclude_resources: tuple[ResourceKind, ...] = ()


class KubernetesTarget(Settings, frozen=True):
    """A cluster."""

    master_url: str = msgspec.field(name="masterURL", default="")
    kube_config_path: str = ""
    kubectl_version: str = ""
    app_state_informer: AppStateInformer = AppStateInformer()


class TerraformTarget(Settings, frozen=True):
    """A place with variables of its own."""

    vars: tuple[str, ...] = ()
    drift_detection_enabled: bool = True


class CloudRunTarget(Settings, frozen=True):
    """A project and region of Google Cloud."""

    project: str = ""
    region: str = ""
    credentials_file: str = ""


class EcsTarget(Settings, frozen=True):
    """A region of AWS, and who one is there."""

    region: str = ""
    credentials_file: str = ""
    role_arn: str = msgspec.field(name="roleARN", default="")
    token_file: str = ""
    profile: str = ""


class LambdaTarget(EcsTarget, frozen=True):
    """As for ECS, and how often AWS is asked."""

    aws_api_polling_interval: Duration = msgspec.field(name="awsAPIPollingInterval", default=Duration(seconds=15))


class PrometheusProvider(Settings, frozen=True):
    """Where Prometheus answers."""

    address: str
    username_file: str = ""
    password_file: str = ""

    def problems(self) -> Problems:
        return [] if self.address else [("address", "is empty; expected the address of Prometheus")]


class DatadogProvider(ZeroMeansDefault, frozen=True):
    """Where Datadog answers, and the two keys it wants."""

    address: str = "datadoghq.com"
    api_key_file: str = ""
    api_key_data: str = ""
    application_key_file: str = ""
    application_key_data: str = ""

    def problems(self) -> Problems:
        pairs = {"apiKey": (self.api_key_file, self.api_key_data)}
        pairs["applicationKey"] = (self.application_key_file, self.application_key_data)
        return [
            ("", f"needs exactly one of {name}File and {name}Data")
            for name, (file, data) in pairs.items()
            if bool(file) == bool(data)
        ]


class StackdriverProvider(Settings, frozen=True):
    """Google's metrics."""

    service_account_file: str = ""


class FirestoreConfig(Settings, frozen=True):
    """Google's document store."""

    namespace: str = ""
    environment: str = ""
    collection_name_prefix: str = ""
    project: str = ""
    credentials_file: str = ""


class MysqlConfig(Settings, frozen=True):
    """A MySQL server."""

    url: str = ""
    database: str = ""
    username_file: str = ""
    password_file: str = ""


class GcsConfig(Settings, frozen=True):
    """A bucket of Google Cloud."""

    bucket: str = ""
    credentials_file: str = ""


class S3Config(Settings, frozen=True):
    """A bucket of AWS."""

    bucket: str = ""
    region: str = ""
    profile: str = ""
    credentials_file: str = ""
    role_arn: str = msgspec.field(name="roleARN", default="")
    token_file: str = ""


class MinioConfig(Settings, frozen=True):
    """A bucket of MinIO."""

    endpoint: str = ""
    bucket: str = ""
    access_key_file: str = ""
    secret_key_file: str = ""
    auto_create_bucket: bool = False


DEPLOY_TARGETS: Final[SettingsTypes] = {
    "kubernetes": KubernetesTarget,
    "terraform": TerraformTarget,
    "cloudrun": CloudRunTarget,
    "lambda": LambdaTarget,
    "ecs": EcsTarget,
}
ANALYSIS_PROVIDERS: Final[SettingsTypes] = {
    "PROMETHEUS": PrometheusProvider,
    "DATADOG": DatadogProvider,
    "STACKDRIVER": StackdriverProvider,
}
DATASTORES: Final[SettingsTypes] = {"FIRESTORE": FirestoreConfig, "MYSQL": MysqlConfig}
FILESTORES: Final[SettingsTypes] = {"GCS": GcsConfig, "S3": S3Config, "MINIO": MinioConfig}
