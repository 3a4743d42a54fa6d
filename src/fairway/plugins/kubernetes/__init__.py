"""Kubernetes, the first platform: manifests from Git, stages that bring them to clusters, and what runs there.

plugin.py        the stages, and the answers to an agent's questions, each a thin method
manifests/       an application's files → the objects they describe
strategy.py, versions.py, preview.py, difference.py
                 what a commit would bring, and how it differs from another
marks.py, order.py, config_hash.py, variants.py, patches.py, traffic.py
                 what is made of manifests before they are applied; pure
applying.py, pruning.py, rollout.py
                 bringing them to a cluster, and waiting until they are there
health.py, live*.py, tree.py, drift.py
                 what runs, how well, and how it differs from Git
"""
