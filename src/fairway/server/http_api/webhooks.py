"""Webhooks over HTTP: making and deleting them, and the address that Git hosts call.

The latter is outside /api/v1 and asks for no key: the signature of a delivery is all that counts, and `reception`
judges it. Here its verdict only gets HTTP's numbers.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody

from fairway.server.http_api.body import Body
from fairway.server.http_api.caller import address_of
from fairway.server.http_api.desk import ApiRequest, HttpDesk, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS, ErrorAnswer, Problem
from fairway.server.webhooks import actions, reception
from fairway.server.webhooks.providers import ProviderName
from fairway.server.webhooks.webhook import Webhook


class ShownWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """One webhook, without its secret."""

    id: str
    name: str
    provider: ProviderName
    project_id: str
    creator: str
    created_at: datetime
    #: What the Git host has to call.
    url: str


class WebhookList(msgspec.Struct, frozen=True):
    """All webhooks of a project, by id; there are never many."""

    items: tuple[ShownWebhook, ...]


class NewWebhook(Body, frozen=True):
    """What a webhook is made of."""

    provider: ProviderName
    name: str


class CreatedWebhook(msgspec.Struct, frozen=True):
    """A webhook that was just made. The secret is shown this once."""

    webhook: ShownWebhook
    url: str
    secret: str


@get("/webhooks", summary="The webhooks of the project.", tags=["webhooks"], responses=REFUSALS)
async def list_webhooks(request: ApiRequest) -> WebhookList:
    """By id, all of them."""
    found = await actions.list_webhooks(desk_of(request).actions, request.auth)
    return WebhookList(tuple(_show(request, webhook) for webhook in found))


@post("/webhooks", summary="Make a webhook.", tags=["webhooks"], responses=CHANGE_REFUSALS)
async def create_webhook(request: ApiRequest, data: JSONBody[NewWebhook]) -> CreatedWebhook:
    """Enter the url and the secret at the Git host. The secret is not shown again."""
    made = await actions.create_webhook(desk_of(request).actions, request.auth, data.provider, data.name)
    shown = _show(request, made)
    return CreatedWebhook(shown, shown.url, made.secret)


@delete("/webhooks/{webhook_id:str}", summary="Delete a webhook.", tags=["webhooks"], responses=CHANGE_REFUSALS)
async def delete_webhook(request: ApiRequest, webhook_id: FromPath[str]) -> None:
    """Refuse whatever is sent to it from now on."""
    await actions.delete_webhook(desk_of(request).actions, request.auth, webhook_id)


ROUTES = (list_webhooks, create_webhook, delete_webhook)


def _show(request: ApiRequest, webhook: Webhook) -> ShownWebhook:
    base = desk_of(request).actions.web_url or str(request.base_url).rstrip("/")
    return ShownWebhook(
        id=webhook.id,
        name=webhook.name,
        provider=webhook.provider,
        project_id=webhook.project_id,
        creator=webhook.creator,
        created_at=webhook.created_at,
        url=f"{base}/webhooks/{webhook.id}",
    )


def reception_of(desk: HttpDesk) -> reception.Reception:
    """What receives deliveries, for the application's state."""
    return reception.Reception(desk.actions.store, desk.actions.hints, desk.actions.clock)


def _refused(number: int, code: str) -> Callable[[Request[Any, Any, Any], Exception], Response[ErrorAnswer]]:
    def answer(_: Request[Any, Any, Any], error: Exception) -> Response[ErrorAnswer]:
        wait = {"retry-after": str(error.wait_seconds)} if isinstance(error, reception.TooManyDeliveries) else {}
        # What was not read of a body is not read for the next request either.
        return Response(
            ErrorAnswer(Problem(code, str(error))), status_code=number, headers={**wait, "connection": "close"}
        )

    return answer


@post(
    "/webhooks/{webhook_id:str}",
    status_code=200,
    summary="Tell of a push.",
    tags=["webhooks"],
    # The reception bounds it itself, while it reads.
    request_max_body_size=None,
    responses={
        400: ResponseSpec(ErrorAnswer, description="Signed, but not what such a webhook sends."),
        401: ResponseSpec(ErrorAnswer, description="No such webhook, or not signed with its secret."),
        408: ResponseSpec(ErrorAnswer, description="The body did not arrive in time."),
        413: ResponseSpec(ErrorAnswer, description="A body of more than 25 MiB."),
        429: ResponseSpec(ErrorAnswer, description="Too many deliveries; Retry-After says when to try again."),
        503: ResponseSpec(ErrorAnswer, description="The server is busy now; send it again."),
    },
    exception_handlers={
        reception.TooLargeDelivery: _refused(413, "body_too_long"),
        reception.SlowDelivery: _refused(408, "too_slow"),
        reception.TooManyDeliveries: _refused(429, "too_many_requests"),
        reception.BusyReception: _refused(503, "unavailable"),
    },
)
async def receive_delivery(request: Request[Any, Any, Any], webhook_id: FromPath[str]) -> reception.Received:
    """What a Git host sends, signed as it documents. A ping, or another event than a push, is answered and ignored."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > reception.MOST_BODY:
        raise reception.TooLargeDelivery(f"the body has {declared} bytes; expected at most {reception.MOST_BODY}")
    receiving: reception.Reception = request.app.state.reception
    return await receiving.receive(
        reception.Request(
            webhook_id=webhook_id,
            headers={name.lower(): value for name, value in request.headers.items()},
            address=address_of(request),
            body=request.stream(),
        )
    )
