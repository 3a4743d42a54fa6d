"""WAIT_APPROVAL: goes on when enough people have said yes.

Who may say yes, and how many have to, is decided before the stage runs and travels with it, so that the server counts
too and refuses a stage that claims more than was given. Who approved and when is kept with the stage, shown under it,
and survives a restart. When too few have answered in time, the agent ends the stage; only where that is to be as good
as a yes does the plugin watch the time itself.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime

import msgspec

from fairway.config.application import DEFAULT_TIMEOUT
from fairway.config.stages import StageOptions, WaitApprovalOptions
from fairway.model.command import ApproveStage, Command
from fairway.model.stage import (
    APPROVE_ON_TIMEOUT,
    APPROVED_BY_TIMEOUT,
    DISPLAY,
    GROUP_OF_OPERATORS,
    MINIMUM_APPROVALS,
)
from fairway.sdk import ManualOperation, Outcome, PlannedStage, Plugin, StageRun, stage
from fairway.sdk.plugin import StageSpec

#: Where PipeCD's page looks for who approved: names with a comma and a space between them.
APPROVED_BY = "pipecd/stage-approved-users"
#: Who approved and when, as JSON; and since when somebody is waited for.
APPROVALS, WAITING_SINCE = "fairway/approvals", "fairway/waiting-since"


class WaitApproval(Plugin):
    """Waits for people."""

    name = "waitapproval"

    def plan(self, _spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        if not isinstance(options, WaitApprovalOptions):
            return PlannedStage()
        metadata = {MINIMUM_APPROVALS: str(options.min_approver_num)}
        if options.approves_on_timeout:
            metadata[APPROVE_ON_TIMEOUT] = "true"
        return PlannedStage(operation=ManualOperation.APPROVE, operators=options.operators, metadata=metadata)

    @stage("WAIT_APPROVAL", options=WaitApprovalOptions)
    async def wait(self, run: StageRun[WaitApprovalOptions]) -> Outcome:
        """Wait until enough people have approved."""
        since = await _since(run)
        given = await _given(run)
        timeout = (run.options.timeout or DEFAULT_TIMEOUT) if run.options.approves_on_timeout else None
        # Never more than all of it, should the clock have been set back since it was noted.
        left = None if timeout is None else min(since + timeout - run.now(), timeout).total_seconds()
        try:
            async with asyncio.timeout(left):
                await _collect(run, given)
        except TimeoutError:
            told = f"Counts as approved, because too few answered within {timeout}{_so_far(run, given)}"
            await run.note({APPROVED_BY_TIMEOUT: "true", DISPLAY: told})
        except asyncio.CancelledError:
            if run.stopped and not run.handed_over:
                run.log.error(f"{run.stop_reason or 'Stopped'}{_so_far(run, given)}")
            raise
        else:
            told = f"Approved by {_in_words(given)}"
        run.log.success(told)
        return Outcome(message=told)


async def _since(run: StageRun[WaitApprovalOptions]) -> datetime:
    """When the waiting began, which is told once."""
    noted = await run.noted(WAITING_SINCE)
    if noted is not None:
        return datetime.fromisoformat(noted)
    run.log.info(_waiting_for(run.options))
    await run.log.flush()
    now = run.now()
    await run.note({WAITING_SINCE: now.isoformat()})
    return now


def _waiting_for(options: WaitApprovalOptions) -> str:
    needed, operators = options.min_approver_num, options.operators
    who = f" of {', '.join(operators)}" if operators else "; no approvers are listed: any authorised user may approve"
    end = "after which it counts as approved" if options.approves_on_timeout else "after which it fails"
    until = f", for {options.timeout}, {end}" if options.timeout else ""
    return f"Waiting for {needed} approval{'s' if needed > 1 else ''}{who}{until}"


async def _given(run: StageRun[WaitApprovalOptions]) -> dict[str, datetime]:
    """Who had approved before a restart, and when."""
    noted = await run.noted(APPROVALS)
    return msgspec.json.decode(noted, type=dict[str, datetime]) if noted else {}


async def _collect(run: StageRun[WaitApprovalOptions], given: dict[str, datetime]) -> None:
    """Add approvals as they come, until there are enough."""
    needed = run.options.min_approver_num
    if len(given) >= needed:
        return
    async for command in run.commands():
        if not isinstance(command.payload, ApproveStage) or command.commander in given:
            continue
        if not _may_approve(command, run.options):
            run.log.error(f"{command.commander} approved, but is not one of {', '.join(run.options.operators)}")
            continue
        given[command.commander] = command.created_at
        run.log.info(f"Approved by {_in_words({command.commander: command.created_at})} ({len(given)} of {needed})")
        await run.note(
            {
                APPROVED_BY: ", ".join(given),
                APPROVALS: msgspec.json.encode(given).decode(),
                DISPLAY: f"{len(given)} of {needed}: {_in_words(given)}",
            }
        )
        if len(given) >= needed:
            return


def _may_approve(command: Command, options: WaitApprovalOptions) -> bool:
    """Whether the one who approved is listed. Whether they are in a group is the server's to know, which has asked."""
    by_name = {each for each in options.operators if not each.startswith(GROUP_OF_OPERATORS)}
    return len(by_name) < len(options.operators) or not by_name or command.commander in by_name


def _so_far(run: StageRun[WaitApprovalOptions], given: Mapping[str, datetime]) -> str:
    count = f"{len(given)} of {run.options.min_approver_num} approvals"
    return f" ({count}: {_in_words(given)})" if given else f" ({count})"


def _in_words(given: Mapping[str, datetime]) -> str:
    return ", ".join(f"{name} at {at:%Y-%m-%d %H:%M:%S} UTC" for name, at in given.items())
