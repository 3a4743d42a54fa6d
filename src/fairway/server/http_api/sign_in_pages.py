"""The pages on which people sign in, set a password and sign out, for browsers without any script.

A form shows that it was made for the browser that sends it: a token over a cookie that only this browser has. Nobody's
page elsewhere can know it, so nobody can be signed in as somebody else by a page they happen to look at.
"""

import secrets
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from litestar import MediaType, Request, Response, get, post
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.params import FromPath

from fairway.server.http_api.caller import AnyConnection, address_of, session_cookie
from fairway.server.http_api.desk import desk_of
from fairway.server.http_api.errors import ErrorAnswer, answer_error, answer_http_error
from fairway.server.http_api.session import with_session, without_session
from fairway.server.sign_in.cookies import BROWSER, dropped_cookie, is_secure, kept_cookie, shown_cookie
from fairway.server.sign_in.local import Typed, owner_of_link, set_password, sign_in
from fairway.server.sign_in.next_page import HOME, safe_next
from fairway.server.sign_in.pages import (
    HEADERS,
    STYLE,
    Choice,
    Field,
    Form,
    link_page,
    message_page,
    new_password_fields,
    sign_in_page,
    signed_in_page,
)
from fairway.server.sign_in.providers import shown_title
from fairway.server.sign_in.same_origin import refuse_foreign_pages
from fairway.server.sign_in.sessions import NewSession, Person
from fairway.server.sign_in.signing import Purpose
from fairway.server.status_codes import BadCredentials, Forbidden, InvalidRequest, TooManyRequests

#: Longest form in bytes; a password may have a thousand characters of any alphabet.
MOST_BYTES = 32 * 1024
_MOST_FIELDS = 10
_BROWSER_SECONDS = 24 * 3600
_TOKEN = "form_token"  # noqa: S105  # the name of a field, and no token

PageRequest = Request[Any, Any, State]


class _Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the sign-in form is filled in with."""

    next: str
    username: str = ""
    wrong: str = ""


@get("/")
async def show_home() -> Response[str]:
    """Where people arrive who know nothing but the server's address."""
    return redirect(HOME)


@get("/sign-in")
async def show_sign_in(request: PageRequest) -> Response[str]:
    """The form; for whoever is signed in already, that they are."""
    person = await _person(request)
    if person is not None:
        return _signed_in(person)
    return _asking(request, _Shown(next=safe_next(request.query_params.get("next", ""))))


@post("/sign-in")
async def send_sign_in(request: PageRequest) -> Response[str]:
    """What somebody typed: on to the next page, or the form again with what was wrong."""
    fields = await _sent_form(request)
    onward, username = safe_next(fields.get("next", "")), fields.get("username", "")
    try:
        typed = Typed(username, fields.get("password", ""))
        new = await sign_in(desk_of(request).sign_in, typed, address_of(request))
    except (BadCredentials, TooManyRequests) as error:
        shown = _Shown(next=onward, username=username, wrong=str(error))
        return _as_answered(answer_error(request, error), _asking(request, shown))
    return await go_on(request, new, onward)


@get("/sign-in/link/{token:str}")
async def show_link(request: PageRequest, token: FromPath[str]) -> Response[str]:
    """The form in which a password is set. Looking at it does not use the link up."""
    owner = await owner_of_link(desk_of(request).sign_in, token)
    return _setting(request, owner.id, token)


@post("/sign-in/link/{token:str}")
async def send_link(request: PageRequest, token: FromPath[str]) -> Response[str]:
    """The new password: the person is signed in with it, and the link is used up."""
    desk = desk_of(request).sign_in
    fields = await _sent_form(request)
    owner = await owner_of_link(desk, token)
    password = fields.get("password", "")
    try:
        if password != fields.get("again", ""):
            raise InvalidRequest("the two passwords differ; type the same twice")
        new = await set_password(desk, token, password, address_of(request))
    except (InvalidRequest, TooManyRequests) as error:
        return _as_answered(answer_error(request, error), _setting(request, owner.id, token, str(error)))
    return await go_on(request, new, HOME)


@post("/sign-in/out")
async def send_sign_out(request: PageRequest) -> Response[str]:
    """The end of the session."""
    desk = desk_of(request).sign_in
    refuse_foreign_pages(request.headers, request.scope["scheme"], desk.web_url)
    fields = await _fields(request)
    person = await _person(request)
    if person is not None and not desk.sessions.is_csrf_token(person, fields.get(_TOKEN, "")):
        raise _stale()
    gone = redirect(HOME)
    return gone if person is None else await without_session(gone, request, person.user.id)


@get("/sign-in/style", media_type="text/css")
async def style() -> Response[bytes]:
    """How the pages look."""
    headers = {"cache-control": "max-age=3600", "x-content-type-options": "nosniff"}
    return Response(STYLE, media_type="text/css", headers=headers)


def page(text: str, status: int = 200) -> Response[str]:
    """A page with the headers that forbid it everything it does not need."""
    return Response(text, status_code=status, media_type=MediaType.HTML, headers=dict(HEADERS))


def redirect(path: str) -> Response[str]:
    """On to another page, with GET."""
    return Response("", status_code=303, media_type=MediaType.HTML, headers={**HEADERS, "location": path})


