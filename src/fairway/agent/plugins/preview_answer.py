"""What a plugin says of a change before it is deployed."""

import msgspec


class PreviewAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin would change in one deploy target."""

    deploy_target: str
    changes: bool
    summary: str
    details: str
    #: How to colour the details; empty where the plugin does not say.
    language: str
