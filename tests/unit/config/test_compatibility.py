"""Differences from PipeCD's own loader that a comparison of tens of thousands of files turned up, one test each."""

import json
from typing import Any

import pytest

from fairway.config.analysis import Metric
from fairway.config.problems import Position
from fairway.config.read import Reading, read_file
from fairway.config.scalars import Duration, Replicas
from fairway.config.stages import K8sTrafficRoutingOptions


def read(kind: str, spec: dict[str, Any]) -> Reading:
    (reading,) = read_file(json.dumps({"apiVersion": "pipecd.dev/v1beta1", "kind": kind, "spec": spec}).encode(), "f")
    return reading


def read_stage(name: str, **options: Any) -> Reading:
    return read("KubernetesApp", {"pipeline": {"stages": [{"name": name, "with": options}]}})


def errors(reading: Reading) -> list[str]:
    return [problem.message for problem in reading.errors]


def agent(**spec: Any) -> dict[str, Any]:
    return {"projectID": "p", "pipedID": "i", "apiAddress": "a", "pipedKeyFile": "k", **spec}


@pytest.mark.parametrize(
    ("written", "shares"),
    [
        pytest.param({"canary": 30}, (70, 30, 0), id="canary alone"),
        pytest.param({"canary": 0}, (100, 0, 0), id="no canary any more"),
        pytest.param({"baseline": "20%"}, (80, 0, 20), id="baseline alone"),
        pytest.param({"canary": 30, "baseline": 10}, (60, 30, 10), id="canary and baseline"),
        pytest.param({"primary": 50, "canary": 50}, (50, 50, 0), id="all of it"),
        pytest.param({"all": "canary"}, (0, 100, 0), id="one gets all"),
        pytest.param({"all": "canary", "primary": 0}, (0, 100, 0), id="a zero beside all"),
    ],
)
def test_primary_gets_what_canary_and_baseline_leave(written: dict[str, Any], shares: tuple[int, int, int]) -> None:
    reading = read_stage("K8S_TRAFFIC_ROUTING", **written)

    options = reading.config.stages[0].options
    assert isinstance(options, K8sTrafficRoutingOptions)
    assert options.shares == shares


@pytest.mark.parametrize(
    ("written", "message"),
    [
        pytest.param({}, "routes no traffic; write all, or the percentages of primary, canary and baseline", id="none"),
        pytest.param(
            {"canary": 80, "baseline": 30},
            "routes 110 % of the traffic; primary, canary and baseline must make 100 together",
            id="too much",
        ),
        pytest.param(
            {"primary": 30},
            "routes 30 % of the traffic; primary, canary and baseline must make 100 together",
            id="a primary that does not get all",
        ),
        pytest.param({"all": "primary", "canary": 5}, "is given beside percentages; write either", id="both ways"),
    ],
)
def test_traffic_that_does_not_add_up_is_refused(written: dict[str, Any], message: str) -> None:
    assert errors(read_stage("K8S_TRAFFIC_ROUTING", **written)) == [message]


def test_an_empty_word_means_the_default() -> None:
    entry = {"provider": "p", "query": "q", "interval": "1m", "expected": {"max": 1}, "strategy": "", "deviation": ""}

    reading = read_stage("ANALYSIS", duration="5m", metrics=[entry])

    (metric,) = reading.config.stages[0].options.metrics
    assert isinstance(metric, Metric)
    assert (metric.strategy, metric.deviation) == ("THRESHOLD", "EITHER")


def test_a_whole_number_may_be_written_with_a_point_or_an_exponent() -> None:
    data = b"apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec: {pipeline: {stages: [%s, %s]}}"
    approval = b"{name: WAIT_APPROVAL, with: {minApproverNum: 1e1}}"
    canary = b"{name: K8S_CANARY_ROLLOUT, with: {replicas: 2.0}}"

    (reading,) = read_file(data % (approval, canary), "f")

    first, second = reading.config.stages
    assert (first.options.min_approver_num, second.options.replicas) == (10, Replicas(2))


@pytest.mark.parametrize("written", ["--5m", "+-5m", "-+5m", "+", "-"])
def test_a_duration_has_one_sign(written: str) -> None:
    with pytest.raises(ValueError, match=r"^is "):
        Duration.parse(written)


def test_an_empty_entry_of_a_template_lacks_everything() -> None:
    reading = read("AnalysisTemplate", {"https": {"a": None}})

    assert errors(reading) == ["is missing (or name a template)"] * 2


def test_a_mention_of_an_unknown_event_is_refused() -> None:
    reading = read("KubernetesApp", {"notification": {"mentions": [{"event": "DEPLOYMENT_PLANED"}]}})

    assert errors(reading) == ["is 'DEPLOYMENT_PLANED', which is not known; did you mean 'DEPLOYMENT_PLANNED'?"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"encryption": {"encryptedSecrets": {"a": ""}, "decryptionTargets": ["f"]}},
            "is empty; expected a sealed value",
            id="a secret",
        ),
        pytest.param(
            {"attachment": {"sources": {"a": ""}, "targets": ["f"]}},
            "is empty; expected the path of a file",
            id="a source",
        ),
    ],
)
def test_an_empty_value_where_one_is_needed_is_refused(spec: dict[str, Any], message: str) -> None:
    assert errors(read("KubernetesApp", spec)) == [message]


