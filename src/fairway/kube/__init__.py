"""Kubernetes as everything here sees it: objects, the API of one cluster, and a picture of it that is kept up to date.

Thin on purpose: bodies stay the plain mappings that they are in JSON. What a platform plugin or a controller makes of
them stands there.
"""
