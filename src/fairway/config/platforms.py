"""What each platform's plugin is told by an application, and which stages it owns.

A v0 kind holds these fields in its spec, a v1 application under `plugins.<name>`; Terraform alone changed its shape
between the two (`input` is gone in v1).
"""

from typing import Literal

from fairway.config.scalars import Duration
from fairway.config.settings import Problems, Settings, ZeroMeansDefault


class HelmChart(Settings, frozen=True):
    """Where the chart comes from: a path, a Git remote or a chart repository."""

    git_remote: str = ""
    ref: str = ""
    path: str = ""
    repository: str = ""
    name: str = ""
    version: str = ""


class HelmOptions(Settings, frozen=True):
    """How the chart is rendered."""

    release_name: str = ""
    set_values: dict[str, str] = {}
    value_files: tuple[str, ...] = ()
    set_files: dict[str, str] = {}
    api_versions: tuple[str, ...] = ()
    kube_version: str = ""


class TargetSelector(Settings, frozen=True):
    """Deploy targets, by name or labels."""

    name: str = ""
    labels: dict[str, str] = {}


class MultiTarget(Settings, frozen=True):
    """What one of several clusters gets (v1, multi-cluster)."""

    target: TargetSelector
    manifests: tuple[str, ...] = ()
    kubectl_version: str = ""
    kustomize_dir: str = ""
    kustomize_version: str = ""
    kustomize_options: dict[str, str] = {}


class KubernetesInput(Settings, frozen=True):
    """Manifests and how they are made."""

    manifests: tuple[str, ...] = ()
    kubectl_version: str = ""
    kustomize_version: str = ""
    kustomize_options: dict[str, str] = {}
    helm_version: str = ""
    helm_chart: HelmChart | None = None
    helm_options: HelmOptions | None = None
    namespace: str = ""
    #: v0's switch; v1 has `planner.autoRollback`.
    auto_rollback: bool | None = None
    auto_create_namespace: bool = False
    multi_targets: tuple[MultiTarget, ...] = ()


class ResourceReference(Settings, frozen=True):
    """A manifest by kind and name."""

    kind: str = ""
    name: str = ""


class IstioRouting(Settings, frozen=True):
    """Which VirtualService splits the traffic."""

    editable_routes: tuple[str, ...] = ()
    host: str = ""
    virtual_service: ResourceReference = ResourceReference()


class TrafficRouting(ZeroMeansDefault, frozen=True):
    """How traffic reaches primary, canary and baseline."""

    method: Literal["", "podselector", "istio", "smi"] = "podselector"
    istio: IstioRouting | None = None


class VariantLabel(ZeroMeansDefault, frozen=True):
    """The label that tells primary, canary and baseline apart."""

    key: str = "pipecd.dev/variant"
    primary_value: str = "primary"
    canary_value: str = "canary"
    baseline_value: str = "baseline"

    def problems(self) -> Problems:
        # Whoever takes the canary away takes away what has its label.
        names = {"primaryValue": self.primary_value, "canaryValue": self.canary_value}
        names["baselineValue"] = self.baseline_value
        first: dict[str, str] = {}
        found: Problems = []
        for name, value in names.items():
            if first.setdefault(value, name) != name:
                found.append((name, f"is {value!r}, as {first[value]} is; expected another, to tell them apart"))
        return found


class ResourceRoute(Settings, frozen=True):
    """Which resources go to which platform provider (v0)."""

    provider: TargetSelector
    match: ResourceReference | None = None


class K8sQuickSync(Settings, frozen=True):
    """What a quick sync on Kubernetes may be told."""

    add_variant_label_to_selector: bool = False
    prune: bool = False


class EcsQuickSync(Settings, frozen=True):
    """What a quick sync on ECS may be told."""

    recreate: bool = False


class PlainQuickSync(Settings, frozen=True):
    """A quick sync with nothing to tell."""


class KubernetesSpec(Settings, frozen=True):
    """An application on Kubernetes."""

    input: KubernetesInput = KubernetesInput()
    quick_sync: K8sQuickSync = K8sQuickSync()
    service: ResourceReference = ResourceReference()
    workloads: tuple[ResourceReference, ...] = ()
    traffic_routing: TrafficRouting = TrafficRouting()
    variant_label: VariantLabel = VariantLabel()
    resource_routes: tuple[ResourceRoute, ...] = ()


