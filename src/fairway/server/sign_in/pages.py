"""The few pages that come before the web page: small HTML without scripts, which any browser and reader can use.

Pure: text in, text out. Whatever comes from outside is escaped here, and nothing but what is written here can run or be
loaded: `HEADERS` forbid it.
"""

from html import escape
from importlib.resources import files

import msgspec

from fairway.server.sign_in.passwords import LEAST_CHARACTERS

#: No script, nothing from elsewhere, in nobody's frame, in no cache. Without a referrer to other sites, since the
#: address of a page may hold a link; to our own pages, because browsers leave out the origin of a form otherwise.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
}

STYLE = files("fairway.server.sign_in").joinpath("style.css").read_bytes()

_BRAND = (
    '<p class="brand"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 3v18M5 8l7-5 7 5M4 21h16"/></svg>'
    "Fairway</p>"
)


_ASIDE = ' class="other"'


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a form."""

    name: str
    label: str
    type: str = "text"
    #: What browsers and password keepers may fill in.
    autocomplete: str
    value: str = ""
    hint: str = ""
    focused: bool = False


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """A form, with what it sends unseen."""

    action: str
    fields: tuple[Field, ...]
    button: str
    hidden: dict[str, str]
    #: Whose password it is, for the browser's password keeper, where nobody types it.
    username: str = ""
    #: Whether the button is not what the page is about.
    aside: bool = False
    #: What was wrong with it last time.
    wrong: str = ""


class Choice(msgspec.Struct, frozen=True):
    """Another way to sign in."""

    title: str
    address: str


def sign_in_page(form: Form, choices: tuple[Choice, ...]) -> str:
    """Where people say who they are."""
    others = "".join(
        f'<a class="button other" href="{escape(choice.address)}">Sign in with {escape(choice.title)}</a>'
        for choice in choices
    )
    divider = '<p class="or">or</p>' if choices else ""
    return _page("Sign in", f"<h1>Sign in</h1>{_form(form)}{divider}{others}", wrong=bool(form.wrong))


def link_page(name: str, form: Form) -> str:
    """Where somebody sets a password by a link."""
    about = f"<h1>Set your password</h1><p>You will be signed in as <strong>{escape(name)}</strong>.</p>"
    return _page("Set your password", about + _form(form), wrong=bool(form.wrong))


def signed_in_page(name: str, roles: tuple[str, ...], sign_out: Form) -> str:
    """What somebody sees who is signed in."""
    having = ", ".join(roles) or "no role yet: ask an administrator for one"
    body = (
        f"<h1>You are signed in</h1><p>as <strong>{escape(name)}</strong> "
        f'<span class="quiet">({escape(having)})</span>.</p>'
        "<h2>What to do next</h2><ul>"
        "<li>Close this page and go on in the tab that you came from.</li>"
        "<li>On a command line, <code>fairway profile add</code> keeps the address and an API key.</li>"
        '<li>Programs find what they can ask at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</li>'
        f"</ul>{_form(sign_out)}"
    )
    return _page("Signed in", body)


def message_page(title: str, message: str) -> str:
    """Something that went wrong, and the way back."""
    body = (
        f'<h1>{escape(title)}</h1><p class="wrong" role="alert">{escape(_sentence(message))}</p>'
        '<a class="button" href="/sign-in">Back to sign-in</a>'
    )
    return _page(title, body, wrong=True)


def new_password_fields() -> tuple[Field, ...]:
    """The fields in which a new password is typed, twice."""
    hint = f"At least {LEAST_CHARACTERS} characters. Four words that do not belong together are good."
    return (
        Field(
            name="password",
            label="New password",
            type="password",
            autocomplete="new-password",
            hint=hint,
            focused=True,
        ),
        Field(name="again", label="Once more", type="password", autocomplete="new-password"),
    )


def _page(title: str, body: str, *, wrong: bool = False) -> str:
    name = f"{'Error: ' if wrong else ''}{title} · Fairway"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(name)}</title><link rel="stylesheet" href="/sign-in/style"></head>'
        f"<body><main>{_BRAND}{body}</main></body></html>"
    )


def _form(form: Form) -> str:
    wrong = f'<p class="wrong" role="alert" id="wrong">{escape(_sentence(form.wrong))}</p>' if form.wrong else ""
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in form.hidden.items()
    )
    if form.username:
        name = escape(form.username)
        hidden += f'<input name="username" type="text" autocomplete="username" value="{name}" readonly hidden>'
    fields = "".join(_field(field, bool(form.wrong)) for field in form.fields)
    button = f'<button type="submit"{_ASIDE if form.aside else ""}>{escape(form.button)}</button>'
    return f'{wrong}<form method="post" action="{escape(form.action)}">{hidden}{fields}{button}</form>'


def _field(field: Field, wrong: bool) -> str:
    described = [name for name, there in ((f"{field.name}-hint", field.hint), ("wrong", wrong)) if there]
    attributes = {
        "id": field.name,
        "name": field.name,
        "type": field.type,
        "autocomplete": field.autocomplete,
        "value": field.value,
        "aria-describedby": " ".join(described),
        "aria-invalid": "true" if wrong else "",
        "autocapitalize": "none",
        "spellcheck": "false",
    }
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
    hint = f'<p class="hint" id="{field.name}-hint">{escape(field.hint)}</p>' if field.hint else ""
    focus = " autofocus" if field.focused else ""
    return f'<label for="{field.name}">{escape(field.label)}</label><input{written} required{focus}>{hint}'


def _sentence(message: str) -> str:
    """A message as people read it on a page."""
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", ")")) else ".")
