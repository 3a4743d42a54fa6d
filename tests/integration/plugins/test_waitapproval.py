"""WAIT_APPROVAL, served over real gRPC: who may approve, how many must, and what time does to it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairway.model.stage import ManualOperation, StageStatus
from fairway.plugins.waitapproval import WaitApproval
from fairway.sdk.testing import Ended, PluginUnderTest, plugin_under_test
from tests.integration.agent.running import until

ADA, BOB = "ada at 2026-01-01 00:00:00 UTC", "bob at 2026-01-01 00:00:00 UTC"
UNLISTED = "Waiting for 2 approvals; no approvers are listed: any authorised user may approve"


async def noted(plugin: PluginUnderTest, key: str, value: str = "") -> None:
    """Until the stage has kept something."""

    async def look() -> bool:
        found = plugin.agent.stage_notes.get("s", {}).get(key)
        return found is not None and value in found

    await until(look)


async def test_two_of_those_who_may_approve_and_both_are_told(tmp_path: Path) -> None:
    options = {"approvers": ["ada", "bob"], "minApproverNum": 2}
    async with plugin_under_test(WaitApproval, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("WAIT_APPROVAL", options, id="s"))
        for name in ("ada", "eve", "ada", "bob"):
            plugin.agent.approve("s", by=name)
        ended = await running

    told = f"Approved by {ADA}, {BOB}"
    assert ended == Ended(
        StageStatus.SUCCEEDED,
        told,
        (
            "Waiting for 2 approvals of ada, bob",
            f"Approved by {ADA} (1 of 2)",
            "eve approved, but is not one of ada, bob",
            f"Approved by {BOB} (2 of 2)",
            told,
        ),
    )
    notes = plugin.agent.stage_notes["s"]
    assert notes["pipecd/stage-approved-users"] == "ada, bob"
    assert notes["pipecd/stage-display-metadata"] == f"2 of 2: {ADA}, {BOB}"


async def test_a_restart_goes_on_with_those_who_have_approved_and_says_nothing_twice(tmp_path: Path) -> None:
    options = {"minApproverNum": 2}
    async with plugin_under_test(WaitApproval, tmp_path) as plugin:
        first = asyncio.create_task(plugin.run("WAIT_APPROVAL", options, id="s"))
        plugin.agent.approve("s", by="ada")
        await noted(plugin, "fairway/approvals", "ada")
        first.cancel()
        # The server lists an approval until the stage has ended, or not any more.
        plugin.agent.commands.clear()
        second = asyncio.create_task(plugin.run("WAIT_APPROVAL", options, id="s"))
        plugin.agent.approve("s", by="bob")
        ended = await second

    assert ended.message == f"Approved by {ADA}, {BOB}"
    assert [line for line in plugin.agent.logs["s"] if line.startswith("Waiting")] == [UNLISTED]


async def test_time_that_runs_out_is_a_yes_where_the_file_says_so(tmp_path: Path) -> None:
    options = {"approvers": ["ada", "bob"], "minApproverNum": 2, "timeout": "1s", "onTimeout": "approve"}
    async with plugin_under_test(WaitApproval, tmp_path) as plugin:
        # Known before the time begins, which is short.
        plugin.agent.stage_notes["s"] = {"fairway/approvals": '{"ada": "2026-01-01T00:00:00Z"}'}
        ended = await plugin.run("WAIT_APPROVAL", options, id="s")

    told = f"Counts as approved, because too few answered within 1s (1 of 2 approvals: {ADA})"
    assert (ended.status, ended.message, ended.log[-1]) == (StageStatus.SUCCEEDED, told, told)
    assert ended.log[0] == "Waiting for 2 approvals of ada, bob, for 1s, after which it counts as approved"
    assert plugin.agent.stage_notes["s"]["fairway/approved-by-timeout"] == "true"


async def test_one_that_is_ended_says_who_had_approved(tmp_path: Path) -> None:
    async with plugin_under_test(WaitApproval, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("WAIT_APPROVAL", {"minApproverNum": 2}, id="s"))
        plugin.agent.approve("s", by="ada")
        await noted(plugin, "fairway/approvals", "ada")
        await plugin.stop("s", "timed out after 30m")
        ended = await running

    assert (ended.status, ended.log[-1]) == (
        StageStatus.CANCELLED,
        f"timed out after 30m (1 of 2 approvals: {ADA})",
    )


@pytest.mark.parametrize(
    ("options", "operators", "metadata"),
    [
        pytest.param({}, (), {"fairway/minimum-approvals": "1"}, id="anybody"),
        pytest.param(
            {"approvers": ["ada"], "groups": ["sre"], "minApproverNum": 3},
            ("ada", "group:sre"),
            {"fairway/minimum-approvals": "3"},
            id="a person and a group",
        ),
        pytest.param(
            {"approvers": ["group:sre"], "minApproverNum": 2, "onTimeout": "approve"},
            ("group:sre",),
            {"fairway/minimum-approvals": "2", "fairway/approve-on-timeout": "true"},
            id="a group among the approvers, or nobody",
        ),
    ],
)
async def test_the_plan_says_who_and_how_many(
    tmp_path: Path, options: Mapping[str, Any], operators: tuple[str, ...], metadata: dict[str, str]
) -> None:
    async with plugin_under_test(WaitApproval, tmp_path) as plugin:
        (stage,) = await plugin.plan("WAIT_APPROVAL", options)

    assert stage.available_operation is ManualOperation.APPROVE
    assert (stage.authorized_operators, stage.metadata) == (operators, metadata)
