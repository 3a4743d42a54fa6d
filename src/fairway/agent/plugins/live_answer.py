"""What runs of an application, as one plugin says it."""

import msgspec

from fairway.model.application import SyncState
from fairway.model.live_state import Resource


class LiveAnswer(msgspec.Struct, frozen=True):
    """What runs of an application, as one plugin sees it."""

    resources: tuple[Resource, ...]
    sync: SyncState
    #: Whether the plugin tells of every change from now on.
    watched: bool = False
    #: Whether deploying takes away any of the difference from Git, as far as the plugin can tell.
    mendable: bool = True
