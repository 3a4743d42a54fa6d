"""Cards and tables of nouns, as whole texts."""

from datetime import timedelta
from io import StringIO
from typing import Any

import msgspec
import pytest
from rich.console import Console, RenderableType

from fairway.cli.agent import ShownAgent, agent_card, agent_table
from fairway.cli.audit import audit_table
from fairway.cli.cards import (
    ShownDeployment,
    application_card,
    application_word,
    deployment_card,
    headline,
    ran_for,
    stage_list,
    stage_note,
    sync_reason,
)
from fairway.cli.lists import application_table, deployment_table
from fairway.cli.output import show
from fairway.model.agent import PlatformProvider
from fairway.model.application import Application, DeploymentReference, SyncState, SyncStatus
from fairway.model.audit import AuditRecord
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import DISPLAY, WAITS_FOR, ManualOperation, StageStatus
from fairway.model.trigger import DRIFTED, Trigger
from tests.unit.model.builders import NOW, a_deployment, a_stage, a_trigger, an_application

AT = NOW + timedelta(minutes=10)


def printed(renderable: RenderableType, width: int = 1000) -> str:
    file = StringIO()
    show(Console(file=file, width=width, highlight=False, markup=False), renderable)
    return file.getvalue()


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def shown(deployment: Deployment, waiting_for: str = "") -> ShownDeployment:
    return ShownDeployment(**msgspec.structs.asdict(deployment), waiting_for=waiting_for)


def a_waiting_deployment() -> ShownDeployment:
    """Its canary took two minutes; since then it waits for ada or bob."""
    stages = (
        a_stage("1", name="CANARY", status=StageStatus.SUCCEEDED, completed_at=NOW + minutes(2)),
        a_stage(
            "2",
            name="APPROVAL",
            status=StageStatus.RUNNING,
            available_operation=ManualOperation.APPROVE,
            authorized_operators=("ada", "bob"),
        ),
        a_stage("3", name="PRIMARY", desc="All traffic"),
        a_stage("4", name="ROLLBACK"),
    )
    known: dict[str, Any] = {"status": DeploymentStatus.RUNNING, "summary": "Version 2", "stages": stages}
    deployment = a_deployment(**known, trigger=a_trigger(commander="eve"))
    return shown(deployment, "approval of stage 2 (APPROVAL)")


def test_a_deployment_shows_its_stages_and_what_it_waits_for() -> None:
    assert printed(deployment_card(a_waiting_deployment(), AT)) == (
        "cart  ● running  for 10m00s\n"
        "  id           d-1\n"
        "  application  cart (a-1)\n"
        "  commit       c0ffee Say hello (main)\n"
        "  asked by     eve\n"
        "  created      10m ago\n"
        "  strategy     auto\n"
        "  summary      Version 2\n"
        "  waits for    approval of stage 2 (APPROVAL)\n"
        "               → fairway deployment approve d-1\n"
        "\n"
        "  ✓ CANARY    2m00s\n"
        "  ◆ APPROVAL  8m00s  waits for approval by ada, bob\n"
        "  ○ PRIMARY          All traffic\n"
    )


@pytest.mark.parametrize(
    ("trigger", "asked_by"),
    [
        pytest.param(a_trigger(), "the commit, by ada", id="a commit"),
        pytest.param(a_trigger(commander="eve"), "eve", id="a person"),
        pytest.param(a_trigger(commander="c-1"), "chain c-1", id="a chain"),
        pytest.param(
            a_trigger(strategy_summary=DRIFTED), "nobody: what ran differed from Git (trigger.onOutOfSync)", id="drift"
        ),
    ],
)
def test_a_deployment_says_who_or_what_made_it_begin(trigger: Trigger, asked_by: str) -> None:
    card = printed(deployment_card(shown(a_deployment(trigger=trigger, chain_id="c-1")), NOW))

    assert f"  asked by     {asked_by}\n" in card


