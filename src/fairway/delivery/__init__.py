"""The decisions of one deployment, without I/O: facts and the time go in, a decision with its reason comes out.

The files in the order of a commit travelling:

    paths.py         which paths a list of patterns means
    commit.py        which applications a commit touches
    preview.py       whether merging a branch would deploy, asked before
    trigger.py       deploy or not, and why
    chain.py         whether a deployment of a chain may be planned yet
    strategy.py      all at once, or through the pipeline
    plan.py          the stages, merged from what each plugin answers
    stages.py        what next: start, run, skip, interrupt, wait, roll back, stop
    skip.py          whether a stage is passed over
    rollback.py      which stages undo the work, and in what order

Every decision carries one sentence of reason, which log, command line and web page show as it is. The agent
gathers the facts and acts; statuses change only through the tables in `fairway.model`.
"""
