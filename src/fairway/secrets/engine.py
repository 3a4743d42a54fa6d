"""The template engine of the render process: the functions of a template, its limits, and its errors in words.

Application authors write these templates, so the functions are the hermetic ones of sprig: no environment, no name
service, no clock, no randomness. Values have no methods, and there are limits on output, loops, calls and depth.
A name that does not exist is an error, also through `index`. The process limits memory and CPU time.
"""

import difflib
import functools
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

import gotpl
from gotpl.funcs.sprig import hermetic_text_func_map
from gotpl.runtime.gofmt import sprintf

from fairway.secrets.redact import Redactor
from fairway.secrets.secret import Secret, SecretError
from fairway.secrets.template import MAX_CHARACTERS, Data, Source

_BUDGET = gotpl.ExecutionBudget(
    max_output_chars=MAX_CHARACTERS,
    max_iterations=100_000,
    max_template_depth=100,
    max_function_calls=100_000,
)
#: What sprig has and a template of ours must not.
_WITHHELD = {
    "env": "templates cannot read the agent's environment",
    "expandenv": "templates cannot read the agent's environment",
    "getHostByName": "templates cannot ask the network",
    "now": "templates cannot ask for the time: the same commit must give the same file",
    "uuidv4": "templates cannot roll dice: the same commit must give the same file",
}
#: How much of a line an error shows.
_SHOWN_CHARACTERS = 160
_DASHED = re.compile(r"\.(encryptedSecrets|attachment)\.(\w+(?:-\w+)+)")


def render(source: Source, data: Data) -> str:
    """Render one template; an error has file, line, column and what to write instead."""
    values = {name: value if isinstance(value, str) else _Names(name, value) for name, value in data.items()}
    try:
        template = gotpl.Template(
            source.piece, functions=_functions(), missing_key="error", sandbox=_sandbox(), budget=_BUDGET
        )
        return template.render(values)
    except gotpl.TemplateError as error:
        _raise_out_of_memory(error)
        _explain(error, source, data)
    except RecursionError:
        raise SecretError(f"{source.name}: the template is nested too deeply") from None


def _raise_out_of_memory(error: BaseException | None) -> None:
    """The engine takes a MemoryError in a function for a mistake of the template."""
    while error is not None:
        if isinstance(error, MemoryError):
            raise error
        error = error.__cause__ or error.__context__


class _MissingName(gotpl.TemplateExecutionError):
    """A name that is not among the values."""


class _Names(dict[str, str]):
    """The values of one kind; asking for one that is not there is an error, in whatever way it is asked for."""

    def __init__(self, kind: str, values: Mapping[str, str]) -> None:
        super().__init__(sorted(values.items()))
        self._kind = kind

    def __missing__(self, name: str) -> NoReturn:
        raise _MissingName(f'.{self._kind} has no "{name}" ({_listed(self)}){_near(str(name), list(self))}')

    def __contains__(self, name: object) -> bool:
        return self[str(name)] is not None

    def get(self, name: str, *_default: object) -> str:
        return self[name]


@functools.cache
def _functions() -> Mapping[str, Callable[..., object]]:
    functions = {**hermetic_text_func_map(), "printf": sprintf}
    for name, size_of in _SIZES.items():
        functions[name] = _bounded(functions[name], size_of)
    return functions


@functools.cache
def _sandbox() -> gotpl.SandboxPolicy:
    return gotpl.SandboxPolicy(
        allow_functions=_functions(),
        allow_attributes=("Cert", "Key"),  # of what genCA and its like return
        max_template_chars=MAX_CHARACTERS,
        default_budget=_BUDGET,
    )


def _span(*numbers: object) -> int:
    """How far a counting function may go: the sum is never less than the number of steps."""
    return sum(abs(number) for number in numbers if isinstance(number, int))


#: Functions that make something long out of a number, and how long it gets.
_SIZES: dict[str, Callable[..., int]] = {
    "printf": lambda format, *values: _span(*map(int, re.findall(r"\d+", format)), *values * ("*" in format)),
    "repeat": lambda count, text: _span(count) * len(str(text)),
    "indent": lambda width, text: _span(width) * (str(text).count("\n") + 1),
    "nindent": lambda width, text: _span(width) * (str(text).count("\n") + 1),
    "until": _span,
    "untilStep": _span,
    "seq": _span,
}


def _bounded(function: Callable[..., object], size_of: Callable[..., int]) -> Callable[..., object]:
    @functools.wraps(function)
    def call(*arguments: object) -> object:
        if size_of(*arguments) > MAX_CHARACTERS:
            raise gotpl.BudgetExceededError(f"more than {MAX_CHARACTERS} characters or steps")
        return function(*arguments)

    return call


def _explain(error: gotpl.TemplateError, source: Source, data: Data) -> NoReturn:
    """Turn the engine's error into ours, with nothing decrypted in it."""
    at = source.start + _characters_before(error, source.piece)
    line_start = source.text.rfind("\n", 0, at) + 1
    number = source.text.count("\n", 0, at) + 1
    line = source.text[line_start:].partition("\n")[0]
    place = f"{source.name}:{number}:{at - line_start + 1}"
    secrets = [value for group in data.values() if not isinstance(group, str) for value in group.values()]
    redactor = Redactor(map(Secret, secrets))
    # A file that was rendered once before may have a value in the line itself.
    shown = f"  {number} | {redactor.redact(line).strip()[:_SHOWN_CHARACTERS]}"
    if function := _tells_a_value(error, secrets, redactor):
        reason = f'the function "{function}" failed with a message that contains a decrypted value (not shown)'
        raise SecretError(f"{place}: {reason}\n{shown}") from None
    raise SecretError(f"{place}: {_reason(error, line, data)}\n{shown}") from error


def _tells_a_value(error: gotpl.TemplateError, secrets: list[str], redactor: Redactor) -> str | None:
    """The function whose message would give a value away; the engine's own messages only have names."""
    failed = re.search(r"function '(\w+)' failed: (.*)", str(error), re.DOTALL)
    if failed is None:
        return None
    function, message = failed.groups()
    # Short values are not redacted, so they are looked for by themselves.
    tells = any(value and value in message for value in secrets) or redactor.redact(message) != message
    return function if tells else None


def _characters_before(error: gotpl.TemplateError, text: str) -> int:
    position = getattr(error, "position", None) or 0
    return len(text.encode()[:position].decode(errors="ignore"))


def _reason(error: gotpl.TemplateError, line: str, data: Data) -> str:
    text = error.message if isinstance(error, gotpl.TemplateExecutionError) else str(error).partition(": ")[2]
    if isinstance(error, gotpl.TemplateSyntaxError) and (dashed := _DASHED.search(line)):
        kind, name = dashed.groups()
        return f'a name with a dash cannot follow a dot: write {{{{ index .{kind} "{name}" }}}}'
    if undefined := re.fullmatch(r"function '(\w+)' not defined", text):
        return _no_function(undefined[1])
    if missing := re.fullmatch(r"missing key or attribute '(\w+)'", text):
        known = " and ".join(f".{name}" for name in data)
        return f"there is no .{missing[1]} (templates have {known}){_near(missing[1], list(data))}"
    if isinstance(error, gotpl.BudgetExceededError):
        return f"the template was stopped: {text}"
    return text


def _no_function(name: str) -> str:
    if name in _WITHHELD:
        return f'the function "{name}" is not available: {_WITHHELD[name]}'
    return f'there is no function "{name}"{_near(name, list(_functions()))}'


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def _listed(names: Mapping[str, str]) -> str:
    return "it has " + ", ".join(f'"{name}"' for name in names) if names else "it is empty"
