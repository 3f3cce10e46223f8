"""Calls of tools in the text of an answer: the parts of the text as it comes, and grammars that make a model call.

Where the pieces of the text begin and end makes no difference. What is not a call in the style of the model, or is one
of a tool that does not exist, is text. Whitespace around calls belongs to neither.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from ..structured.grammar import Grammar, schema_text
from ..tokenizer.detokenizer import overlap
from .reasoning import MOST_BLANKS

Style = Literal["hermes", "llama"]
"""How a model calls: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>` anywhere in its answer (Hermes, Qwen),
or `{"name": ..., "parameters": {...}}` as the answer, several of them with `;` between (Llama 3)."""
MOST_CALLS: Final = 16
"""Calls in an answer that has to have some: a model might not end by itself."""
_OPEN, _CLOSE, _PYTHON = "<tool_call>", "</tool_call>", "<|python_tag|>"
_HEAD: Final = re.compile(
    r'\{\s*"name"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)', re.ASCII
)
"""A call up to its arguments, in the order that models are trained to write."""
_LONGEST_HEAD: Final = 1024
_FIRST_KEY: Final = re.compile(r'\{\s*(?:"((?:[^"\\\x00-\x1f]|\\.)*)"|[^\s"])', re.ASCII)
_KEYS: Final = ("name", "arguments", "parameters", "type", "id")
_MARKS: Final = re.compile(r'["{}\[\]]')
_IN_STRING: Final = re.compile(r'["\\]')


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBegins:
    """The model calls a tool."""

    number: int
    """Of the call in this answer."""
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of the arguments of a call, in JSON."""

    number: int
    text: str


Delta = Content | CallBegins | CallArguments


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, as a whole."""

    id: str
    name: str
    arguments: str
    """In JSON."""


def style_of(template: str | None) -> Style:
    """How a model calls that has this chat template."""
    return "llama" if template is not None and _OPEN not in template and '"parameters"' in template else "hermes"


def new_id() -> str:
    """A name for a call that no other has."""
    return f"call_{secrets.token_hex(12)}"


def parse(
    text: str, style: Style, tools: Collection[str] | None = None, make_id: Callable[[], str] = new_id
) -> tuple[str, tuple[ToolCall, ...]]:
    """The text of a whole answer without its calls, and the calls. A call whose JSON is damaged stays text."""
    parser = ToolCallParser(style, tools, is_partial=False, make_id=make_id)
    content, begun, arguments = "", list[CallBegins](), list[str]()
    pieces = (text[start : start + 256] for start in range(0, len(text), 256))  # what it holds back is read again
    for delta in (*(each for piece in pieces for each in parser.push(piece)), *parser.finish()):
        match delta:
            case Content(piece):
                content += piece
            case CallBegins():
                begun.append(delta)
            case CallArguments(_, piece):
                arguments.append(piece)
    calls = zip(begun, arguments, strict=True)
    return content, tuple(ToolCall(call.id, call.name, piece) for call, piece in calls)


class ToolCallParser:
    """Takes an answer apart as it comes.

    With `is_partial` a call begins as soon as its name is known, and its arguments follow in pieces, as OpenAI's API
    streams them: damage that shows later cannot take them back. Without, a call comes when all of it is there.

    Example:
        parser = ToolCallParser("hermes", {"get_weather"})
        deltas = parser.push(text)
    """

    def __init__(
        self, style: Style, tools: Collection[str] | None = None, *, is_partial: bool = True,
        make_id: Callable[[], str] = new_id,
    ) -> None:  # fmt: skip
        """A parser for one answer. A call of a tool that is not among `tools` is text; None allows any name."""
        self._style, self._tools, self._is_partial, self._make_id = style, tools, is_partial, make_id
        self._pending = ""
        """Text that is not decided on. While an object is read: all that becomes text if it is no call."""
        self._object: _Object | None = None
        self._blank = ""
        """Whitespace that is text if more text comes, and nothing if a call does."""
        self._is_plain = False
        """Whether nothing more can be a call: an answer of Llama that began as text."""
        self._is_after_call = False
        self._calls = 0
        self._out: list[Delta] = []

    def push(self, text: str) -> list[Delta]:
        """What a piece of text adds."""
        self._pending += text
        while self._object_goes_on() if self._object is not None else self._begins():
            pass
        return self._taken()

    def finish(self) -> list[Delta]:
        """What was held back, when no more text comes."""
        is_begun = self._object is not None and self._object.sent is not None
        rest, self._pending, self._object = self._pending, "", None
        if not is_begun:
            self._say(rest)
        if not self._is_after_call:
            self._say("", is_end=True)
        return self._taken()

    def _taken(self) -> list[Delta]:
        """What came out since the last time, with pieces of one kind as one."""
        out: list[Delta] = []
        for delta in self._out:
            match out[-1] if out else None, delta:
                case Content(before), Content(text):
                    out[-1] = Content(before + text)
                case CallArguments(number, before), CallArguments(same, text) if number == same:
                    out[-1] = CallArguments(number, before + text)
                case _:
                    out.append(delta)
        self._out = []
        return out

    # Text.

    def _begins(self) -> bool:
        """Says the text before the next object that may be a call; whether there is one."""
        if self._style == "hermes":
            if self._is_after_call and self._skip(_CLOSE):
                return False
            before, tag, after = self._pending.partition(_OPEN)
            if not tag:
                held = overlap(before, _OPEN)
                self._say(before[: len(before) - held])
                self._pending = before[len(before) - held :]
                return False
            inside = after.lstrip()
            blanks, start = len(after) - len(inside), len(self._pending) - len(inside)
            if not inside and blanks <= MOST_BLANKS:
                self._say(before)
                self._pending = self._pending[len(before) :]
                return False
            if blanks > MOST_BLANKS or inside[0] != "{":
                self._say(self._pending[:start])
                self._pending = inside
                return True
            self._say(before)
            self._pending = self._pending[len(before) :]
            self._object = _Object(start - len(before))
            return True
        return self._llama_begins()

    def _llama_begins(self) -> bool:
        """The same for Llama: an object is a call at the beginning of the answer, or after another call."""
        if self._is_after_call:
            self._pending = self._pending.lstrip(" \t\r\n;")
        if not self._is_plain:
            rest = self._pending.lstrip().removeprefix(_PYTHON).lstrip()
            start = len(self._pending) - len(rest)
            is_near = start <= MOST_BLANKS
            if is_near and rest.startswith("{"):
                self._object = _Object(start)
                return True
            if is_near and _PYTHON.startswith(rest):
                return False
            self._is_plain = True
        self._say(self._pending)
        self._pending = ""
        return False

    def _skip(self, tag: str) -> bool:
        """Drops a tag after a call, if it is there; whether it may still come."""
        rest = self._pending.lstrip()
        while rest.startswith(tag):
            rest = rest.removeprefix(tag).lstrip()
        self._pending = rest
        return tag.startswith(rest)

    def _say(self, text: str, *, is_end: bool = False) -> None:
        """Adds text to the answer; whitespace at its end waits for what comes."""
        if self._is_after_call:
            text = text.lstrip()
        if not text and not is_end:
            return
        text = self._blank + text
        kept = len(text) if is_end else max(len(text.rstrip()), len(text) - MOST_BLANKS)
        self._blank = text[kept:]
        if kept:
            self._out.append(Content(text[:kept]))
        self._is_after_call = False

    # Calls.

    def _object_goes_on(self) -> bool:
        """Reads more of an object; whether it has ended, and text follows it."""
        read = self._object
        assert read is not None
        if read.sent is None:
            self._find_head(read)
        is_over = not read.is_other and read.go_on(self._pending)
        if read.sent is not None:
            self._send(read)
        if read.is_other or (is_over and read.sent is None and not self._whole(read)):
            self._object = None
            self._no_call(read)
            return True
        if not is_over:
            return False
        self._object, self._pending = None, self._pending[read.at :]
        return True

    def _find_head(self, read: _Object) -> None:
        """Begins a call as soon as its name is known, or finds out that the object is none."""
        text = self._pending[read.start : read.start + _LONGEST_HEAD]
        first = _FIRST_KEY.match(text)
        if first is not None and first[1] not in _KEYS:
            read.is_other = True
        elif self._is_partial and (head := _HEAD.match(text)) is not None:
            name = _decoded(head[1])
            if isinstance(name, str) and self._is_tool(name):
                self._call(name)
                read.sent = read.start + head.end()
                read.go_on(self._pending[: read.sent])

    def _send(self, read: _Object) -> None:
        """Sends what is there of the arguments."""
        assert read.sent is not None
        stop = read.at if read.inner is None else read.inner
        if stop > read.sent:
            self._out.append(CallArguments(self._calls - 1, self._pending[read.sent : stop]))
            read.sent = stop

    def _whole(self, read: _Object) -> bool:
        """Makes a call of an object that has ended, if it is one."""
        text = self._pending[read.start : read.at]
        document = None if read.is_damaged else _decoded(text)
        if not isinstance(document, dict) or not isinstance(document.get("name"), str):
            return False
        arguments = document.get("arguments", document.get("parameters"))
        if isinstance(arguments, str):
            arguments = _decoded(arguments)
        if not isinstance(arguments, dict | None) or not self._is_tool(document["name"]):
            return False
        head = _HEAD.match(text)
        inner = head is not None and read.inner is not None and _decoded(text[head.end() : read.inner - read.start])
        self._call(document["name"])
        if head is not None and inner == arguments:
            written = text[head.end() : (read.inner or 0) - read.start]
        else:
            written = json.dumps(arguments or {}, ensure_ascii=False)
        self._out.append(CallArguments(self._calls - 1, written))
        return True

    def _is_tool(self, name: str) -> bool:
        return bool(name) and (self._tools is None or name in self._tools)

    def _call(self, name: str) -> None:
        self._blank, self._is_after_call = "", True
        self._out.append(CallBegins(self._calls, self._make_id(), name))
        self._calls += 1

    def _no_call(self, read: _Object) -> None:
        """Says an object that is no call as text, with the tag before it."""
        if self._style == "llama":
            self._is_plain = True
            return
        self._say(self._pending[: read.start + 1])
        self._pending = self._pending[read.start + 1 :]


class _Object:
    """Where an object that is being read ends, by its brackets and strings."""

    def __init__(self, start: int) -> None:
        self.start = self.at = start
        self.sent: int | None = None
        """Up to where its arguments were sent, if they are."""
        self.inner: int | None = None
        """The end of the first value with brackets that is directly in it."""
        self.is_other = False
        """Whether it is known to be no call."""
        self.is_damaged = False
        self._open: list[str] = []
        self._is_string = self._is_escaped = False

    def go_on(self, text: str) -> bool:
        """Reads on in a text of which more is there; whether the object has ended, or brackets do not match."""
        while self.at < len(text):
            if self._is_escaped:
                self._is_escaped = False
                self.at += 1
                continue
            found = (_IN_STRING if self._is_string else _MARKS).search(text, self.at)
            if found is None:
                self.at = len(text)
                break
            self.at = found.end()
            mark = found[0]
            if mark == "\\":
                self._is_escaped = True
            elif mark == '"':
                self._is_string = not self._is_string
            elif mark in "{[":
                self._open.append(mark)
            else:
                self.is_damaged = self._open.pop() + mark not in ("{}", "[]")
                if len(self._open) == 1 and self.inner is None:
                    self.inner = self.at
                if self.is_damaged or not self._open:
                    return True
        return False


def _decoded(text: str) -> Any:
    """What JSON stands for; None where it is damaged."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


# Grammars.


def call_grammar(style: Style, tools: Mapping[str, Mapping[str, Any] | None], *, is_parallel: bool = True) -> Grammar:
    """The grammar of answers that call at least one of some tools, and nothing else.

    `tools` has the JSON schema of the parameters by name, None for any object. For a `tool_choice` that names a
    function it has that one alone.
    """
    key = "arguments" if style == "hermes" else "parameters"
    rules = [f"tool_{number}: %json {_call_schema(name, key, tools[name])}" for number, name in enumerate(tools)]
    names = " | ".join(f"tool_{number}" for number in range(len(tools)))
    between = '"\\n"' if style == "hermes" else '"; "'
    call = f'"{_OPEN}\\n" ({names}) "\\n{_CLOSE}"' if style == "hermes" else names
    more = f" ({between} call){{0,{MOST_CALLS - 1}}}" if is_parallel else ""
    return Grammar.context_free("\n".join((f"start: call{more}", f"call: {call}", *rules)))


def _call_schema(name: str, key: str, parameters: Mapping[str, Any] | None) -> str:
    schema = dict(parameters or {"type": "object"})
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)  # small models invent arguments without end
    inside = _moved(schema, f"#/properties/{key}")
    properties = {"name": {"const": name}, key: inside}
    return schema_text({
        "type": "object", "properties": properties, "required": ["name", key], "additionalProperties": False,
    })  # fmt: skip


def _moved(schema: Any, place: str) -> Any:
    """A schema that is part of another: references to its own parts begin at its place there."""
    match schema:
        case dict():
            return dict(_moved_items(schema, place))
        case list():
            return [_moved(each, place) for each in schema]
        case _:
            return schema


def _moved_items(schema: dict[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str) and value.startswith("#"):
            yield key, place + value[1:]
        else:
            yield key, _moved(value, place)
