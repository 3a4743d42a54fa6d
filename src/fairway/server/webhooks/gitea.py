"""Gitea and Forgejo: a signature header of their own beside GitHub's, and GitHub's push event."""

from fairway.server.webhooks.delivery import Delivery, Genuine, Push, prefixed_signature, read_body, signed_with
from fairway.server.webhooks.github import PushEvent

#: The first that was sent counts: a wrong one is not rescued by a right one of another name.
_SIGNATURES = ("x-forgejo-signature", "x-gitea-signature")
_EVENTS = ("x-forgejo-event", "x-gitea-event")


class Gitea:
    """Gitea, Forgejo, Codeberg."""

    def verify(self, secret: str, delivery: Delivery) -> Genuine | None:
        sent = next((name for name in _SIGNATURES if name in delivery.headers), None)
        if sent is None:
            return prefixed_signature(secret, delivery, "x-hub-signature-256")
        return Genuine() if signed_with(secret.encode(), delivery.body, delivery.header(sent)) else None

    def pushes(self, delivery: Delivery) -> tuple[Push, ...]:
        event = next((delivery.header(name) for name in _EVENTS if name in delivery.headers), "")
        return read_body(delivery, PushEvent).pushes() if event == "push" else ()
