"""WAIT_APPROVAL in files: who may approve, and what time does to it."""

import pytest

from fairway.config.scalars import Duration
from tests.unit.config.test_application_file import config_of, read, said

AT = "spec.pipeline.stages[0].with"
UNLISTED = ("warning", f"{AT}.approvers", "is missing: any user with a role that allows it may approve; list who may")


def a_stage(text: str) -> str:
    return f"pipeline:\n  stages:\n    - {text}"


@pytest.mark.parametrize("kind", ["KubernetesApp", "Application"])
@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("{name: WAIT_APPROVAL, timeout: 30m, with: {onTimeout: approve}}", id="beside with"),
        pytest.param("{name: WAIT_APPROVAL, with: {timeout: 30m, onTimeout: approve}}", id="inside with"),
    ],
)
def test_the_plugin_is_told_the_time_where_it_is_to_watch_it(stage: str, kind: str) -> None:
    (settled,) = config_of(kind, a_stage(stage)).stages

    assert (settled.timeout, settled.written) == (Duration(minutes=30), {"timeout": "30m", "onTimeout": "approve"})


def test_otherwise_the_agent_watches_it_alone() -> None:
    (settled,) = config_of("Application", a_stage("{name: WAIT_APPROVAL, timeout: 30m, with: {groups: [sre]}}")).stages

    assert (settled.timeout, settled.written) == (Duration(minutes=30), {"groups": ["sre"]})


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        pytest.param("groups: [sre], minApproverNum: 3", [], id="a group has any number of people"),
        pytest.param("approvers: [ada, 'group:sre'], minApproverNum: 3", [], id="also among the approvers"),
        pytest.param(
            "approvers: [ada, ada], minApproverNum: 2",
            [("error", f"{AT}.minApproverNum", "asks for 2 approvals, but only 1 may approve")],
            id="one person is not two",
        ),
        pytest.param(
            "approvers: [ada], onTimeout: approve",
            [
                (
                    "error",
                    f"{AT}.onTimeout",
                    "is approve, but the stage has no timeout; write one, such as `timeout: 30m` beside `with`",
                )
            ],
            id="no time that could run out",
        ),
        pytest.param(
            "approvers: [ada], onTimeout: pass",
            [("error", f"{AT}.onTimeout", 'found "pass", expected one of approve, fail')],
            id="neither",
        ),
        pytest.param("minApproverNum: 2", [UNLISTED], id="no approvers"),
    ],
)
def test_what_makes_no_sense_is_said(options: str, problems: list[tuple[str, str, str]]) -> None:
    assert said(read("Application", a_stage(f"{{name: WAIT_APPROVAL, with: {{{options}}}}}"))) == problems


def test_a_stage_without_options_lists_no_approvers() -> None:
    assert said(read("Application", a_stage("{name: WAIT_APPROVAL}"))) == [UNLISTED]
