"""Kubernetes, the first platform: manifests from Git, stages that bring them to clusters, and what runs there.

plugin.py        the stages, and the answers to an agent's questions, each a thin method
settings.py, routes.py, clusters.py
                 what the files say, and which objects go to which cluster
marks.py, parts.py
                 how an object says whose it is; parts of objects
site.py, stages.py, started.py, undoing.py
                 an application at one deploy target, and what each stage does there

In the order of a commit on its way to a cluster:

manifests/       an application's files → the objects they describe
planning/        what a commit would bring, how it is deployed, and whether a cluster would take it
shaping/         what is made of manifests before they are applied; pure
applying/        bringing them to a cluster, after a check of everything
whose/           whose an object is that is there already
rollout/         waiting until what was applied is there, well, and still what was applied
removing/        what an application has there, and taking away what it should not have
health/          how well an object is, and why
live/            what runs, by watching
drift/           how that differs from Git
"""
