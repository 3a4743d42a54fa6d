"""Bringing manifests to a cluster: everything is checked before the first is applied."""
