"""Anything that can compute an HMAC: a script, a CI job, a Git hook.

Body: `{"remote": "https://host/team/repository", "ref": "refs/heads/main", "commit": "…"}`; the last two may be left
out. Header: `X-Fairway-Signature: t=<unix seconds>,v1=<HMAC of "<t>.<body>">`, which cannot be sent a second time, or
the plain `X-Fairway-Signature: sha256=<HMAC of the body>`.
"""

import msgspec

from fairway.server.webhooks.delivery import (
    Delivery,
    Genuine,
    Push,
    UnreadableDelivery,
    is_fresh,
    prefixed_signature,
    read_body,
    signed_with,
)

HEADER = "x-fairway-signature"


class _Pushed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    remote: str
    ref: str = ""
    commit: str = ""


class Generic:
    """A sender that follows us."""

    def verify(self, secret: str, delivery: Delivery) -> Genuine | None:
        shown = delivery.header(HEADER)
        if not shown.startswith("t="):
            return prefixed_signature(secret, delivery, HEADER)
        seconds, _, signature = shown.removeprefix("t=").partition(",v1=")
        fits = signed_with(secret.encode(), b".".join((seconds.encode(), delivery.body)), signature)
        return Genuine(replay_id=signature) if fits and is_fresh(seconds, delivery.received_at) else None

    def pushes(self, delivery: Delivery) -> tuple[Push, ...]:
        said = read_body(delivery, _Pushed)
        if not said.remote:
            raise UnreadableDelivery("remote is empty; expected the address of the repository")
        return (Push((said.remote,), said.ref, said.commit),)
