"""APIService, as PipeCD's pipectl and other programs call it with an API key.

    servicer         the 23 calls: which role each needs, and which function answers it
    desk             what those functions work with; identity, rules and errors for all of them in one place
    applications     looking at applications
    registration     adding, moving, switching and deleting them
    deployments      looking at deployments and their logs
    agents           registering agents, letting them in, sealing secrets for them
    requests         commands and events
    plan_previews    what a merge would deploy
    remotes          whether two addresses name one repository
    filters          what lists are asked for, in our words

Every function takes (desk, identity, request) and raises errors in our words; an object of another project is
refused, whichever call names it. What PipeCD does otherwise: lists use all statuses, kinds and ids that are given, not
the first of each; labels are looked at before a page is cut; two spellings of one remote are one repository.
"""
