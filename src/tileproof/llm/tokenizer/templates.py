"""Chat templates: a program in a model's files that writes the prompt of a chat.

Templates come with models, so they run in a sandbox: no attributes of Python, nothing that changes what it is given,
and bounds on steps, time and output. Variables and functions are those that `transformers` gives them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from functools import wraps
from time import thread_time
from typing import Any, Final

from jinja2 import TemplateError, TemplateSyntaxError, meta, nodes, pass_context
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, str_join
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused
from .template_sizes import LEFT_OUT, called_size, filtered_size, formatted_size, size_of

STEPS: Final = 1_000_000
"""Rounds of loops and calls that a template may take; those of models take some tens for each message."""
SECONDS: Final = 5.0
"""Processor time that a template may take."""
CHARACTERS: Final = 1 << 24
"""Of output, and of any string on the way."""
TOGETHER: Final = 1 << 28
"""Of all strings on the way."""
SOURCE: Final = 1 << 20
"""Of the template itself."""
_CHECKED_EVERY = 256
_WIDEST = 4096
"""Bits of a product."""
_BUDGET = "budget of this rendering"
"""The name of the budget among a template's variables, which no template can spell."""
_RAW = "use --raw-prompt for a plain prompt"


class ChatTemplate:
    """A template that is compiled."""

    def __init__(self, source: str, *, bos: str | None = None, eos: str | None = None) -> None:
        """Compiles a template, which is TP1005 if it is malformed. `bos` and `eos` are the texts of these tokens."""
        self.source = source
        self._tokens = {"bos_token": bos or "", "eos_token": eos or ""}
        if len(source) > SOURCE:
            raise _unbounded(f"is itself {len(source)} characters long")
        options: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "finalize": _finalised}
        environment = _Sandbox(**options, extensions=[_Generation, loopcontrols])
        known = {name: each for name, each in environment.filters.items() if name not in LEFT_OUT}
        environment.filters = {name: _bounded(name, each) for name, each in (known | {"tojson": _to_json}).items()}
        environment.filters |= {_COUNTED: _counted, _JOINED: _joined, _MADE: _made}
        environment.globals |= {"raise_exception": _raise, "strftime_now": _now}
        del environment.globals["lipsum"]
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
        variables = {"messages": messages, "tools": None, "add_generation_prompt": answers, _BUDGET: budget}
        pieces: list[str] = []
        before = _current.set(budget)
        try:
            for piece in self._template.generate({**variables, **self._tokens, **switch}):
                budget.write(len(piece))
                pieces.append(piece)
            return "".join(pieces)
        except ModelError:
            raise
        except Exception as error:  # a template can raise anything that an operation in it raises
            raise _failed(error) from error
        finally:
            _current.reset(before)


def default_template(templates: object) -> str | None:
    """The template for chats from a `chat_template`: a string, or a list of named ones."""
    if not isinstance(templates, list):
        return templates if isinstance(templates, str) else None
    entries = [entry for entry in templates if isinstance(entry, dict) and len(entry) == 2]
    named = {str(entry["name"]): str(entry["template"]) for entry in entries}
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
        self._characters = self._made = 0
        self._until = thread_time() + SECONDS

    def step(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            raise _unbounded(f"takes more than {STEPS} steps")
        if self._steps % _CHECKED_EVERY == 0:
            self.check_time()

    def check_time(self) -> None:
        if thread_time() > self._until:
            raise _unbounded(f"takes more than {SECONDS:g} seconds")

    def make(self, value: Any) -> None:
        """Something was made on the way."""
        self._made += _length(value)
        if _length(value) > CHARACTERS or self._made > TOGETHER:
            raise _too_long()
        if _length(value) > _CHECKED_EVERY:
            self.check_time()

    def write(self, characters: int) -> None:
        self._characters += characters
        if self._characters > CHARACTERS:
            raise _unbounded(f"writes more than {CHARACTERS} characters")
        self.step()


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox of jinja2 with bounds: calls, rounds of loops and long strings count."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def call(self, context: Context, function: Any, /, *args: Any, **options: Any) -> Any:
        budget = context.parent[_BUDGET]
        budget.step()
        if called_size(function, (*args, *options.values()), CHARACTERS) > CHARACTERS:
            raise _too_long()
        result = super().call(context, function, *args, **options)
        budget.make(result)
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        budget = context.parent[_BUDGET]
        budget.step()
        is_large = operator == "**" and (abs(left) > 10**6 or abs(right) > 64)
        if is_large or (operator == "*" and _bits(left) + _bits(right) > _WIDEST):
            raise _unbounded("works with numbers that are too large")
        if operator == "*" and max(_length(left), _length(right)) * max(_number(left), _number(right)) > CHARACTERS:
            raise _too_long()
        if operator == "%" and isinstance(left, str) and formatted_size(left, right, CHARACTERS) > CHARACTERS:
            raise _too_long()
        result = super().call_binop(context, operator, left, right)
        budget.make(result)
        return result

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`format` of a text: newer versions of jinja2 put a function of their own in its place."""
        formatter = super().wrap_str_format(value)
        if formatter is not None and formatted_size(getattr(value, "__self__", ""), (), CHARACTERS) > CHARACTERS:
            raise _too_long()
        return formatter

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parsed: nodes.Template = _Bounding().visit(super()._parse(source, name, filename))
        parsed.set_environment(self)
        return parsed


class _Bounding(NodeTransformer):
    """Lets every loop count its rounds, and whatever makes a text without a filter or a call tell its length."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802
        self.generic_visit(node)
        node.iter = _filter(node.iter, _COUNTED)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filter(nodes.List(node.nodes, lineno=node.lineno), _JOINED)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, _MADE) if isinstance(node.arg, nodes.Slice) else node

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Filter:  # noqa: N802
        return _filter(nodes.Const(node.data, lineno=node.lineno), _MADE)


def _filter(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


_COUNTED, _JOINED, _MADE = "counted rounds", "joined texts", "made texts"
"""Filters that no template can spell. They have a context, or the compiler would run them where all is constant."""
_current: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@pass_context
def _counted(context: Context, several: Iterable[Any]) -> Iterator[Any]:
    """What a loop goes over."""
    budget = context.parent[_BUDGET]
    for each in several:
        budget.step()
        yield each


@pass_context
def _joined(context: Context, several: Sequence[Any]) -> str:
    """What `~` makes."""
    if size_of(several, CHARACTERS) > CHARACTERS:
        raise _too_long()
    return str(_made(context, str_join(several)))


@pass_context
def _made(context: Context, value: Any) -> Any:
    context.parent[_BUDGET].make(value)
    return value


def _finalised(value: Any) -> Any:
    """What is written out."""
    if size_of(value, CHARACTERS) > CHARACTERS:
        raise _too_long()
    return value


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that makes nothing too large."""
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        arguments = (*args[skipped + 1 :], *options.values())
        if filtered_size(name, args[skipped], arguments, CHARACTERS) > CHARACTERS:
            raise _too_long()
        result, budget = function(*args, **options), _current.get()
        if budget is not None:  # None while constant parts are compiled
            budget.step()
            budget.make(result)
        return result

    return called


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


def _too_long() -> ModelError:
    return _unbounded(f"makes a text of more than {CHARACTERS} characters")


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}..."


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict) else 0


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
