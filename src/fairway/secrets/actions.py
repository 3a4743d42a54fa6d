"""Which `{{ … }}` of a script are ours.

A script may say `docker ps --format '{{.Names}}'` or hold an awk program, so it is not a template as a whole.
Ours are the actions with a field `.encryptedSecrets` or `.attachment` outside of quotes and comments; one that
opens a block (`if`, `with`, `range`) is ours up to the `{{ end }}` that closes it. Everything else is text.

An action begins at `{{` and ends at the next `}}` outside of quotes. Where no such end comes before another
`{{`, before the line break in a quoted string or before the end, the `{{` is text too, unless a field of ours
stands right there: then the author meant us, and the mistake is told. Rendering is left to `render.py`.
"""

import re
from collections.abc import Iterator

import msgspec

from fairway.secrets.secret import SecretError

_FIELD = r"\.(?:encryptedSecrets|attachment)(?!\w)"
_TOKEN = re.compile(
    r"""
      "(?:\\.|[^"\\\n])*" | `[^`]*` | '(?:\\.|[^'\\\n])*'   # quoted
    | (?P<close>\}\})
    | (?P<stop>\{(?=\{)|["'`])                              # another action, or a quote that never ends
    | (?P<field>FIELD)
    | (?P<assign>:?=)
    """.replace("FIELD", _FIELD),
    re.VERBOSE,
)
_COMMENT = re.compile(r"\{\{(?:-[ \t\r\n])?/\*.*?\*/(?:[ \t\r\n]-)?\}\}", re.DOTALL)
_WORD = re.compile(r"\{\{(?:-[ \t\r\n])?[ \t\r\n]*(\w*)")
_HALF_AN_ACTION = re.compile(r"\{\{(?!\{)(?:(?!\{\{|\}\})[^\n])*?" + _FIELD)
#: What Go's trim markers take away.
SPACE = " \t\r\n"


class Action(msgspec.Struct, frozen=True):
    """A stretch of text that is rendered as one template."""

    start: int
    end: int
    #: Whether `{{-` takes away the white space before, and `-}}` that after.
    trims_before: bool
    trims_after: bool


class _Braces(msgspec.Struct, frozen=True):
    """One `{{ … }}`, ours or not."""

    start: int
    end: int
    word: str = ""
    ours: bool = False
    assigns: bool = False


def find_actions(text: str, name: str) -> list[Action]:
    """The actions of ours in a text, in order; `name` says in errors where the text comes from."""
    actions: list[Action] = []
    braces = _all_braces(text, name)
    for opening in braces:
        if not opening.ours:
            continue
        end = opening.end
        if opening.word in ("if", "with", "range"):
            end = _end_of_block(opening, braces, text, name)
        elif opening.assigns:
            raise SecretError(
                f"{_place(text, opening.start, name)}: a variable that is set here is unknown to the next {{{{ … }}}} "
                "of a script: write the value where it is needed, or render a file (decryptionTargets) instead"
            )
        actions.append(_action(text, opening.start, end))
    return actions


def _all_braces(text: str, name: str) -> Iterator[_Braces]:
    position = text.find("{{")
    while position >= 0:
        braces = _braces_at(text, position)
        if braces is not None:
            yield braces
        elif _HALF_AN_ACTION.match(text, position):
            raise SecretError(
                f'{_place(text, position, name)}: the action is not closed: expected "}}}}" and complete quotes'
            )
        position = text.find("{{", braces.end if braces else position + 1)


def _braces_at(text: str, start: int) -> _Braces | None:
    """The action that begins here, or nothing if these two braces are only text."""
    if comment := _COMMENT.match(text, start):
        return _Braces(start, comment.end())
    word = _WORD.match(text, start)
    seen = set()
    # From the second brace on, so that in `{{{` the inner pair is the action.
    for token in _TOKEN.finditer(text, start + 1):
        if token.lastgroup == "close":
            found = word[1] if word else ""
            return _Braces(start, token.end(), found, "field" in seen, "assign" in seen)
        if token.lastgroup == "stop":
            return None
        seen.add(token.lastgroup)
    return None


def _end_of_block(opening: _Braces, following: Iterator[_Braces], text: str, name: str) -> int:
    depth = 1
    for braces in following:
        if braces.word in ("if", "with", "range", "block", "define"):
            depth += 1
        elif braces.word == "end":
            depth -= 1
        if depth == 0:
            return braces.end
    raise SecretError(f"{_place(text, opening.start, name)}: {{{{ {opening.word} … }}}} has no {{{{ end }}}}")


def _action(text: str, start: int, end: int) -> Action:
    return Action(
        start,
        end,
        trims_before=text[start + 2] == "-" and text[start + 3] in SPACE,
        trims_after=text[end - 3] == "-" and text[end - 4] in SPACE,
    )


def _place(text: str, at: int, name: str) -> str:
    return f"{name}:{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"
