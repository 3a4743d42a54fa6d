"""PipedService: what agents of all generations ask and report, a file for each noun.

`servicer` lists the calls, `desk` puts the same frame around each of them, `ownership` sees that an agent touches only
what is its own; decisions that need no store stand in `reports`, `chain_progress` and `live_state_events`.

What a report that the status tables refuse is answered (agents repeat a report ten times, over minutes, whatever the
error, so an error is only worth sending where the agent can do better):

    report                             late: the noun is      early: a step between     about an unknown
                                       already further        was not reported          noun / a foreign one
    ---------------------------------  ---------------------  ------------------------  -------------------
    CreateDeployment(Chain)            OK, first one stays    —                         — / denied
    ReportDeploymentPlanned            OK, first plan stays   —                         not found / denied
    ReportDeploymentStatusChanged      OK, nothing changes    failed precondition       not found / denied
    ReportDeploymentCompleted          OK, first end stays    failed precondition       not found / denied
    ReportStageStatusChanged           OK, nothing changes    failed precondition       not found / denied
    SaveDeployment…, SaveStageMetadata stored: notes are      —                         not found / denied
                                       true at any time
    ReportStageLogs…                   stored, likewise       —                         not found / denied
    ReportCommandHandled               OK, first answer stays —                         not found / denied
    ReportEventStatuses                OK, first result stays —                         not found / denied
    ReportApplicationMostRecent…       OK, the newer stays    —                         not found / denied
    ReportApplicationLiveState(Events) OK, the newer stays    events without a picture  not found / denied
                                                              name it in `failed_ids`

A deployment belongs to the agent that created it, even when its application has moved to another agent since: it can
be finished, while everything about the application itself is the new agent's at once.
"""
