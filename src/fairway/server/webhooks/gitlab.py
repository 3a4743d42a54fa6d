"""GitLab: the plain secret token, or the signing token of newer versions, which also keeps repeats out.

The secret that the server makes for GitLab has the form that a signing token must have (`whsec_` and 32 bytes in
base64), so the same text fits into either field. When a delivery is signed, the signature alone counts.
"""

import base64
import binascii
import hashlib
import hmac

import msgspec

from fairway.server.webhooks.delivery import NO_COMMIT, Delivery, Genuine, Push, is_fresh, known, read_body

PREFIX = "whsec_"
_KINDS = ("push", "tag_push")


class _Project(msgspec.Struct, frozen=True):
    git_http_url: str = ""
    git_ssh_url: str = ""
    web_url: str = ""


class _Event(msgspec.Struct, frozen=True):
    object_kind: str = ""
    #: System hooks say it here.
    event_name: str = ""
    ref: str = ""
    after: str = ""
    project: _Project = _Project()


class GitLab:
    """gitlab.com and GitLab of one's own."""

    def verify(self, secret: str, delivery: Delivery) -> Genuine | None:
        if "webhook-signature" in delivery.headers:
            return _signed(secret, delivery)
        shown = delivery.header("x-gitlab-token")
        return Genuine() if hmac.compare_digest(secret.encode(), shown.encode()) else None

    def pushes(self, delivery: Delivery) -> tuple[Push, ...]:
        event = read_body(delivery, _Event)
        if (event.object_kind or event.event_name) not in _KINDS or event.after == NO_COMMIT:
            return ()
        found = event.project
        return (Push(known(found.git_http_url, found.git_ssh_url, found.web_url), event.ref, event.after),)


def _signed(secret: str, delivery: Delivery) -> Genuine | None:
    """Standard Webhooks: HMAC-SHA256 in base64 over id, time and body; several signatures while a token changes."""
    id, seconds = delivery.header("webhook-id"), delivery.header("webhook-timestamp")
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        # A secret of another provider, so not the right one.
        key = secret.encode()
    digest = hmac.new(key, b".".join((id.encode(), seconds.encode(), delivery.body)), hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}".encode()
    # All are compared, so that the time does not tell which one fits.
    shown = delivery.header("webhook-signature").split(" ")[:10]
    fits = sum(hmac.compare_digest(expected, each.encode()) for each in shown)
    return Genuine(replay_id=id) if fits and id and is_fresh(seconds, delivery.received_at) else None
