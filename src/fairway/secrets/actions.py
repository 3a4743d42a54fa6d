"""Which `{{ … }}` of a script are ours.

A script may say `docker ps --format '{{.Names}}'` or hold an awk program, so it is not a template as a whole.
Ours are the actions with a field `.encryptedSecrets` or `.attachment` outside of quotes and comments; one that
opens a block (`if`, `with`, `range`) is ours up to the `{{ end }}` that closes it. Everything else is text.

An action begins at `{{` and ends at the next `}}` outside of quotes. Where no such end comes before another
`{{`, before the line break in a quoted string or before the end, the `{{` is text too, unless a field of ours
stands right there: then the author meant us, and the mistake is told. Rendering is left to `render.py`.
"""

import re
from array import array
from collections.abc import Iterator

import msgspec

from fairway.secrets.secret import SecretError

_FIELD = r"\.(?:encryptedSecrets|attachment)(?!\w)"
_ANY_FIELD = re.compile(_FIELD)
#: Where the state of a scan may change. Each alternative takes bounded time, and no two of them overlap.
_EVENT = re.compile(r"""["'`\n]|\}(?=\})|\{(?=\{)|:?=|""" + _FIELD)
_ESCAPED_QUOTE = re.compile(r"\\(?:([\"'])|.)", re.DOTALL)
_COMMENT = re.compile(r"\{\{(?:-[ \t\r\n])?/\*")
_COMMENT_END = re.compile(r"\*/(?:[ \t\r\n]-)?\}\}")
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
    if not _ANY_FIELD.search(text):
        return actions
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
    scan = _Scan(text)
    position = text.find("{{")
    while position >= 0:
        braces = scan.braces_at(position)
        if braces is not None:
            yield braces
        elif _HALF_AN_ACTION.match(text, position):
            raise SecretError(
                f'{_place(text, position, name)}: the action is not closed: expected "}}}}" and complete quotes'
            )
        position = text.find("{{", braces.end if braces else position + 1)


class _Ending(msgspec.Struct, frozen=True, gc=False):
    """How an action ends, seen from a place outside of quotes."""

    end: int
    ours: bool = False
    assigns: bool = False


class _Scan:
    """The ends of all actions of a text, found in one pass from right to left.

    A pass for each `{{` would be quadratic: quotes can hide every other `{{` from each of them.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        #: Position of each `{{` → the end of an action that begins there.
        self._endings = _endings(text)
        #: The first end of a comment at or behind the last place asked for.
        self._comment_end = _COMMENT_END.search(text)

    def braces_at(self, start: int) -> _Braces | None:
        """The action that begins here, or nothing if these two braces are only text; asked from left to right."""
        if (comment := _COMMENT.match(self._text, start)) and (end := self._comment_ends_after(comment.end())):
            return _Braces(start, end)
        ending = self._endings.get(start)
        if ending is None:
            return None
        word = _WORD.match(self._text, start)
        return _Braces(start, ending.end, word[1] if word else "", ending.ours, ending.assigns)

    def _comment_ends_after(self, position: int) -> int:
        while self._comment_end is not None and self._comment_end.start() < position:
            self._comment_end = _COMMENT_END.search(self._text, max(position, self._comment_end.end()))
        return self._comment_end.end() if self._comment_end else 0


def _endings(text: str) -> dict[int, _Ending]:
    escaped = {found.start(1) for found in _ESCAPED_QUOTE.finditer(text) if found[1]}
    endings: dict[int, _Ending] = {}
    #: How a scan ends that comes from the left and is outside of quotes.
    outside: _Ending | None = None
    #: Quote → how a scan ends that comes from the left and is inside of such quotes.
    inside: dict[str, _Ending | None] = dict.fromkeys("\"'`")
    for position in reversed(array("q", (event.start() for event in _EVENT.finditer(text)))):
        character = text[position]
        if character in inside:
            opened = inside[character]
            if position not in escaped:
                inside[character] = outside
            outside = opened
        elif character == "\n":
            inside |= {'"': None, "'": None}
        elif character == "}":
            outside = _Ending(position + 2)
        elif character == "{":
            # From the second brace on, so that in `{{{` the inner pair is the action.
            if outside is not None:
                endings[position] = outside
            outside = None
        elif outside is not None:
            ours, assigns = outside.ours or character == ".", outside.assigns or character in ":="
            outside = _Ending(outside.end, ours, assigns)
    return endings


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
