"""What a sync would write of each object now: what Git says, and what is ours beside it.

Drift is what writing would change, so it takes everything that a stage writes: marks, hashes of configuration, the
label of the primary in selectors. Left out of the comparison is only what is another one with each deployment.
"""

from collections.abc import Mapping, Sequence

import msgspec

from fairway.kube.manifest import Body, Key, Manifest
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.marks import Owner, marked_as
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.config_hash import Started, with_config_hash
from fairway.plugins.kubernetes.shaping.variants import with_selector_label


def as_written(wanted: Sequence[Placed], live: Mapping[Key, Body], owner: Owner) -> tuple[Placed, ...]:
    """The objects as they would be written; `live` are those that we have written before.

    Any other is taken as Git says it: what somebody else has deployed until now is no drift for want of our marks.
    """
    started = {
        key: Started(
            template=part(body, "spec", "template", "metadata", "annotations") or {},
            noted=part(body, "metadata", "annotations") or {},
        )
        for key, body in live.items()
    }
    hashed = with_config_hash([each.manifest for each in wanted], started)
    return tuple(
        msgspec.structs.replace(each, manifest=_as_ours(manifest, live[each.key], owner)) if each.key in live else each
        for each, manifest in zip(wanted, hashed, strict=True)
    )


def _as_ours(manifest: Manifest, live: Body, owner: Owner) -> Manifest:
    if _has_selector_label(live, owner) and part(manifest.body, "spec", "template") is not None:
        # A stage was asked to add it, and it cannot be taken away again.
        label = {owner.variant_key: owner.variant}
        manifest = with_selector_label([manifest], [manifest], label)[0]
    return marked_as(manifest, owner, live)


def _has_selector_label(live: Body, owner: Owner) -> bool:
    return bool(part(live, "spec", "selector", "matchLabels", owner.variant_key) == owner.variant)