def test_what_undoes_a_stage_says_which() -> None:
    undoing = {"name": "SCRIPT_RUN_ROLLBACK", "rollback": True, "created_at": NOW, "updated_at": NOW}
    stages = (
        a_stage("s-0", name="WAIT", index=0, status=StageStatus.SUCCEEDED),
        a_stage("s-1", name="SCRIPT_RUN", index=1, desc="Migrate", status=StageStatus.SUCCEEDED),
        a_stage("s-2", name="SCRIPT_RUN", index=2, status=StageStatus.FAILED, status_reason="exit status 3"),
        a_stage("r-1", **undoing, index=1, status=StageStatus.SUCCEEDED, status_reason="exit status 0"),
        a_stage("r-2", **undoing, metadata={"baseStageID": "s-2"}, status=StageStatus.RUNNING, status_reason="Undoing"),
    )
    deployment = a_deployment(status=DeploymentStatus.ROLLING_BACK, stages=stages)

    lines = [line.split(None, 3) for line in printed(stage_list(deployment, AT)).splitlines()[3:]]

    assert [(line[1], line[3]) for line in lines] == [
        ("SCRIPT_RUN_ROLLBACK", "undoes SCRIPT_RUN (stage 2): Migrate; exit status 0"),
        ("SCRIPT_RUN_ROLLBACK", "undoes SCRIPT_RUN (stage 3)"),
    ]


def test_a_running_stage_shows_what_it_waits_for() -> None:
    waits = {WAITS_FOR: "Deployment web: 1 of 2 pods are ready"}
    undoing = {"name": "SCRIPT_RUN_ROLLBACK", "rollback": True, "status": StageStatus.RUNNING, "metadata": waits}
    stages = (
        a_stage("1", name="SYNC", status=StageStatus.RUNNING, status_reason="SYNC is running", metadata=waits),
        a_stage("2", name="SCRIPT_RUN", status=StageStatus.FAILED, status_reason="timed out", metadata=waits),
        a_stage("3", **undoing, index=0, status_reason="Undoing"),
    )

    lines = printed(stage_list(a_deployment(status=DeploymentStatus.RUNNING, stages=stages), NOW)).splitlines()

    assert [line.split(None, 3)[-1] for line in lines] == [
        "waits for Deployment web: 1 of 2 pods are ready",
        "timed out",
        "undoes SCRIPT_RUN (stage 1); waits for Deployment web: 1 of 2 pods are ready",
    ]


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        pytest.param({"desc": "A little"}, "Primary: 90%, Canary: 10%; A little", id="planned"),
        pytest.param(
            {"status": StageStatus.RUNNING, "status_reason": "ROUTING is running"},
            "Primary: 90%, Canary: 10%",
            id="while it runs",
        ),
        pytest.param({"status": StageStatus.SUCCEEDED}, "Primary: 90%, Canary: 10%", id="done"),
        pytest.param({"status": StageStatus.SUCCEEDED, "status_reason": "as told"}, "as told", id="done, in words"),
        pytest.param({"status": StageStatus.FAILED, "status_reason": "no Service"}, "no Service", id="failed"),
    ],
)
def test_a_stage_shows_what_its_plugin_shows_of_it(fields: dict[str, Any], note: str) -> None:
    stage = a_stage("1", name="ROUTING", metadata={DISPLAY: "Primary: 90%, Canary: 10%"}, **fields)

    assert stage_note(stage, (stage,)) == note


def test_what_is_shown_of_several_deploy_targets_is_one_line() -> None:
    stage = a_stage("1", status=StageStatus.SUCCEEDED, metadata={DISPLAY: "east: succeeded\nwest: succeeded"})

    assert stage_note(stage, (stage,)) == "east: succeeded; west: succeeded"


def test_a_deployment_in_a_list_is_one_line() -> None:
    assert printed(deployment_table([a_waiting_deployment()], AT)) == (
        "ID   APPLICATION  STATUS     STAGES  COMMIT  CREATED  TOOK    SUMMARY\n"
        "d-1  cart         ● running  1/3 ◆   c0ffee  10m ago  10m00s  Version 2\n"
    )


def test_a_deployment_that_waits_for_its_turn_is_listed_with_what_it_waits_for_now() -> None:
    pending = shown(a_deployment(status_reason="A commit"), "deployment d-0, which is running, to end")

    assert (
        printed(deployment_table([pending], NOW))
        .splitlines()[1]
        .endswith("waits for deployment d-0, which is running, to end")
    )


def test_a_deployment_that_failed_is_listed_with_its_reason() -> None:
    known: dict[str, Any] = {"status_reason": "Stage SYNC failed: no room", "summary": "Version 2"}

    assert printed(deployment_table([shown(a_deployment(status=DeploymentStatus.FAILED, **known))], NOW)) == (
        "ID   APPLICATION  STATUS    STAGES  COMMIT  CREATED  TOOK  SUMMARY\n"
        "d-1  cart         ✗ failed  0/0     c0ffee  now      0s    Stage SYNC failed: no room\n"
    )


