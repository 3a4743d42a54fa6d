"""An application's files → the Kubernetes objects they describe, checked before anybody acts on them.

load.py          the door: `Manifests.load`
plain.py         manifests as they are
kustomize.py, helm.py, charts.py
                 what the tools are told, and where charts come from
git_remotes.py   Git remotes that charts and bases come from
rendering.py     the tools run on the files, without changing them
renderings.py    what was rendered is remembered by what it was made of
documents.py     text → objects, with the line of each; checks.py: what is wrong with one
scope.py         namespaces, and the kinds that have none
places.py        paths that people wrote, kept inside the repository
tools.py, command.py
                 helm and kustomize in the wanted version, and one run of a tool
"""
