"""APIService, as PipeCD's pipectl and other programs call it with an API key.

    servicer         the 23 calls, and which function answers each
    desk             the frame around those functions: identity, rules and errors for all of them in one place
    applications     looking at applications
    registration     adding, moving, switching and deleting them
    deployments      looking at deployments and their logs
    agents           registering agents, letting them in, sealing secrets for them
    requests         commands and events
    plan_previews    what a merge would deploy
    filters          what lists are asked for, in our words

Every function takes (desk, caller, request), puts it into our words, and leaves the rest to an action. What PipeCD does
otherwise: lists use all statuses, kinds and ids that are given, not the first of each; labels are looked at before a
page is cut; two spellings of one remote are one repository.
"""