@pytest.mark.parametrize(
    ("status", "said"),
    [
        pytest.param(DeploymentStatus.PLANNED, "Its plan is ready", id="before its stages run"),
        pytest.param(DeploymentStatus.RUNNING, "", id="while they run"),
        pytest.param(DeploymentStatus.SUCCEEDED, "Its plan is ready", id="after them"),
    ],
)
def test_the_reason_of_a_status_is_shown_where_no_stage_says_more(status: DeploymentStatus, said: str) -> None:
    deployment = a_deployment(status=status, status_reason="Its plan is ready", stages=(a_stage("1"),))

    assert headline(deployment, AT).plain.partition("\n")[2].strip() == said


def a_reference(id: str) -> DeploymentReference:
    return DeploymentReference(deployment_id=id, trigger=a_trigger(), started_at=NOW)


@pytest.mark.parametrize(
    ("succeeded", "word"),
    [pytest.param("d-2", "deployed", id="it"), pytest.param("d-1", "not_deployed", id="an earlier one")],
)
def test_where_nobody_looks_at_what_runs_the_newest_deployment_tells(succeeded: str, word: str) -> None:
    application = an_application(last_triggered=a_reference("d-2"), last_succeeded=a_reference(succeeded))

    assert application_word(application) == word


def test_a_reason_of_several_lines_is_shown_line_by_line() -> None:
    why = "2 objects are refused:\na.yaml:1: x\nb.yaml:2: y"
    failed = a_stage("1", name="K8S_SYNC", status=StageStatus.FAILED, status_reason=why, completed_at=NOW + minutes(2))
    deployment = a_deployment(
        status=DeploymentStatus.FAILED, status_reason=f"Stage K8S_SYNC failed: {why}", stages=(failed,)
    )

    assert headline(deployment, AT).plain.partition("\n")[2] == (
        "  Stage K8S_SYNC failed: 2 objects are refused:\n    a.yaml:1: x\n    b.yaml:2: y"
    )
    assert [line.strip() for line in printed(stage_list(deployment, AT)).splitlines()] == [
        "✗ K8S_SYNC  2m00s  2 objects are refused:",
        "a.yaml:1: x",
        "b.yaml:2: y",
    ]


def test_where_somebody_looks_and_cannot_see_what_runs_it_is_unknown() -> None:
    away = SyncState(status=SyncStatus.UNKNOWN, at=NOW, short_reason="The cluster does not answer")
    reference = a_reference("d-2")

    assert application_word(an_application(last_triggered=reference, last_succeeded=reference, sync_state=away)) == (
        "unknown"
    )


def test_a_stage_ran_from_the_end_of_the_one_before() -> None:
    first = a_stage("1", status=StageStatus.SUCCEEDED, completed_at=NOW + minutes(2))
    second = a_stage("2", status=StageStatus.FAILED, completed_at=NOW + minutes(5))
    never = a_stage("3")
    stages = (first, second, never)

    assert [ran_for(stage, stages, AT) for stage in stages] == [minutes(2), minutes(3), None]


def test_an_application_shows_what_runs() -> None:
    reference = DeploymentReference(
        deployment_id="d-1", trigger=a_trigger(), started_at=NOW, completed_at=NOW + minutes(1), version="v2"
    )
    state = SyncState(status=SyncStatus.OUT_OF_SYNC, at=NOW, short_reason="1 manifest differs")
    application = an_application(sync_state=state, last_succeeded=reference, labels={"team": "shop", "env": "prod"})

    assert printed(application_card(application, AT)) == (
        "cart  ! out of sync\n"
        "  1 manifest differs\n"
        "  id          a-1\n"
        "  agent       agent-1\n"
        "  repository  shop\n"
        "  path        apps/cart\n"
        "  labels      env:prod, team:shop\n"
        "  runs        v2, 9m ago: deployment d-1\n"
    )


def test_an_application_says_why_its_newest_deployment_failed() -> None:
    card = printed(application_card(an_application(), AT, "Stage SCRIPT_RUN failed: exit status 7"))

    assert card.splitlines()[1] == "  Stage SCRIPT_RUN failed: exit status 7"


def an_application_that_differs(reason: str, short: str = "1 object is not as Git says: 1 different") -> Application:
    state = SyncState(status=SyncStatus.OUT_OF_SYNC, at=NOW, short_reason=short, reason=reason)
    return an_application(sync_state=state)


