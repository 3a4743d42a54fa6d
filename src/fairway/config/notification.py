"""Who is told what: routes choose a receiver for an event, receivers say how to reach somebody."""

from typing import Final

import msgspec

from fairway.config.problems import did_you_mean
from fairway.config.settings import Problems, Settings, ZeroMeansDefault

#: Every event that can be routed, without PipeCD's prefix `EVENT_`.
EVENTS: Final = (
    "DEPLOYMENT_TRIGGERED",
    "DEPLOYMENT_PLANNED",
    "DEPLOYMENT_APPROVED",
    "DEPLOYMENT_ROLLING_BACK",
    "DEPLOYMENT_SUCCEEDED",
    "DEPLOYMENT_FAILED",
    "DEPLOYMENT_CANCELLED",
    "DEPLOYMENT_WAIT_APPROVAL",
    "DEPLOYMENT_TRIGGER_FAILED",
    "DEPLOYMENT_STARTED",
    "APPLICATION_SYNCED",
    "APPLICATION_OUT_OF_SYNC",
    "APPLICATION_HEALTHY",
    "PIPED_STARTED",
    "PIPED_STOPPED",
    "STAGE_STARTED",
    "STAGE_SKIPPED",
    "STAGE_SUCCEEDED",
    "STAGE_FAILED",
    "STAGE_CANCELLED",
)
GROUPS: Final = ("DEPLOYMENT", "APPLICATION_SYNC", "APPLICATION_HEALTH", "PIPED", "STAGE")


class Route(Settings, frozen=True):
    """Which events go to which receiver. What is ignored wins; then all filters that are given must match."""

    name: str = ""
    receiver: str = ""
    events: tuple[str, ...] = ()
    ignore_events: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    ignore_groups: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    ignore_apps: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    ignore_labels: dict[str, str] = {}

    def problems(self) -> Problems:
        found: Problems = [] if self.receiver else [("receiver", "is missing; name one of the receivers")]
        known = {"events": EVENTS, "ignoreEvents": EVENTS, "groups": GROUPS, "ignoreGroups": GROUPS}
        given = (self.events, self.ignore_events, self.groups, self.ignore_groups)
        for (field, names), values in zip(known.items(), given, strict=True):
            for position, value in enumerate(values):
                if value != "*" and value not in names:
                    found.append(
                        (
                            f"{field}[{position}]",
                            f"is {value!r}, which is not known{did_you_mean(value, names)}",
                        )
                    )
        return found


class SlackReceiver(Settings, frozen=True):
    """A Slack channel, by webhook or by token."""

    hook_url: str = msgspec.field(name="hookURL", default="")
    oauth_token: str = ""
    oauth_token_data: str = ""
    oauth_token_file: str = ""
    channel_id: str = msgspec.field(name="channelID", default="")
    mentioned_accounts: tuple[str, ...] = ()
    mentioned_groups: tuple[str, ...] = ()

    def problems(self) -> Problems:
        tokens = [token for token in (self.oauth_token, self.oauth_token_data, self.oauth_token_file) if token]
        if bool(self.hook_url) == bool(tokens):
            return [
                (
                    "",
                    "needs either hookURL, or one of oauthToken, oauthTokenData, oauthTokenFile with channelID",
                )
            ]
        if len(tokens) > 1:
            return [("", "has more than one of oauthToken, oauthTokenData and oauthTokenFile")]
        if tokens and not self.channel_id:
            return [("channelID", "is missing; a token needs a channel")]
        return []


class WebhookReceiver(ZeroMeansDefault, frozen=True):
    """An HTTP endpoint of one's own."""

    url: str = ""
    signature_key: str = "PipeCD-Signature"
    signature_value: str = ""
    signature_value_file: str = ""

    def problems(self) -> Problems:
        found: Problems = [] if self.url else [("url", "is missing")]
        if self.signature_value and self.signature_value_file:
            found.append(("signatureValueFile", "is given beside signatureValue; write either"))
        return found


class Receiver(Settings, frozen=True):
    """A named way to reach somebody."""

    name: str
    slack: SlackReceiver | None = None
    webhook: WebhookReceiver | None = None


class Notifications(Settings, frozen=True):
    """The agent's notifications."""

    routes: tuple[Route, ...] = ()
    receivers: tuple[Receiver, ...] = ()

    def problems(self) -> Problems:
        names = [receiver.name for receiver in self.receivers]
        return [
            (
                f"routes[{position}].receiver",
                f"is {route.receiver!r}; there is no such receiver{did_you_mean(route.receiver, names)}",
            )
            for position, route in enumerate(self.routes)
            if route.receiver and route.receiver not in names
        ]
