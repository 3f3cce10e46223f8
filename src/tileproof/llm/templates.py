"""Chat templates: a program in a model's files that writes the prompt of a chat.

Templates come with models, so they run in a sandbox: no attributes of Python, nothing that changes what it is given,
and bounds on steps, time and output. Variables and functions are those that `transformers` gives them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from jinja2 import TemplateError, TemplateSyntaxError, meta, nodes, pass_context
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tileproof.diagnostics.codes import Code

from .errors import ModelError, refused

STEPS: Final = 1_000_000
"""Rounds of loops and calls that a template may take; those of models take some tens for each message."""
SECONDS: Final = 5.0
"""Processor time that a template may take."""
CHARACTERS: Final = 1 << 24
"""Of output, and of any string on the way."""
_CHECKED_EVERY = 256
_BUDGET = "budget of this rendering"
"""The name of the budget among a template's variables, which no template can spell."""
_RAW = "use --raw-prompt for a plain prompt"


class ChatTemplate:
    """A template that is compiled."""

    def __init__(self, source: str, *, bos: str | None = None, eos: str | None = None) -> None:
        """Compiles a template, which is TP1005 if it is malformed. `bos` and `eos` are the texts of these tokens."""
        self.source = source
        self._tokens = {"bos_token": bos or "", "eos_token": eos or ""}
        environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
        environment.filters |= {"tojson": _to_json, _COUNTED: _counted}
        environment.globals |= {"raise_exception": _raise, "strftime_now": _now}
        try:
            parsed = environment.parse(source)
            self.can_think: bool = "enable_thinking" in meta.find_undeclared_variables(parsed)
            """Whether the template knows of thinking, and lets it be switched."""
            self._template = environment.from_string(parsed)
        except TemplateSyntaxError as error:
            why = _one_line(error.message or "").rstrip(".")
            where = f"line {error.lineno} of the chat template is malformed: {why}"
            raise refused(Code.CHAT_TEMPLATE, where, _RAW) from error
        except Exception as error:  # the compiler runs constant parts of the template, which raise what they like
            raise _failed(error) from error

    def render(
        self, messages: Sequence[Mapping[str, str]], *, thinking: bool | None = None, answers: bool = True
    ) -> str:
        """The prompt of a chat, with the beginning of an answer if `answers`.

        `thinking` is for templates that know of it, None leaves it to them. Without that, True is TP1005: the model
        would not do what was asked. False asks for nothing that such a model does, and is fine.
        """
        if thinking and not self.can_think:
            cure = "leave thinking alone: the chat template of this model has no switch for it"
            raise refused(Code.CHAT_TEMPLATE, "this model cannot be told to think", cure)
        switch = {} if thinking is None else {"enable_thinking": thinking}
        budget = _Budget()
        given = {"messages": messages, "tools": None, "add_generation_prompt": answers, _BUDGET: budget}
        pieces: list[str] = []
        try:
            for piece in self._template.generate({**given, **self._tokens, **switch}):
                budget.write(len(piece))
                pieces.append(piece)
        except ModelError:
            raise
        except Exception as error:  # a template can raise anything that an operation in it raises
            raise _failed(error) from error
        return "".join(pieces)


def default_template(found: object) -> str | None:
    """The template for chats from a `chat_template`: a string, or a list of named ones."""
    if not isinstance(found, list):
        return found if isinstance(found, str) else None
    named = {str(each["name"]): str(each["template"]) for each in found if isinstance(each, dict) and len(each) == 2}
    if "default" in named or len(named) == 1:
        return named.get("default") or next(iter(named.values()))
    if not named:
        return None
    names = ", ".join(named)
    cure = f"write the one for chats to chat_template.jinja beside it, or {_RAW}"
    raise refused(Code.CHAT_TEMPLATE, f"none of the chat templates {names} is the default", cure)


def no_template(name: str) -> ModelError:
    """The error for a chat with a model that has no template."""
    return refused(Code.CHAT_TEMPLATE, f"{name} has no chat template: it was made to continue text, not to chat", _RAW)


class _Budget:
    """What a rendering may still do."""

    def __init__(self) -> None:
        self._steps = 0
        self._characters = 0
        self._until = time.thread_time() + SECONDS

    def step(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            raise _unbounded(f"takes more than {STEPS} steps")
        if self._steps % _CHECKED_EVERY == 0:
            self.check_time()

    def check_time(self) -> None:
        if time.thread_time() > self._until:
            raise _unbounded(f"takes more than {SECONDS:g} seconds")

    def write(self, characters: int) -> None:
        self._characters += characters
        if self._characters > CHARACTERS:
            raise _unbounded(f"writes more than {CHARACTERS} characters")
        self.step()


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox of jinja2 with bounds: calls, rounds of loops and long strings count."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call(self, context: Context, function: Any, /, *args: Any, **options: Any) -> Any:
        context.parent[_BUDGET].step()
        return super().call(context, function, *args, **options)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        budget = context.parent[_BUDGET]
        budget.step()
        if operator == "**" and (abs(left) > 10**6 or abs(right) > 64):
            raise _unbounded("works with numbers that are too large")
        if operator == "*" and max(_length(left), _length(right)) * max(_number(left), _number(right)) > CHARACTERS:
            raise _unbounded(f"makes a text of more than {CHARACTERS} characters")
        made = super().call_binop(context, operator, left, right)
        if _length(made) > CHARACTERS:
            raise _unbounded(f"makes a text of more than {CHARACTERS} characters")
        if _length(made) > _CHECKED_EVERY:
            budget.check_time()
        return made

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Parses, and lets every loop count its rounds."""
        parsed = super()._parse(source, name, filename)
        for loop in parsed.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno)
        parsed.set_environment(self)
        return parsed


_COUNTED = "counted rounds"


@pass_context
def _counted(context: Context, several: Iterable[Any]) -> Iterator[Any]:
    """What a loop goes over. With a context, or the compiler would run it for lists that are constant."""
    budget = context.parent[_BUDGET]
    for each in several:
        budget.step()
        yield each


class _Generation(Extension):
    """`{% generation %}` marks what an assistant says, for training; a prompt has it without marks."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:  # fmt: skip
    """Plain JSON; the filter of jinja2 is for web pages, and escapes."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: object) -> None:
    raise TemplateError(str(message))


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _failed(error: Exception) -> ModelError:
    if isinstance(error, ModelError):
        return error
    if type(error) is TemplateError:  # what `raise_exception` raises: the template speaks to the user
        cure = "change the messages as it asks"
        return refused(Code.CHAT_TEMPLATE, f"the chat template refuses: {_one_line(str(error))}", cure)
    why = _one_line(str(error)) or "no reason given"
    return refused(Code.CHAT_TEMPLATE, f"the chat template fails with {type(error).__name__}: {why}", _RAW)


def _unbounded(what: str) -> ModelError:
    return refused(Code.CHAT_TEMPLATE, f"the chat template {what}", f"{_RAW}; a template of a model takes far less")


def _one_line(text: str) -> str:
    found = " ".join(text.split())
    return found if len(found) <= 200 else f"{found[:200]}..."


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 0


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
