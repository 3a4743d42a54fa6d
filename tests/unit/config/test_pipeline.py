import pytest

from fairway.config.pipeline import GROUPS, AppReference, Promotion, PullRequest, SecretReference
from fairway.config.problems import ConfigError, Severity, path_text
from fairway.config.read import read_file, read_pipeline

ENVIRONMENTS = "environments: [{name: dev, targets: [{namespace: a}]}, {name: prod, targets: [{namespace: b}]}]\n"
REQUEST = "{type: github, url: https://github.com/o/r, secretRef: {name: s}}"


def a_file(spec: str, group: str = GROUPS[0]) -> bytes:
    body = "".join(f"  {line}\n" for line in spec.splitlines())
    header = f"apiVersion: {group}/v1alpha1\nkind: Pipeline\nmetadata: {{name: shop, uid: 1, labels: {{}}}}\n"
    return f"{header}spec:\n{body}".encode()


@pytest.mark.parametrize("group", GROUPS)
def test_both_groups_are_one_model(group: str) -> None:
    config = read_pipeline(a_file(ENVIRONMENTS, group), "pipeline.yaml")

    assert (config.group, config.name, config.namespace, config.app_ref) == (group, "shop", "default", None)


@pytest.mark.parametrize(
    "promotion",
    [
        pytest.param(f"promotion: {{strategy: {{pull-request: {REQUEST}}}}}", id="with the wrapper"),
        pytest.param(f"promotion: {{pull-request: {REQUEST}}}", id="without the wrapper"),
    ],
)
def test_promotion_is_read_with_and_without_the_strategy_wrapper(promotion: str) -> None:
    config = read_pipeline(a_file(ENVIRONMENTS + promotion), "pipeline.yaml")

    request = PullRequest(
        type="github", url="https://github.com/o/r", base_branch="main", secret_ref=SecretReference(name="s")
    )
    assert config.environments[1].promotion == Promotion(manual=False, pull_request=request, secret_ref=None)


def test_an_environments_own_promotion_replaces_the_pipelines() -> None:
    spec = """\
environments:
  - {name: dev, targets: [{namespace: a}]}
  - {name: prod, targets: [{namespace: b}], promotion: {manual: true, strategy: {notification: {}}}}
promotion: {strategy: {pull-request: {type: gitea, url: https://git/o/r, branch: trunk}, secretRef: {name: key}}}"""

    config = read_pipeline(a_file(spec), "pipeline.yaml")

    assert config.environments[1].promotion == Promotion(manual=True, pull_request=None, secret_ref=None)
    first = config.environments[0].promotion
    assert first is not None
    assert first.pull_request is not None
    assert (first.pull_request.base_branch, config.secret_ref) == ("trunk", SecretReference(name="key"))


def test_the_webhooks_key_is_found_where_it_was_first() -> None:
    spec = ENVIRONMENTS + "appRef: {apiVersion: v2, kind: HelmRelease, name: shop, secretRef: {name: key}}"

    config = read_pipeline(a_file(spec), "pipeline.yaml")

    assert isinstance(config.app_ref, AppReference)
    assert config.secret_ref == SecretReference(name="key")


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        pytest.param("environments: []", "spec.environments", "is empty; a pipeline needs at least one", id="none"),
        pytest.param("appRef: {kind: a, name: b}", "spec.environments", "is missing; expected a list", id="left out"),
        pytest.param(
            "environments: [{name: a, targets: [{namespace: x}]}, {name: a, targets: [{namespace: z}]}]",
            "spec.environments[1].name",
            "is 'a', the name of an environment further up",
            id="one name twice",
        ),
        pytest.param(
            ENVIRONMENTS + "promotion: {strategy: {}}",
            "spec.promotion.strategy",
            "names no way to promote",
            id="no strategy",
        ),
        pytest.param(
            ENVIRONMENTS + "promotion: {pull-request: {type: gitlub, url: u}}",
            "spec.promotion.pull-request.type",
            "is 'gitlub'; expected one of github",
            id="unknown host",
        ),
        pytest.param(
            "environments: [{name: a, targets: [{namespace: x, clusterRef: {kind: Cluster, name: c}}]}]",
            "spec.environments[0].targets[0].clusterRef.kind",
            'found "Cluster", expected one of GitopsCluster, Secret',
            id="unknown cluster",
        ),
    ],
)
def test_what_upstream_trips_over_is_refused(spec: str, path: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_pipeline(a_file(spec), "pipeline.yaml")

    (problem,) = error.value.problems
    assert path_text(problem.path) == path
    assert problem.message.startswith(message)


def test_an_environment_without_targets_is_a_warning() -> None:
    (reading,) = read_file(a_file("environments: [{name: a, targets: []}]"), "pipeline.yaml")

    (problem,) = reading.problems
    assert (problem.severity, path_text(problem.path)) == (Severity.WARNING, "spec.environments[0].targets")


def test_documents_of_other_people_are_passed_over_when_asked() -> None:
    text = b"apiVersion: v1\nkind: Namespace\n---\n" + a_file(ENVIRONMENTS) + b"---\n"

    (reading,) = read_file(text, "pipeline.yaml", skip_foreign=True)

    assert (reading.kind, reading.problems) == ("Pipeline", ())
