"""Deliveries as the Git hosts document them, signed by the documented algorithms and not by the code under test."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from fairway.server.webhooks.delivery import Delivery
from fairway.server.webhooks.providers import ProviderName
from tests.unit.model.builders import NOW

COMMIT = "bffeb74224043ba2feb48d137756c8a9331c449a"
REMOTE = "https://git.acme.dev/acme/shop.git"
SSH_REMOTE = "git@git.acme.dev:acme/shop.git"
PAGE = "https://git.acme.dev/acme/shop"
SECRET = "4f" * 32
GITLAB_SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()

GITHUB_PUSH = {
    "ref": "refs/heads/main",
    "before": "0" * 40,
    "after": COMMIT,
    "created": False,
    "deleted": False,
    "repository": {
        "id": 35129377,
        "name": "shop",
        "full_name": "acme/shop",
        "html_url": PAGE,
        "clone_url": REMOTE,
        "ssh_url": SSH_REMOTE,
        "git_url": "git://git.acme.dev/acme/shop.git",
        "owner": {"name": "acme", "email": None},
    },
    "pusher": {"name": "ada", "email": "ada@acme.dev"},
    "head_commit": None,
    "commits": [],
}
GITLAB_PUSH = {
    "object_kind": "push",
    "event_name": "push",
    "before": "0" * 40,
    "after": COMMIT,
    "ref": "refs/heads/main",
    "checkout_sha": COMMIT,
    "user_id": 4,
    "project": {
        "id": 15,
        "web_url": PAGE,
        "git_ssh_url": SSH_REMOTE,
        "git_http_url": REMOTE,
        "namespace": "acme",
        "visibility_level": 0,
    },
    "commits": [{"id": COMMIT, "title": "x"}],
    "total_commits_count": 1,
}
BITBUCKET_CLOUD_PUSH = {
    "actor": {"type": "user", "display_name": "Ada"},
    "repository": {
        "type": "repository",
        "full_name": "acme/shop",
        "links": {
            "self": {"href": "https://api.git.acme.dev/2.0/repositories/acme/shop"},
            "html": {"href": PAGE},
            "avatar": {"href": "https://git.acme.dev/acme/shop/avatar/32/"},
        },
    },
    "push": {
        "changes": [
            {"new": {"type": "branch", "name": "main", "target": {"type": "commit", "hash": COMMIT}}, "old": None},
            {"new": None, "old": {"type": "branch", "name": "gone", "target": {"type": "commit", "hash": "1" * 40}}},
            {"new": {"type": "tag", "name": "v1", "target": {"type": "commit", "hash": COMMIT}}, "old": None},
        ]
    },
}
BITBUCKET_SERVER_PUSH = {
    "eventKey": "repo:refs_changed",
    "date": "2026-09-19T09:45:32+1000",
    "repository": {
        "slug": "shop",
        "links": {
            "clone": [
                {"href": "ssh://git@git.acme.dev:7999/acme/shop.git", "name": "ssh"},
                {"href": "https://git.acme.dev/scm/acme/shop.git", "name": "http"},
            ],
            "self": [{"href": "https://git.acme.dev/projects/ACME/repos/shop/browse"}],
        },
    },
    "changes": [
        {"refId": "refs/heads/main", "fromHash": "0" * 40, "toHash": COMMIT, "type": "UPDATE"},
        {"refId": "refs/heads/gone", "fromHash": COMMIT, "toHash": "0" * 40, "type": "DELETE"},
    ],
}
GENERIC_PUSH = {"remote": REMOTE, "ref": "refs/heads/main", "commit": COMMIT}

Headers = dict[str, str]
Sign = Callable[[str, bytes], Headers]


def hex_mac(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def github(secret: str, body: bytes, event: str = "push") -> Headers:
    return {"x-github-event": event, "x-hub-signature-256": f"sha256={hex_mac(secret, body)}"}


def gitea(secret: str, body: bytes) -> Headers:
    return {"x-gitea-event": "push", "x-github-event": "push", "x-gitea-signature": hex_mac(secret, body)}


def gitlab_token(secret: str, _body: bytes) -> Headers:
    return {"x-gitlab-event": "Push Hook", "x-gitlab-token": secret}


def gitlab_signed(secret: str, body: bytes, id: str = "msg-1", at: datetime = NOW) -> Headers:
    seconds = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signature}


def bitbucket_cloud(secret: str, body: bytes) -> Headers:
    return {"x-event-key": "repo:push", "x-hub-signature": f"sha256={hex_mac(secret, body)}"}


def bitbucket_server(secret: str, body: bytes) -> Headers:
    return {**bitbucket_cloud(secret, body), "x-event-key": "repo:refs_changed"}


def generic_plain(secret: str, body: bytes) -> Headers:
    return {"x-fairway-signature": f"sha256={hex_mac(secret, body)}"}


def generic_timed(secret: str, body: bytes, at: datetime = NOW) -> Headers:
    seconds = str(int(at.timestamp()))
    return {"x-fairway-signature": f"t={seconds},v1={hex_mac(secret, f'{seconds}.'.encode() + body)}"}


#: Every way to sign: the provider, a secret of its form, what it sends, its headers.
WAYS: dict[str, tuple[ProviderName, str, dict[str, Any], Sign]] = {
    "GitHub": (ProviderName.GITHUB, SECRET, GITHUB_PUSH, github),
    "Gitea": (ProviderName.GITEA, SECRET, GITHUB_PUSH, gitea),
    "GitLab by token": (ProviderName.GITLAB, GITLAB_SECRET, GITLAB_PUSH, gitlab_token),
    "GitLab by signature": (ProviderName.GITLAB, GITLAB_SECRET, GITLAB_PUSH, gitlab_signed),
    "Bitbucket Cloud": (ProviderName.BITBUCKET, SECRET, BITBUCKET_CLOUD_PUSH, bitbucket_cloud),
    "Bitbucket Data Center": (ProviderName.BITBUCKET, SECRET, BITBUCKET_SERVER_PUSH, bitbucket_server),
    "generic": (ProviderName.GENERIC, SECRET, GENERIC_PUSH, generic_plain),
    "generic with the time": (ProviderName.GENERIC, SECRET, GENERIC_PUSH, generic_timed),
}


def a_delivery(body: bytes | dict[str, Any], headers: Headers, received_at: datetime = NOW) -> Delivery:
    return Delivery(headers, body if isinstance(body, bytes) else json.dumps(body).encode(), received_at)