@pytest.mark.parametrize(
    ("spec", "messages"),
    [
        pytest.param(
            agent(chartRepositories=[{}]),
            ["is missing; a repository of the type HTTP needs it"] * 2,
            id="a chart repository without name and address",
        ),
        pytest.param(
            agent(chartRepositories=[{"type": "GIT"}]),
            ["is missing; a repository of the type GIT needs it"],
            id="a chart repository in Git without remote",
        ),
        pytest.param(
            agent(chartRegistries=[{}]), ["is missing; expected the address of the registry"], id="a chart registry"
        ),
        pytest.param(agent(eventWatcher={"gitRepos": [{"repoId": ""}]}), ["is empty"], id="a repository to watch"),
        pytest.param(agent(planPreview={"workerNum": -1}), ["is -1; expected 0 or more"], id="a negative number"),
        pytest.param(
            agent(apiAddress="https://cd.example.com"),
            ["is 'https://cd.example.com'; expected host:port, such as cd.example.com:443"],
            id="an address for a browser",
        ),
        pytest.param(
            agent(analysisProviders=[{"name": "p", "type": "PROMETHEUS", "config": {"address": ""}}]),
            ["is empty; expected the address of Prometheus"],
            id="a provider without address",
        ),
    ],
)
def test_an_agent_that_could_not_work_is_refused(spec: dict[str, Any], messages: list[str]) -> None:
    assert sorted(errors(read("Piped", spec))) == sorted(messages)


COME_ALONG = "customsync, kubernetes, kubernetes_multicluster, process, scriptrun, wait, waitapproval"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            agent(plugins=[{"name": "p", "url": "builtin:proces"}]),
            f"plugin p: Fairway has no built-in plugin 'proces', it has {COME_ALONG}; did you mean 'process'?",
            id="a misspelt built-in plugin",
        ),
        pytest.param(
            agent(plugins=[{"name": "terraform"}]),
            f"plugin terraform: Fairway has no built-in plugin 'terraform', it has {COME_ALONG}",
            id="a plugin without a URL",
        ),
        pytest.param(
            agent(platformProviders=[{"name": "tf", "type": "TERRAFORM"}]),
            f"plugin terraform: Fairway has no built-in plugin 'terraform', it has {COME_ALONG}",
            id="a platform provider of v0",
        ),
        pytest.param(
            agent(analysisProviders=[{"name": "p", "type": "PROMETHEUS", "config": {"address": "http://p"}}]),
            f"plugin analysis: Fairway has no built-in plugin 'analysis', it has {COME_ALONG}",
            id="an analysis provider of v0",
        ),
        pytest.param(
            agent(plugin=[{"name": "p", "sourceURL": "bultin:process"}]),
            "plugin p: 'bultin:process' is no source of a plugin; expected file:, http:, https: or oci: with an "
            "executable, python:module:Class, or builtin:NAME; did you mean 'builtin'?",
            id="an unknown scheme",
        ),
        pytest.param(
            agent(plugins=[{"name": "p", "url": "oci://registry"}]),
            "plugin p: 'oci://registry' is no artifact; write oci://registry/repository:tag",
            id="an artifact without a repository",
        ),
    ],
)
def test_a_plugin_that_cannot_be_started_is_a_warning(spec: dict[str, Any], message: str) -> None:
    reading = read("Piped", spec)

    assert [each.message for each in reading.problems] == [f"{message}; the agent works without it"]
    assert reading.config is not None


def test_the_git_host_is_its_own_name_and_the_usual_ssh_configuration_is_meant() -> None:
    git = read("Piped", agent(git={"host": "git.example.com"})).config.git

    assert (git.host_name, git.ssh_config_file_path) == ("git.example.com", "~/.ssh/config")


def test_a_manifest_of_a_platform_is_passed_over_where_files_are_searched_for() -> None:
    manifest = b"apiVersion: pipecd.dev/v1beta1\nkind: LambdaFunction\nspec: {name: f}\n"

    assert read_file(manifest, "function.yaml", skip_foreign=True) == []


def test_what_was_left_out_is_said_to_be_where_the_dots_are() -> None:
    text = b"#.. a comment\napiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n...\n  plugins: [{name: wait}]\n"

    (reading,) = read_file(text, "f")

    assert reading.problems[0].position == Position(5, 1)


@pytest.mark.parametrize("plugin", ["kubernetes", "somebody-elses"])
@pytest.mark.parametrize("written", [False, 0, "", [], "x"], ids=json.dumps)
def test_the_settings_of_a_plugin_are_a_mapping(plugin: str, written: Any) -> None:
    (problem,) = read("Application", {"plugins": {plugin: written}}).problems

    assert (problem.path, problem.message.rpartition(", ")[2]) == (("spec", "plugins", plugin), "expected a mapping")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        pytest.param(
            "SCRIPT_RUN",
            {"run": ["ls"]},
            "found a list, expected a text; a list stands under 'runs'",
            id="run for runs",
        ),
        pytest.param(
            "WAIT_APPROVAL",
            {"minApproverNum": "2"},
            'found "2", expected a whole number; write it without quotes',
            id="a number in quotes",
        ),
        pytest.param(
            "WAIT",
            {"duration": "-10s"},
            'found "-10s", which is negative; expected a duration such as "30s", "5m" or "1h30m"',
            id="a negative duration",
        ),
    ],
)
def test_a_slip_in_a_stage_is_answered_with_what_to_write(name: str, options: dict[str, Any], message: str) -> None:
    assert errors(read_stage(name, **options)) == [message]


def test_variants_with_one_value_could_not_be_told_apart() -> None:
    same = read("KubernetesApp", {"variantLabel": {"primaryValue": "web", "canaryValue": "web"}})
    default = read("KubernetesApp", {"variantLabel": {"baselineValue": "canary"}})

    assert errors(same) == ["is 'web', as primaryValue is; expected another, to tell them apart"]
    assert errors(default) == ["is 'canary', as canaryValue is; expected another, to tell them apart"]
