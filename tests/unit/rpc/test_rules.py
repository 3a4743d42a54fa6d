"""Each kind of rule is kept and broken once, and the sentence says where."""

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from fairway.rpc.gen.pipecd.model import command_pb2, common_pb2, event_pb2, piped_pb2, project_pb2
from fairway.rpc.gen.pipecd.service import apiservice_pb2 as user
from fairway.rpc.gen.pipecd.service import pipedservice_pb2 as agent
from fairway.rpc.rules.violations import violations


def a_git_path(path: str = "app") -> common_pb2.ApplicationGitPath:
    return common_pb2.ApplicationGitPath(repo=common_pb2.ApplicationGitRepository(id="repo"), path=path)


def a_command(type_: int = 0, created_at: int = 1, handled_at: int = 0) -> command_pb2.Command:
    command = command_pb2.Command(id="c", piped_id="a", handled_at=handled_at, updated_at=1)
    command.created_at = created_at
    # Numbers outside the enum arrive from newer clients; the constructor's type would not take them.
    command.MergeFromString(bytes([0xF0, 0x01, type_]))
    return command


def an_event(**contexts: str) -> event_pb2.Event:
    return event_pb2.Event(
        id="e",
        name="n",
        data="d",
        project_id="p",
        event_key="k",
        created_at=1,
        updated_at=1,
        contexts=contexts,
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(user.RegisterPipedRequest(), ["name is empty; expected some text"], id="an empty string"),
        pytest.param(
            agent.CreateDeploymentRequest(),
            ["deployment is not set; expected to be set"],
            id="a missing message",
        ),
        pytest.param(a_command(created_at=0), ["created_at is 0; expected more than 0"], id="a zero time"),
        pytest.param(a_command(handled_at=-1), ["handled_at is -1; expected 0 or more"], id="a negative time"),
        pytest.param(a_command(type_=99), ["type is 99; expected one of the enum's numbers"], id="a new number"),
        pytest.param(
            user.RenameApplicationConfigFileRequest(new_filename="f"),
            ["application_ids is []; expected at least one entry"],
            id="an empty list",
        ),
        pytest.param(
            user.RenameApplicationConfigFileRequest(new_filename="f", application_ids=["1234567890"] * 51),
            ["application_ids is ['1234567890', '1234567890', '1234567890…; expected at most 50 entries"],
            id="a long list",
        ),
        pytest.param(
            user.UpdateApplicationDeployTargetsRequest(application_id="a"),
            ["deploy_targets_by_plugin is {}; expected at least one entry"],
            id="an empty map",
        ),
        pytest.param(
            user.RegisterEventRequest(name="n", data="d", labels={"app": ""}),
            ["labels is {'app': ''}; expected text in every key and value"],
            id="a label without a value",
        ),
        pytest.param(
            an_event(**{"-x": "v"}),
            ["contexts is {'-x': 'v'}; expected keys of letters and digits, joined by single hyphens"],
            id="a context that is no trailer",
        ),
        pytest.param(
            agent.ReportDeploymentStatusChangedRequest(deployment_id="d", status="DEPLOYMENT_SUCCESS"),
            ["status is 4; expected 2 (running) or 3 (rolling back)"],
            id="a status that has its own call",
        ),
        pytest.param(
            piped_pb2.Piped.SecretEncryption(type="ROT13"),
            ["type is 'ROT13'; expected KEY_PAIR, GCP_KMS, AWS_KMS or NONE"],
            id="an unknown encryption",
        ),
        pytest.param(
            project_pb2.ProjectStaticUser(username="u", password_hash="12345"),
            ["password_hash is '12345'; expected six characters or more"],
            id="a short hash",
        ),
        pytest.param(
            project_pb2.ProjectRBACPolicy.FromString(b"\x0a\x00\x12\x02\x01\x4d"),
            ["actions is [1, 77]; expected one of the enum's numbers"],
            id="a new number in a list",
        ),
    ],
)
def test_a_broken_rule_is_named_with_what_was_found_and_expected(message: Message, expected: list[str]) -> None:
    assert violations(message) == expected


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(a_command(type_=7), id="the last known command"),
        pytest.param(a_git_path(), id="a relative path"),
        pytest.param(an_event(**{"Commit-Author": "a", "x": ""}), id="trailers"),
        pytest.param(user.RegisterEventRequest(name="n", data="d", labels={"app": "web"}), id="labels with values"),
        pytest.param(
            agent.ReportDeploymentStatusChangedRequest(deployment_id="d", status="DEPLOYMENT_ROLLING_BACK"),
            id="rolling back",
        ),
        pytest.param(piped_pb2.Piped.SecretEncryption(type="NONE"), id="no encryption"),
        pytest.param(user.GetDeploymentRequest(), id="a message without rules"),
    ],
)
def test_a_message_that_keeps_its_rules_is_accepted(message: Message) -> None:
    assert violations(message) == []


def test_rules_are_kept_in_messages_lists_and_maps_inside() -> None:
    request = agent.ReportStageLogsRequest(deployment_id="d", stage_id="s")
    request.blocks.add(log="x", created_at=1)
    request.blocks.add(created_at=1)
    response = user.ListStageLogsResponse()
    response.stage_logs["s1"].blocks.add(log="x")

    assert violations(request) == ["blocks[1].log is empty; expected some text"]
    assert violations(response) == ["stage_logs['s1'].blocks[0].created_at is 0; expected more than 0"]


def test_a_sub_message_that_is_not_set_breaks_only_its_own_rule() -> None:
    request = user.AddApplicationRequest(name="n", piped_id="p")

    assert violations(request) == ["git_path is not set; expected to be set"]


def test_a_long_value_is_cut_in_the_sentence() -> None:
    found = violations(a_git_path("/" + "x" * 500))

    assert found == [f"path is '/{'x' * 38}…; expected a path that does not begin with /"]


@given(st.text())
def test_a_path_is_accepted_when_it_is_relative_however_short(path: str) -> None:
    accepted = path != "" and not path.startswith("/") and "\n" not in path[1:]

    assert (violations(a_git_path(path)) == []) == accepted
