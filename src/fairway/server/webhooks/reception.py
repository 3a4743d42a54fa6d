"""A delivery from its first byte to its hints: read in bounded memory, verified, understood, passed on.

Whoever sends something that is not genuine learns nothing: an unknown webhook is answered like a wrong signature, after
the same work. Deliveries that are under way share one budget of memory, a sender that dawdles is left, and one that
fails again and again has to wait. A delivery that was signed with its time counts once; its repeat is answered as the
first was. What is remembered for that is this process's own: a repeat at another replica costs one more hint.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime

import msgspec
import structlog
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.errors import TemporaryError, UserError
from fairway.model.agent import Agent
from fairway.server.hints import HintBoard, HintTopic
from fairway.server.remotes import same_repository
from fairway.server.status_codes import BadCredentials
from fairway.server.store import agents, webhooks
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store
from fairway.server.webhooks.delivery import TOLERANCE, Delivery, Push
from fairway.server.webhooks.providers import PROVIDERS, ProviderName
from fairway.server.webhooks.rate import Rate
from fairway.server.webhooks.webhook import Webhook

#: What GitHub sends at most.
MOST_BODY = 25 * 1024 * 1024
#: For all deliveries under way together.
MOST_MEMORY = 64 * 1024 * 1024
#: How long a body may take; GitHub gives up after ten seconds itself.
PATIENCE_SECONDS = 10.0
REMEMBERED_DELIVERIES = 10_000

_log = structlog.get_logger()


class TooLargeDelivery(UserError):
    """A body that no Git host sends."""


class TooManyDeliveries(TemporaryError):
    """A sender that has to wait."""

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(f"too many deliveries from here; try again in {wait_seconds} seconds")
        self.wait_seconds = wait_seconds


class SlowDelivery(TemporaryError):
    """A body that did not arrive in time."""


class BusyReception(TemporaryError):
    """No memory is left for this delivery now."""


class Received(msgspec.Struct, frozen=True):
    """What became of a delivery."""

    pushes: int
    #: How many agents were told.
    agents: int


class Request(msgspec.Struct, frozen=True):
    """A delivery whose body has not been read yet. Header names are in small letters."""

    webhook_id: str
    headers: Mapping[str, str]
    #: Where it comes from.
    address: str
    body: AsyncIterator[bytes]


class Reception:
    """Takes deliveries for all webhooks of the server."""

    def __init__(self, store: Store, hints: HintBoard, clock: Clock, patience: float = PATIENCE_SECONDS) -> None:
        self._store = store
        self._hints = hints
        self._clock = clock
        self._patience = patience
        self._memory_left = MOST_MEMORY
        self._failures = Rate(clock, at_once=20, per_second=0.2)
        self._genuine = Rate(clock, at_once=100, per_second=5.0)
        self._seen: OrderedDict[tuple[str, str], datetime] = OrderedDict()
        #: Stands in for a webhook that is not there.
        self._nobody = secrets.token_hex(32)

    async def receive(self, request: Request) -> Received:
        """Take one delivery. BadCredentials when it is not genuine; what else can be wrong is said above."""
        sender = f"{request.webhook_id} {request.address}"
        _refuse_if_waiting(self._failures, sender)
        body = await self._read(request)
        try:
            delivery = Delivery(request.headers, body, self._clock.now())
            webhook, replay_id = await self._verified(request.webhook_id, delivery, sender)
            if self._is_repeat(webhook.id, replay_id):
                return Received(0, 0)
            _refuse_if_waiting(self._genuine, webhook.id)
            self._genuine.take(webhook.id)
            received = await self._pass_on(webhook, PROVIDERS[webhook.provider].pushes(delivery))
            self._remember(webhook.id, replay_id)
            return received
        finally:
            self._memory_left += len(body)

    async def _read(self, request: Request) -> bytes:
        """The body, counted against the budget; the caller gives its length back."""
        chunks: list[bytes] = []
        length = 0
        try:
            async with asyncio.timeout(self._patience):
                async for chunk in request.body:
                    length += len(chunk)
                    self._memory_left -= len(chunk)
                    if length > MOST_BODY:
                        raise TooLargeDelivery(f"the body has more than {MOST_BODY} bytes; no Git host sends as much")
                    if self._memory_left < 0:
                        raise BusyReception("too much is being received at once; send it again later")
                    chunks.append(chunk)
        except BaseException as error:
            self._memory_left += length
            if isinstance(error, TimeoutError):
                raise SlowDelivery(f"the body was not there within {self._patience:g} seconds") from error
            raise
        return b"".join(chunks)

    async def _verified(self, webhook_id: str, delivery: Delivery, sender: str) -> tuple[Webhook, str]:
        webhook = await self._find(webhook_id)
        provider, secret = (
            (webhook.provider, webhook.secret) if webhook is not None else (ProviderName.GENERIC, self._nobody)
        )
        # Hashing 25 MiB takes long enough to hold others up; OpenSSL lets go of the interpreter meanwhile.
        genuine = await asyncio.to_thread(PROVIDERS[provider].verify, secret, delivery)
        if webhook is None or genuine is None:
            self._failures.take(sender)
            _log.warning("a delivery was refused: unknown, unsigned or wrongly signed", webhook_id=webhook_id[:64])
            raise BadCredentials("there is no such webhook, or the delivery is not signed with its secret")
        return webhook, genuine.replay_id

    async def _find(self, webhook_id: str) -> Webhook | None:
        # What cannot be an id, such as a text with a NUL, is not asked for.
        if not (webhook_id.isascii() and webhook_id.isprintable()):
            return None
        try:
            return await self._store.read(lambda connection: webhooks.load_webhook(connection, webhook_id))
        except NotFound:
            return None

    async def _pass_on(self, webhook: Webhook, pushes: tuple[Push, ...]) -> Received:
        if not pushes:
            return Received(0, 0)
        remotes = {remote for push in pushes for remote in push.remotes}

        def look(connection: Connection) -> tuple[str, ...]:
            return concerned(agents.list_agents(connection, webhook.project_id), remotes)

        told = await self._store.read(look)
        for agent_id in told:
            self._hints.publish(agent_id, HintTopic.REPOSITORY)
        return Received(len(pushes), len(told))

    def _is_repeat(self, webhook_id: str, replay_id: str) -> bool:
        return bool(replay_id) and (webhook_id, replay_id) in self._seen

    def _remember(self, webhook_id: str, replay_id: str) -> None:
        if not replay_id:
            return
        now = self._clock.now()
        self._seen[webhook_id, replay_id] = now
        # One that is older than this is refused for its time; it was inserted in order of time.
        while self._seen and (len(self._seen) > REMEMBERED_DELIVERIES or _oldest(self._seen) < now - 2 * TOLERANCE):
            self._seen.popitem(last=False)


def concerned(found: Iterable[Agent], remotes: Iterable[str]) -> tuple[str, ...]:
    """The agents that have one of these repositories, by whichever spelling."""
    working = [agent for agent in found if not agent.disabled]
    # Many agents have the same few repositories; each spelling is compared once.
    spellings = {repository.remote for agent in working for repository in agent.profile.repositories}
    pushed = {spelling for spelling in spellings if any(same_repository(spelling, remote) for remote in remotes)}
    return tuple(
        agent.id for agent in working if any(repository.remote in pushed for repository in agent.profile.repositories)
    )


def _refuse_if_waiting(rate: Rate, key: str) -> None:
    if wait := rate.wait_seconds(key):
        raise TooManyDeliveries(int(wait) + 1)


def _oldest(seen: OrderedDict[tuple[str, str], datetime]) -> datetime:
    return next(iter(seen.values()))