class CommandFlags(Settings, frozen=True):
    """Further flags for terraform's commands."""

    shared: tuple[str, ...] = ()
    init: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    apply: tuple[str, ...] = ()


class TerraformInput(Settings, frozen=True):
    """How terraform is called."""

    workspace: str = ""
    terraform_version: str = ""
    vars: tuple[str, ...] = ()
    var_files: tuple[str, ...] = ()
    #: v0's switch; off unless asked for, because an apply is hard to take back.
    auto_rollback: bool | None = None
    command_flags: CommandFlags = CommandFlags()
    command_envs: CommandFlags = CommandFlags()


class TerraformSpec(Settings, frozen=True):
    """An application that is infrastructure (v0's shape; v1 has `TerraformInput` directly)."""

    input: TerraformInput = TerraformInput()
    quick_sync: PlainQuickSync = PlainQuickSync()


class CloudRunInput(ZeroMeansDefault, frozen=True):
    """The service's manifest."""

    service_manifest_file: str = "service.yaml"
    auto_rollback: bool | None = None


class CloudRunSpec(Settings, frozen=True):
    """An application on Cloud Run."""

    input: CloudRunInput = CloudRunInput()
    quick_sync: PlainQuickSync = PlainQuickSync()


class LambdaInput(ZeroMeansDefault, frozen=True):
    """The function's manifest."""

    function_manifest_file: str = "function.yaml"
    auto_rollback: bool | None = None


class LambdaSpec(Settings, frozen=True):
    """An application on Lambda."""

    input: LambdaInput = LambdaInput()
    quick_sync: PlainQuickSync = PlainQuickSync()


class VpcConfiguration(Settings, frozen=True):
    """The network of an ECS task."""

    subnets: tuple[str, ...] = ()
    assign_public_ip: str = ""
    security_groups: tuple[str, ...] = ()


class TargetGroup(Settings, frozen=True):
    """One target group of a load balancer."""

    target_group_arn: str = ""
    container_name: str = ""
    container_port: int = 0
    load_balancer_name: str = ""


class TargetGroups(Settings, frozen=True):
    """The target groups of primary and canary."""

    primary: TargetGroup | None = None
    canary: TargetGroup | None = None


class EcsInput(ZeroMeansDefault, frozen=True):
    """Service and task definitions and where they run."""

    cluster_arn: str = ""
    launch_type: str = "FARGATE"
    awsvpc_configuration: VpcConfiguration = VpcConfiguration()
    #: Empty: a standalone task.
    service_definition_file: str = ""
    task_definition_file: str = "taskdef.json"
    target_groups: TargetGroups = TargetGroups()
    auto_rollback: bool | None = None
    #: On by default in v0, off in v1.
    run_standalone_task: bool | None = None
    access_type: str = "ELB"

    def problems(self) -> Problems:
        if self.access_type in {"ELB", "SERVICE_DISCOVERY"}:
            return []
        return [("accessType", f"is {self.access_type!r}; expected ELB or SERVICE_DISCOVERY")]


class EcsSpec(Settings, frozen=True):
    """An application on ECS."""

    input: EcsInput = EcsInput()
    quick_sync: EcsQuickSync = EcsQuickSync()


class ProcessHealth(ZeroMeansDefault, frozen=True):
    """How it is seen that a process is well: it answers GET on `path`, or, without one, takes connections."""

    path: str = ""
    #: How long a new process may take until it is well.
    timeout: Duration = Duration(seconds=10)
    #: How often a process that is well is looked at.
    interval: Duration = Duration(seconds=1)


class ProcessSpec(ZeroMeansDefault, frozen=True):
    """An application that is a number of processes on the agent's host, behind a traffic splitter."""

    #: A line for the shell, or a program and its arguments; runs in the application's directory, listens on $PORT.
    command: str | tuple[str, ...] = ()
    replicas: int = 1
    #: Where the splitter listens.
    port: int = 0
    host: str = "127.0.0.1"
    env: dict[str, str] = {}
    health: ProcessHealth = ProcessHealth()
    #: How long a process may take to end before it is made to.
    stop_timeout: Duration = Duration(seconds=10)

    def problems(self) -> Problems:
        found: Problems = []
        if not self.command:
            found.append(("command", "is missing; write the command that listens on $PORT"))
        if not 0 < self.port < 65536:
            found.append(("port", f"is {self.port}; expected the port to listen on, from 1 to 65535"))
        if self.replicas < 1:
            found.append(("replicas", f"is {self.replicas}; expected at least 1"))
        return found
