"""What a change would do to the objects of one deploy target, for people who review it.

The text ends up in terminals, web pages and comments on pull requests, and what stands in it was written by whoever
asks for the review: nothing in it ends a code block, and nothing turns the direction of a text around.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from fairway.kube.manifest import Body, Key, Manifest
from fairway.plugins.kubernetes.planning.difference import Tolerance, differences, masked_pair, yaml_lines
from fairway.sdk import Preview

#: As PipeCD compares for a preview.
_TOLERANCE: Final = Tolerance(numbers_as_texts=True, empty_is_absent=True)
#: How many lines of one object, and how many letters in all, somebody is expected to read.
_MOST_LINES: Final = 400
_MOST_LETTERS: Final = 500_000
_FENCE: Final = re.compile(r"^([ \t+#|-]*)(`{3}|~{3})", re.MULTILINE)
#: Letters that turn the direction of what follows them, or cannot be seen.
_TRICKS: Final = {
    number: f"\\u{number:04x}"
    for number in (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF)
}


def preview(
    deploy_target: str,
    before: Sequence[Manifest],
    after: Sequence[Manifest],
    notes: Iterable[str] = (),
    *,
    prunes: bool = True,
) -> Preview:
    """What would be added, changed and deleted at a deploy target; without `prunes`, nothing is deleted."""
    old, new = _bodies(before), _bodies(after)
    missing = sorted(key for key in old if key not in new)
    deleted, kept = (missing, []) if prunes else ([], missing)
    added = [key for key in new if key not in old]
    changed = sorted(brought(before, after).difference(added))
    if not (missing or added or changed):
        return Preview(deploy_target=deploy_target, summary="No manifest would change", changes=False)
    signs = [("-", deleted), ("+", sorted(added)), ("#", changed)]
    entries = [(sign, key) for sign, keys in signs for key in keys]
    stays = [f"{key} is not in Git any more and stays in the cluster, because prune is off" for key in kept]
    parts = [safe(f"# {note}\n") for note in (*notes, *stays)]
    parts += [_entry(f"{sign} {n}.", key, old.get(key), new.get(key)) for n, (sign, key) in enumerate(entries, 1)]
    summary = f"{len(added)} added manifests, {len(changed)} changed manifests, {len(deleted)} deleted manifests"
    if kept:
        summary += f"; {len(kept)} {'stays' if len(kept) == 1 else 'stay'} in the cluster, because prune is off"
    return Preview(
        deploy_target=deploy_target,
        summary=summary,
        details=_bounded(parts),
    )


def brought(before: Sequence[Manifest], after: Sequence[Manifest]) -> frozenset[Key]:
    """What is new, or otherwise than before."""
    old = _bodies(before)
    return frozenset(
        each.key for each in after if each.key not in old or differences(old[each.key], each.body, _TOLERANCE)
    )


def _bodies(manifests: Iterable[Manifest]) -> dict[Key, Body]:
    return {each.key: each.body for each in manifests}


def _entry(number: str, key: Key, before: Body | None, after: Body | None) -> str:
    body = after if after is not None else before
    version = body["apiVersion"] if body is not None else ""
    place = f', namespace="{key.namespace}"' if key.namespace else ""
    heading = f'{number} name="{key.name}", kind="{key.kind}"{place}, apiVersion="{version}"'
    lines = _diff(before, after)
    left = len(lines) - _MOST_LINES
    if left > 0:
        lines = [*lines[:_MOST_LINES], f"# … {left} more lines of it are not shown"]
    return safe("\n".join([heading, "", *lines, ""])) + "\n"


def _diff(before: Body | None, after: Body | None) -> list[str]:
    """The lines of a unified diff, without those that name files."""
    old, new = ([] if each is None else yaml_lines(each) for each in masked_pair(before, after))
    return [line.rstrip("\n") for line in difflib.unified_diff(old, new, lineterm="")][2:]


def _bounded(parts: Sequence[str]) -> str:
    shown: list[str] = []
    letters = 0
    for index, each in enumerate(parts):
        letters += len(each)
        if letters > _MOST_LETTERS:
            shown.append(f"# … {len(parts) - index} more are not shown\n")
            break
        shown.append(each)
    return "\n".join(shown)


def safe(text: str) -> str:
    """A text that stays inside the code block into which it is put, and reads as it is written."""
    return _FENCE.sub(lambda found: f"{found[1]}{found[2][0]}\u200b{found[2][1:]}", text.translate(_TRICKS))
