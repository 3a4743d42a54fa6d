"""The agent: watches Git, plans deployments, runs their stages through plugins and tells the server.

A commit's way through the files: `repositories` notices it, `applications` knows whose it is, `triggering` makes a
deployment of it, `planning` settles its stages, `running` runs them in `plugins`, and everything said to the server
goes through `outbox`, which forgets nothing.
"""
