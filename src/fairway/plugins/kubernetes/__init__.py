"""Kubernetes, the first platform: manifests from Git, stages that bring them to clusters, and what runs there.

plugin.py        the stages, and the answers to an agent's questions, each a thin method
manifests/       an application's files → the objects they describe
strategy.py, versions.py, preview.py, difference.py
                 what a commit would bring, and how it differs from another
marks.py, order.py, config_hash.py, variants.py, references.py, needed.py, patches.py, traffic.py
strategy.py, versions.py, preview.py, difference.py, trial.py
                 what a commit would bring, how it differs from another, and whether a cluster would take it
marks.py, order.py, config_hash.py, variants.py, references.py, patches.py, traffic.py, weights.py
                 what is made of manifests before they are applied; pure
site.py, stages.py, started.py, undoing.py
                 an application at one deploy target, and what each stage does there
placing.py, applying.py, writing.py, replacing.py, adoption.py, known_change.py, admission.py, outcome.py, refusals.py,
rollout.py, waiting.py
placing.py, applying.py, adoption.py, known_change.py, admission.py, rollout.py, waiting.py, pausing.py
                 bringing manifests to a cluster, and waiting until they are there
owning.py, sharing.py, record.py, pruning.py, keeping.py, removing.py
placing.py, applying.py, adoption.py, known_change.py, admission.py, rollout.py, waiting.py, meddling.py
                 bringing manifests to a cluster, and waiting until they are there and still what was brought
alive.py, registered.py, owning.py, moving.py
                 whose an object is that is there already
record.py, pruning.py, removing.py
                 what an application has there, and taking away what it should not have
settings.py, routes.py, clusters.py
                 what the files say, and which objects go to which cluster
health.py, live*.py, tree.py, drift.py
                 what runs, how well, and how it differs from Git
"""