def test_an_application_that_is_not_as_git_says_shows_the_whole_difference() -> None:
    reason = "1 object is not as Git says: 1 different\n\n# 1. Deployment cart\n\n  spec:\n-   replicas: 2\n\x1b[2J\n\n"

    assert printed(application_card(an_application_that_differs(reason), AT)) == (
        "cart  ! out of sync\n"
        "  1 object is not as Git says: 1 different\n"
        "  id          a-1\n"
        "  agent       agent-1\n"
        "  repository  shop\n"
        "  path        apps/cart\n"
        "\n"
        "  # 1. Deployment cart\n"
        "\n"
        "    spec:\n"
        "  -   replicas: 2\n"
    )


def test_a_file_that_cannot_be_used_is_shown_with_its_problems() -> None:
    short, reason = "The application's file cannot be used", "app.pipecd.yaml:3:5: spec.input: expected a mapping"
    state = SyncState(status=SyncStatus.INVALID_CONFIG, at=NOW, short_reason=short, reason=reason)

    assert printed(application_card(an_application(sync_state=state), AT)).endswith(f"apps/cart\n\n  {reason}\n")


def test_a_reason_that_says_no_more_than_its_beginning_is_said_once() -> None:
    card = printed(application_card(an_application_that_differs("Nothing runs", "Nothing runs"), AT))

    assert card.count("Nothing runs") == 1


def test_what_is_taken_away_is_red_and_what_is_added_green() -> None:
    said = sync_reason(an_application_that_differs("- replicas: 2\n+ replicas: 3\n  - a: list\nwords").sync_state)

    assert [(said.plain[span.start : span.end], span.style) for span in said.spans] == [
        ("- replicas: 2", "red"),
        ("+ replicas: 3", "green"),
    ]


def test_an_application_in_a_list_is_one_line_whatever_its_name_holds() -> None:
    application = an_application(name="car\x1b[31mt\n", disabled=True)

    assert printed(application_table([application], AT)) == (
        "NAME       ID   STATUS      LAST DEPLOYMENT  PATH\n"  #
        "car [31mt  a-1  ⊘ disabled  never            shop:apps/cart\n"
    )


def test_an_agent_shows_whether_it_is_there() -> None:
    agent = ShownAgent(
        id="agent-1",
        name="near",
        created_at=NOW,
        status="offline",
        last_seen_at=NOW,
        version="v1",
        platform_providers=(PlatformProvider(name="cluster", type="KUBERNETES"),),
    )

    assert printed(agent_table([agent], AT)) == (
        "NAME  ID       STATUS     SEEN     VERSION  DEPLOYS TO\n"  #
        "near  agent-1  ✗ offline  10m ago  v1       cluster\n"
    )
    assert printed(agent_card(agent, AT)) == (
        "near  ✗ offline\n"
        "  id          agent-1\n"
        "  seen        10m ago\n"
        "  started     never\n"
        "  version     v1\n"
        "  deploys to  cluster\n"
        "  registered  10m ago\n"
    )


def test_a_change_shows_before_and_after() -> None:
    record = AuditRecord(
        id="1",
        created_at=NOW,
        project_id="shop",
        actor="ada",
        actor_kind="user",
        action="application.update",
        subject_id="a-1",
        subject_name="cart",
        before={"disabled": False, "labels": {}, "name": "old"},
        after={"disabled": True, "labels": {"a": "b"}},
        address="10.0.0.1",
    )
    new = msgspec.structs.replace(record, action="application.create", before={})
    gone = msgspec.structs.replace(record, action="application.delete", after={})

    assert printed(audit_table([record, new, gone], AT)) == (
        "WHEN     WHO  FROM      WHAT                ON    CHANGE\n"
        "10m ago  ada  10.0.0.1  application.update  cart  "
        'disabled: false → true, labels: {} → {"a":"b"}, name: old → nothing\n'
        "10m ago  ada  10.0.0.1  application.create  cart  new\n"
        "10m ago  ada  10.0.0.1  application.delete  cart  gone\n"
    )


def test_the_card_of_an_application_says_why_its_file_cannot_be_used() -> None:
    state = SyncState(
        status=SyncStatus.INVALID_CONFIG, at=NOW, short_reason="invalid config", reason="app.pipecd.yaml:3:1: no name"
    )

    card = printed(application_card(an_application(sync_state=state), AT))

    assert card.splitlines()[1] == "  invalid config"
    assert card.count("app.pipecd.yaml:3:1: no name") == 1
