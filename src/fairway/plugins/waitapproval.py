"""WAIT_APPROVAL: goes on when enough people have said yes.

Who may say yes, and how many have to, is decided before the stage runs and travels with it, so that the server counts
too and refuses a stage that claims more than was given. Who approved is kept with the stage and survives a restart.
"""

from fairway.config.stages import StageOptions, WaitApprovalOptions
from fairway.model.command import ApproveStage
from fairway.sdk import ManualOperation, PlannedStage, Plugin, StageRun, stage
from fairway.sdk.plugin import StageSpec

#: Under which the server finds how many approvals a stage needs.
MINIMUM = "fairway/minimum-approvals"
#: Where PipeCD's page looks for who approved: names with a comma and a space between them.
APPROVED_BY = "pipecd/stage-approved-users"


class WaitApproval(Plugin):
    """Waits for people."""

    name = "waitapproval"

    def plan(self, _spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        if not isinstance(options, WaitApprovalOptions):
            return PlannedStage()
        return PlannedStage(
            operation=ManualOperation.APPROVE,
            operators=options.approvers,
            metadata={MINIMUM: str(options.min_approver_num)},
        )

    @stage("WAIT_APPROVAL", options=WaitApprovalOptions)
    async def wait(self, run: StageRun[WaitApprovalOptions]) -> None:
        """Wait until enough people have approved."""
        needed, approvers = run.options.min_approver_num, run.options.approvers
        who = f" of {', '.join(approvers)}" if approvers else ""
        noted = await run.noted(APPROVED_BY)
        approved = noted.split(", ") if noted else []
        run.log.info(f"Waiting for {needed} approval{'s' if needed > 1 else ''}{who}")
        if len(approved) < needed:
            async for command in run.commands():
                if not isinstance(command.payload, ApproveStage) or command.commander in approved:
                    continue
                approved.append(command.commander)
                run.log.info(f"Approved by {command.commander} ({len(approved)} of {needed})")
                await run.note({APPROVED_BY: ", ".join(approved)})
                await run.show(f"{len(approved)} of {needed}: {', '.join(approved)}")
                if len(approved) >= needed:
                    break
        run.log.success(f"Approved by {', '.join(approved)}")
