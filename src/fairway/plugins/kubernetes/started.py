"""With which configuration the pods run that are in the cluster, so far as somebody else has started them.

An application that changes hands keeps its pods. PipeCD's older agents write no hash of the configuration into the
templates of StatefulSets and DaemonSets; writing one would roll them for nothing. Whether it is for nothing can be
told as long as we have not touched the configuration: it is what they were started with, and what Git says, or not.
That is noted before it is touched: a stage that was broken off in between, or its rollback, could not tell any more.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.manifest import Key, Manifest
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.config_hash import Hashed, Started, hashed, same_content
from fairway.plugins.kubernetes.site import Site


async def started_pods(site: Site, manifests: Sequence[Manifest]) -> dict[Key, Started]:
    """Of the workloads among the manifests that have a hash, those that are there."""
    found: dict[Key, Started] = {}
    unknown: list[Hashed] = []
    for each in hashed(manifests):
        live = await site.live(each.manifest)
        if live is None:
            continue
        template = part(live, "spec", "template", "metadata", "annotations") or {}
        noted = part(live, "metadata", "annotations") or {}
        found[each.manifest.key] = Started(template=template, noted=noted)
        if not each.hashes.keys() <= {*template, *noted}:
            unknown.append(each)
    for key in await _unchanged(site, unknown) if unknown else ():
        found[key] = msgspec.structs.replace(found[key], unchanged=True)
    return found


async def _unchanged(site: Site, workloads: Sequence[Hashed]) -> list[Key]:
    """Which of them run with the configuration that Git says."""
    before = await site.noted_configuration()
    now = dict(before)
    for each in workloads:
        if all([await _is_as_it_was(site, config) for config in each.configs]):
            now[str(each.manifest.key)] = dict(each.hashes)
    if now != before:
        await site.note_configuration(now)
    return [each.manifest.key for each in workloads if now.get(str(each.manifest.key)) == each.hashes]


async def _is_as_it_was(site: Site, config: Manifest) -> bool:
    live = await site.live(config)
    return live is not None and not _is_ours(live) and same_content(live, config.body)


def _is_ours(live: dict[str, Any]) -> bool:
    return any(each.get("manager") == FIELD_MANAGER for each in part(live, "metadata", "managedFields") or ())
