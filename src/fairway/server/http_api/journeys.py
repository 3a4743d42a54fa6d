"""The two addresses of each sign-in provider: from here a browser leaves for it, and there it comes back."""

from litestar import Response, get
from litestar.params import FromPath

from fairway.server.http_api.caller import address_of
from fairway.server.http_api.desk import desk_of
from fairway.server.http_api.sign_in_pages import PageRequest, go_on, redirect
from fairway.server.sign_in.arrivals import Arrival
from fairway.server.sign_in.cookies import JOURNEY, dropped_cookie, is_secure, kept_cookie, shown_cookie
from fairway.server.sign_in.journeys import LASTS, new_journey, packed, refuse_wrong_return, unpacked
from fairway.server.sign_in.next_page import safe_next
from fairway.server.sign_in.vouched import welcome
from fairway.server.status_codes import Forbidden

_LONGEST = 4000


@get("/sign-in/{provider:str}/start")
async def start(request: PageRequest, provider: FromPath[str]) -> Response[str]:
    """Send the browser to the provider, with what it needs to be known again."""
    desk = desk_of(request).sign_in
    authority = desk.authorities.get(provider)
    base = desk.web_url or f"{request.scope['scheme']}://{request.headers.get('host', '')}"
    callback = authority.provider.redirect_uri or f"{base}/sign-in/{provider}/callback"
    onward = safe_next(request.query_params.get("next", ""))
    journey = new_journey(provider, callback, onward, desk.clock.now())
    response = redirect(await authority.departure(journey))
    secure = is_secure(request.scope["scheme"], desk.web_url)
    response.set_cookie(kept_cookie(JOURNEY, packed(journey, desk.signer), secure, int(LASTS.total_seconds())))
    return response


@get("/sign-in/{provider:str}/callback")
async def callback(request: PageRequest, provider: FromPath[str]) -> Response[str]:
    """Receive the browser back; it is signed in when the provider vouches for whoever uses it."""
    desk = desk_of(request).sign_in
    authority = desk.authorities.get(provider)
    secure = is_secure(request.scope["scheme"], desk.web_url)
    said = request.query_params
    journey = unpacked(shown_cookie(request.cookies, JOURNEY, secure), desk.signer, desk.clock.now())
    refuse_wrong_return(journey, provider, said.get("state", ""))
    if "error" in said:
        raise Forbidden(f"{provider} did not sign you in: {_shown(said.get('error_description') or said['error'])}")
    arrival = Arrival(at=desk.clock.now(), address=address_of(request), hours=authority.provider.session_hours)
    vouched = await authority.arrival(journey, said.get("code", "")[:_LONGEST])
    response = await go_on(request, await welcome(desk, vouched, arrival), journey.next)
    response.set_cookie(dropped_cookie(JOURNEY, secure))
    return response


def _shown(text: str) -> str:
    """What a provider says, as far as it can be shown."""
    return "".join(character for character in text[:300] if character.isprintable())


ROUTES = (start, callback)
