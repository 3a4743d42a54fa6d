"""Which parts of a finished log are worth rewriting into fewer.

A log that was written every few seconds, twice over, is hundreds of small parts that overlap. Only those are taken
together: a part that is large enough and overlaps no other stays as it is, so that a late line does not cost the
rewriting of a whole log. The rewriting itself is in `store`.
"""

from collections.abc import Sequence

from fairway.server.logs.part import Part

#: How much text a rewritten part holds: few requests for a whole log, little to read for a page of it.
PART_BYTES = 1024 * 1024


def plan_compaction(parts: Sequence[Part]) -> list[list[Part]]:
    """Groups of neighbouring parts, each to be replaced by its blocks in as few parts as they need."""
    groups: list[list[Part]] = [[]]
    for cluster in _overlapping(parts):
        if len(cluster) == 1 and cluster[0].size >= PART_BYTES // 2:
            groups.append([])
        else:
            groups[-1].extend(cluster)
    return [group for group in groups if len(group) > 1]


def _overlapping(parts: Sequence[Part]) -> list[list[Part]]:
    """Parts in order, those together that share some range of indexes."""
    clusters: list[list[Part]] = []
    reach = -1
    for part in sorted(parts):
        if part.first <= reach:
            clusters[-1].append(part)
        else:
            clusters.append([part])
        reach = max(reach, part.last)
    return clusters
