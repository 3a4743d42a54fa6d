"""What people and programs can do, whichever door they come in by: one function each, and one way to refuse.

    desk            what all of them work with
    audit           the record that each change leaves, in the transaction that makes it
    applications    registering, changing, switching, deleting and syncing them
    places          where an application may live
    deployments     cancelling them, approving and skipping their stages
    approvals       who may operate a stage, and when
    plan_previews   asking what a merge would deploy
    agents          registering them, letting them in, replacing their keys, restarting them
    api_keys        keys of programs
    events          what is told from outside
    projects        the owners of everything
    commands        how far requests to agents have come
    reading         what else people look at
    names           what people may call things

An action takes (desk, caller, what is asked) and gives back a noun. It loads, asks `permit`, changes and records in one
transaction, so that what was permitted is what was changed; hints for agents follow once it is durable. A door only
translates: what a request says into the arguments, what comes back into an answer.
"""
