"""GitHub: `X-Hub-Signature-256`, and the push event with its clone addresses."""

import msgspec

from fairway.server.webhooks.delivery import NO_COMMIT, Delivery, Genuine, Push, known, prefixed_signature, read_body


class PushedRepository(msgspec.Struct, frozen=True):
    """As GitHub and those that follow it name the addresses."""

    clone_url: str = ""
    ssh_url: str = ""
    html_url: str = ""


class PushEvent(msgspec.Struct, frozen=True):
    """The parts that matter here."""

    ref: str
    after: str
    repository: PushedRepository

    def pushes(self) -> tuple[Push, ...]:
        """One, or none when the branch was deleted."""
        if self.after == NO_COMMIT:
            return ()
        found = self.repository
        return (Push(known(found.clone_url, found.ssh_url, found.html_url), self.ref, self.after),)


class GitHub:
    """github.com and GitHub Enterprise."""

    def verify(self, secret: str, delivery: Delivery) -> Genuine | None:
        return prefixed_signature(secret, delivery, "x-hub-signature-256")

    def pushes(self, delivery: Delivery) -> tuple[Push, ...]:
        # Other events, and the ping that a new webhook begins with, are none.
        if delivery.header("x-github-event") != "push":
            return ()
        return read_body(delivery, PushEvent).pushes()