async def go_on(request: AnyConnection, new: NewSession, onward: str) -> Response[str]:
    """On to the next page with the new session; the one that the browser had before ends."""
    desk = desk_of(request).sign_in
    await desk.sessions.end(session_cookie(request, desk))
    response = with_session(redirect(onward), request, new)
    response.set_cookie(dropped_cookie(BROWSER, is_secure(request.scope["scheme"], desk.web_url)))
    return response


def answer_page_error(request: PageRequest, error: Exception) -> Response[str]:
    """What went wrong, as a page."""
    answer = answer_http_error(request, error) if isinstance(error, HTTPException) else answer_error(request, error)
    return _as_answered(answer, page(message_page("That did not work", answer.content.error.message)))


def answer_unknown(request: PageRequest, error: HTTPException) -> Response[str] | Response[ErrorAnswer]:
    """What is wrong with a path that nothing answers: as a page to a person, in our words to a program."""
    if error.status_code == 404 and "text/html" in request.headers.get("accept", "") and not _is_for_programs(request):
        return page(message_page("There is nothing here", f"this server has no page {request.url.path}"), 404)
    return answer_http_error(request, error)


def _is_for_programs(request: PageRequest) -> bool:
    return request.url.path.startswith(("/api/", "/webhooks/"))


def _as_answered(answer: Response[ErrorAnswer], response: Response[str]) -> Response[str]:
    """The page with the status that the error has everywhere else."""
    response.status_code = answer.status_code
    response.headers.update({name: value for name, value in answer.headers.items() if name == "retry-after"})
    return response


async def _person(request: PageRequest) -> Person | None:
    desk = desk_of(request).sign_in
    try:
        return await desk.sessions.identify(session_cookie(request, desk))
    except BadCredentials:
        return None


def _signed_in(person: Person) -> Response[str]:
    out = Form(action="/sign-in/out", fields=(), button="Sign out", hidden={_TOKEN: person.csrf_token}, aside=True)
    name = person.user.display_name or person.user.id
    return page(signed_in_page(name, tuple(role.name for role in person.roles), out))


def _asking(request: PageRequest, shown: _Shown) -> Response[str]:
    browser = _browser(request)
    form = Form(
        action="/sign-in",
        fields=(
            Field(
                name="username",
                label="Name",
                autocomplete="username",
                value=shown.username,
                focused=not shown.username,
            ),
            Field(
                name="password",
                label="Password",
                type="password",
                autocomplete="current-password",
                focused=bool(shown.username),
            ),
        ),
        button="Sign in",
        hidden={_TOKEN: _form_token(request, browser), "next": shown.next},
        wrong=shown.wrong,
    )
    choices = tuple(
        Choice(shown_title(provider), f"/sign-in/{provider.name}/start?{urlencode({'next': shown.next})}")
        for provider in desk_of(request).sign_in.authorities.providers
    )
    return _keeping(request, browser, page(sign_in_page(form, choices)))


def _setting(request: PageRequest, name: str, token: str, wrong: str = "") -> Response[str]:
    browser = _browser(request)
    form = Form(
        action=f"/sign-in/link/{token}",
        fields=new_password_fields(),
        button="Set password and sign in",
        hidden={_TOKEN: _form_token(request, browser)},
        username=name,
        wrong=wrong,
    )
    return _keeping(request, browser, page(link_page(name, form)))


async def _sent_form(request: PageRequest) -> dict[str, str]:
    """The fields of a form that we made for this browser; Forbidden for any other."""
    desk = desk_of(request).sign_in
    refuse_foreign_pages(request.headers, request.scope["scheme"], desk.web_url)
    fields = await _fields(request)
    browser = shown_cookie(request.cookies, BROWSER, is_secure(request.scope["scheme"], desk.web_url))
    if not browser or not desk.signer.fits(Purpose.FORM, browser, fields.get(_TOKEN, "")):
        raise _stale()
    return fields


async def _fields(request: PageRequest) -> dict[str, str]:
    try:
        text = (await request.body()).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, strict_parsing=bool(text)))
    except ValueError as error:
        raise InvalidRequest("the form cannot be read; go back, load the page again and fill it in anew") from error


def _browser(request: PageRequest) -> str:
    """What this browser is known by before it is signed in."""
    secure = is_secure(request.scope["scheme"], desk_of(request).sign_in.web_url)
    return shown_cookie(request.cookies, BROWSER, secure) or secrets.token_urlsafe()


def _form_token(request: PageRequest, browser: str) -> str:
    return desk_of(request).sign_in.signer.signature(Purpose.FORM, browser)


def _keeping(request: PageRequest, browser: str, response: Response[str]) -> Response[str]:
    secure = is_secure(request.scope["scheme"], desk_of(request).sign_in.web_url)
    response.set_cookie(kept_cookie(BROWSER, browser, secure, _BROWSER_SECONDS))
    return response


def _stale() -> Forbidden:
    return Forbidden("the form was not made for this browser, or is too old; load the page again and fill it in anew")


ROUTES = (show_home, show_sign_in, send_sign_in, show_link, send_link, send_sign_out, style)
