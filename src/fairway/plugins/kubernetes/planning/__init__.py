"""What a commit would bring: how it differs from another, how it is deployed, and whether a cluster would take it."""
