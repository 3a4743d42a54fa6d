import pytest

from fairway.config.agent import PluginConfig
from fairway.config.agent_file import DeployTarget
from fairway.config.application import Generation
from fairway.config.problems import ConfigError, path_text
from fairway.config.read import read_agent, read_file

NEEDED = "projectID: p\npipedID: a\napiAddress: localhost:9080\npipedKeyFile: /key\n"


def a_file(spec: str, needed: str = NEEDED) -> bytes:
    body = "".join(f"  {line}\n" for line in (needed + spec).splitlines())
    return f"apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n{body}".encode()


@pytest.mark.parametrize("field", ["platformProviders", "cloudProviders"])
def test_platform_providers_become_deploy_targets_of_their_plugin(field: str) -> None:
    spec = f"""\
{field}:
  - {{name: dev, type: KUBERNETES, config: {{kubeConfigPath: dev}}}}
  - {{name: infra, type: TERRAFORM, labels: {{env: dev}}}}
  - {{name: prod, type: KUBERNETES}}"""

    config = read_agent(a_file(spec), "piped.yaml")

    assert config.generation is Generation.V0
    assert config.plugins == (
        PluginConfig(
            name="kubernetes",
            url="builtin:kubernetes",
            deploy_targets=(DeployTarget(name="dev", config={"kubeConfigPath": "dev"}), DeployTarget(name="prod")),
        ),
        PluginConfig(
            name="terraform",
            url="builtin:terraform",
            deploy_targets=(DeployTarget(name="infra", labels={"env": "dev"}),),
        ),
    )


def test_what_v0_kept_beside_the_providers_becomes_their_plugins_configuration() -> None:
    spec = """\
chartRepositories: [{name: charts, address: https://charts.example}]
analysisProviders: [{name: prom, type: PROMETHEUS, config: {address: https://prometheus.example}}]"""

    kubernetes, analysis = read_agent(a_file(spec), "piped.yaml").plugins

    assert kubernetes.config["chartRepositories"] == [{"name": "charts", "address": "https://charts.example"}]
    assert analysis.config == {
        "analysisProviders": [
            {"name": "prom", "type": "PROMETHEUS", "config": {"address": "https://prometheus.example"}}
        ]
    }


@pytest.mark.parametrize("list_name", ["plugin", "plugins"])
@pytest.mark.parametrize("url_name", ["url", "sourceURL"])
def test_plugins_are_written_in_either_spelling(list_name: str, url_name: str) -> None:
    config = read_agent(a_file(f"{list_name}: [{{name: k8s, {url_name}: file:///k8s, port: 7001}}]"), "piped.yaml")

    assert config.plugins == (PluginConfig(name="k8s", url="file:///k8s", port=7001),)
    assert config.generation is Generation.V1


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        pytest.param(
            "plugins: [{name: a, url: 'python:a:A', handover: pipe}]",
            "spec.plugins[0].handover",
            "is for executables; a plugin in Python is told by a pipe anyway",
            id="a pipe for what has one",
        ),
        pytest.param(
            "plugins: [{name: a, url: /a, isolation: shared}]",
            "spec.plugins[0].isolation",
            "is shared, but an executable is a process of its own; leave it out",
            id="an executable that is to share",
        ),
        pytest.param(
            "plugins: [{name: a}]\nplugin: [{name: b}]",
            "spec.plugin",
            "is given beside plugins; write plugins only",
            id="both spellings",
        ),
        pytest.param(
            "plugins: [{name: a}, {name: a}]",
            "spec.plugins[1]",
            "has the same name as plugins[0]: 'a'",
            id="one name twice",
        ),
        pytest.param(
            "notifications: {routes: [{receiver: salck}], receivers: [{name: slack, slack: {hookURL: u}}]}",
            "spec.notifications.routes[0].receiver",
            "is 'salck'; there is no such receiver; did you mean 'slack'?",
            id="unknown receiver",
        ),
        pytest.param(
            "platformProviders: [{name: dev, type: KUBERNETS}]",
            "spec.platformProviders[0].type",
            'found "KUBERNETS", expected one of CLOUDRUN, ECS, KUBERNETES, LAMBDA, TERRAFORM; '
            "did you mean 'KUBERNETES'?",
            id="unknown platform",
        ),
        pytest.param(
            "secretManagement: {type: GCP_KMS}",
            "spec.secretManagement.type",
            "is GCP_KMS, which is not supported; use KEY_PAIR",
            id="unsupported keys",
        ),
        pytest.param(
            "analysisProviders: [{name: d, type: DATADOG, config: {apiKeyFile: k}}]",
            "spec.analysisProviders[0].config",
            "needs exactly one of applicationKeyFile and applicationKeyData",
            id="rules of a provider's configuration",
        ),
    ],
)
def test_what_cannot_work_is_refused(spec: str, path: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_agent(a_file(spec), "piped.yaml")

    assert [(path_text(problem.path), problem.message) for problem in error.value.problems] == [(path, message)]


def test_an_unknown_field_of_a_cluster_is_an_error() -> None:
    spec = "platformProviders: [{name: dev, type: KUBERNETES, config: {kubeConfig: x}}]"

    (reading,) = read_file(a_file(spec), "piped.yaml")

    assert [str(problem) for problem in reading.problems] == [
        "piped.yaml:8:62: error: spec.platformProviders[0].config.kubeConfig: is not a field of this; "
        "did you mean 'kubeConfigPath'?"
    ]


def test_an_agent_names_all_it_cannot_start_without() -> None:
    with pytest.raises(ConfigError) as error:
        read_agent(a_file("name: a", needed=""), "piped.yaml")

    assert [path_text(problem.path) for problem in error.value.problems] == [
        "spec.apiAddress",
        "spec.pipedID",
        "spec.pipedKeyFile",
        "spec.projectID",
    ]


def test_an_agent_does_not_start_from_an_example_that_leaves_things_out() -> None:
    elided = b"apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n...\n  plugin:\n    - name: a\n"

    with pytest.raises(ConfigError, match="leaves out projectID, pipedID, apiAddress, pipedKeyFile"):
        read_agent(elided, "piped.yaml")


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        pytest.param("{name: kubernetes, config: {chartRepositoris: []}}", "config.chartRepositoris", id="a plugin"),
        pytest.param("{name: prod, url: 'builtin:kubernetes', config: {no: 1}}", "config.no", id="under another name"),
        pytest.param("{name: wait, config: {no: 1}}", "config.no", id="a plugin without configuration"),
        pytest.param(
            "{name: prod, url: 'builtin:kubernetes', deployTargets: [{name: a, config: {no: 1}}]}",
            "deployTargets[0].config.no",
            id="a deploy target",
        ),
        pytest.param("{name: own, url: /opt/own, config: {no: 1}}", "", id="a foreign plugin checks its own"),
    ],
)
def test_unknown_fields_of_the_configuration_of_a_plugin_are_refused(entry: str, path: str) -> None:
    (reading,) = read_file(a_file(f"plugins: [{entry}]"), "piped.yaml")

    found = [path_text(problem.path) for problem in reading.errors]
    assert found == ([f"spec.plugins[0].{path}"] if path else [])
