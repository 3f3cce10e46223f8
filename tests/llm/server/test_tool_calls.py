"""Calls of tools in answers: well-formed, parallel, cut, damaged, in any pieces; and grammars that demand a call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.checkpoints import SPECIALS, tokenizer
from support.tiers import examples
from tileproof.llm.server.tool_calls import (
    CallArguments,
    CallBegins,
    Content,
    Delta,
    Style,
    ToolCallParser,
    call_grammar,
    parse,
    style_of,
)
from tileproof.llm.structured.compiler import GrammarCompiler
from tileproof.llm.tokenizer.text import Text

ARGUMENTS = '{"city": "Zürich }\\"{", "days": [1, {"a": []}]}'


def hermes(name: str = "weather", arguments: str = ARGUMENTS) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def llama(name: str = "weather", arguments: str = ARGUMENTS) -> str:
    return f'{{"name": "{name}", "parameters": {arguments}}}'


def numbered() -> Any:
    numbers = count()
    return lambda: f"id{next(numbers)}"


def parsed(text: str, style: Style = "hermes") -> tuple[str, list[tuple[str, str]]]:
    content, calls = parse(text, style, {"weather", "time"}, numbered())
    assert [call.id for call in calls] == [f"id{number}" for number in range(len(calls))]
    return content, [(call.name, call.arguments) for call in calls]


def streamed(pieces: list[str], style: Style, is_partial: bool) -> list[Delta]:
    """All deltas, with neighbors of one kind as one."""
    parser = ToolCallParser(style, {"weather", "time"}, is_partial=is_partial, make_id=numbered())
    found: list[Delta] = []
    for delta in [*(each for piece in pieces for each in parser.push(piece)), *parser.finish()]:
        match found[-1] if found else None, delta:
            case Content(before), Content(text):
                found[-1] = Content(before + text)
            case CallArguments(number, before), CallArguments(same, text) if number == same:
                found[-1] = CallArguments(number, before + text)
            case _:
                found.append(delta)
    return found


# Whole answers.


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (hermes(), "", [("weather", ARGUMENTS)]),
        (
            f"Let me see. \n{hermes()}\n{hermes('time', '{}')}\n",
            "Let me see.",
            [("weather", ARGUMENTS), ("time", "{}")],
        ),
        (f"{hermes()} and then", "and then", [("weather", ARGUMENTS)]),
        (hermes().removesuffix("\n</tool_call>"), "", [("weather", ARGUMENTS)]),
        ('<tool_call>{"arguments": {"a": 1}, "name": "time"}</tool_call>', "", [("time", '{"a": 1}')]),
        ('<tool_call>{"name": "time", "arguments": "{\\"a\\": 1}"}</tool_call>', "", [("time", '{"a": 1}')]),
        ('<tool_call>{"name": "time"}</tool_call>', "", [("time", "{}")]),
        (" no call, 1 < 2 \n", " no call, 1 < 2 \n", []),
    ],
)
def test_an_answer_is_its_text_and_its_calls(text: str, content: str, calls: list[tuple[str, str]]) -> None:
    assert parsed(text) == (content, calls)


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        (llama(), "", [("weather", ARGUMENTS)]),
        (f"<|python_tag|>{llama()}; {llama('time', '{}')}", "", [("weather", ARGUMENTS), ("time", "{}")]),
        (f"{llama()}\n{llama('time', '{}')}\n", "", [("weather", ARGUMENTS), ("time", "{}")]),
        (f"Look: {llama()}", f"Look: {llama()}", []),
        ("<|python_tag|>print(1)", "<|python_tag|>print(1)", []),
        (f"{llama()} is it", "is it", [("weather", ARGUMENTS)]),
        ('{"answer": 42}', '{"answer": 42}', []),
    ],
)
def test_an_answer_of_llama_is_a_call_or_text(text: str, content: str, calls: list[tuple[str, str]]) -> None:
    assert parsed(text, "llama") == (content, calls)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "weather", "arguments": {"a": 1]}\n</tool_call>',
        '<tool_call>{"name": "weather", "arguments": {"a": nonsense}}</tool_call> more',
        '<tool_call>{"name": "weather", "arguments": {"a": 1}',
        '<tool_call>{"name": "weather", "arguments": [1]}</tool_call>',
        '<tool_call>{"name": 7, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "weather", "arguments": {"a": NaN}}</tool_call>',
        "<tool_call>weather()</tool_call>",
        "<tool_call>{}</tool_call>",
        f"<tool_call>{'[' * 5000}",
        '<tool_call>{"name": "weather", "arguments": ' + '{"a":' * 5000 + "1" + "}" * 5001,
        "<tool_call>",
        "a <tool_ca",
    ],
)
def test_what_is_damaged_stays_text(text: str) -> None:
    assert parsed(text) == (text, [])


def test_a_call_after_a_damaged_one_is_a_call() -> None:
    damaged = '<tool_call>{"name": "weather", "arguments": {]}</tool_call>'
    assert parsed(f"{damaged}\n{hermes('time', '{}')}") == (damaged, [("time", "{}")])


# Pieces.

PARTS = st.sampled_from([
    hermes(), hermes("time", "{}"), llama(), llama("time", "{}"), hermes("unknown"), "<tool_call>", "</tool_call>",
    "; ", "<|python_tag|>", " ", "\n", "text", '{"name": "weather", "arguments": {"a": [}}', '{"name": "time", ',
    '"arguments": {', "}", "]", '"', "\\", '{"name": "time", "arguments": {"a": 1}, "more": {"b": 2}}', '{"x": 1}', "<",
])  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(PARTS, max_size=6), st.lists(st.integers(0, 400), max_size=60), st.sampled_from(["hermes", "llama"]),
    st.booleans(),
)  # fmt: skip
def test_pieces_make_no_difference(parts: list[str], cuts: list[int], style: Style, is_partial: bool) -> None:
    text = "".join(parts)
    borders = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    whole = streamed([text], style, is_partial)
    assert streamed([text[start:stop] for start, stop in pairwise(borders)], style, is_partial) == whole
    assert streamed(list(text), style, is_partial) == whole
    names = [delta.number for delta in whole if isinstance(delta, CallBegins)]
    assert names == list(range(len(names)))


@pytest.mark.parametrize(("style", "call"), [("hermes", hermes), ("llama", llama)])
def test_a_call_begins_with_its_name_and_its_arguments_follow(style: Style, call: Any) -> None:
    text = call()
    parser = ToolCallParser(style, make_id=numbered())
    at = text.index('{"city"') + 1
    assert parser.push(text[: at - 1]) == []
    assert parser.push(text[at - 1 : at]) == [CallBegins(0, "id0", "weather"), CallArguments(0, "{")]
    assert parser.push(text[at : at + 6]) == [CallArguments(0, '"city"')]
    assert parser.push(text[at + 6 : -1]) == [CallArguments(0, ARGUMENTS[7:])]
    assert [*parser.push(text[-1:]), *parser.finish()] == []


def test_arguments_that_are_cut_stay_as_far_as_they_came() -> None:
    text = hermes()[:60]
    found = streamed([text], "hermes", True)
    assert found == [CallBegins(0, "id0", "weather"), CallArguments(0, text[text.index('{"city') :])]
    assert parsed(text) == (text, [])


def test_text_that_can_be_no_call_does_not_wait() -> None:
    parser = ToolCallParser("llama", make_id=numbered())
    assert parser.push('{"answer') == []
    assert parser.push('": ') == [Content('{"answer":')]
    assert parser.push("42") == [Content(" 42")]
    parser = ToolCallParser("hermes", make_id=numbered())
    assert parser.push("a <tool") == [Content("a")]
    assert parser.push("box> b") == [Content(" <toolbox> b")]


def test_a_template_shows_how_its_model_calls() -> None:
    assert style_of("... <tool_call> ...") == "hermes"
    assert style_of('Respond in the format {"name": function name, "parameters": dictionary}') == "llama"
    assert style_of(None) == "hermes"


# Grammars.

TEXT = Text(tokenizer("qwen3", 300))
END = 300 - len(SPECIALS) + 2
TOOLS: dict[str, dict[str, Any] | None] = {
    "weather": {
        "$defs": {"City": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/City"}},
        "required": ["city"],
    },
    "time": None,
}


@pytest.fixture(scope="module")
def compiler() -> Iterator[GrammarCompiler]:
    made = GrammarCompiler(TEXT, 300, (END,))
    yield made
    made.close()


@pytest.mark.parametrize(("style", "call", "between"), [("hermes", hermes, "\n"), ("llama", llama, "; ")])
def test_a_model_that_has_to_call_writes_what_is_read_as_a_call(
    compiler: GrammarCompiler, style: Style, call: Any, between: str
) -> None:
    right = call("weather", '{"city": {"name": "Bern"}}')
    both = right + between + call("time", '{"zone": 1}')

    def accepts(text: str, tools: dict[str, dict[str, Any] | None], *, is_parallel: bool = True) -> bool:
        matcher = compiler.matcher(call_grammar(style, tools, is_parallel=is_parallel))
        return all(matcher.accept(token) for token in TEXT.encode(text)) and matcher.is_complete

    assert accepts(right, TOOLS)
    assert accepts(both, TOOLS)
    assert len(parsed(both, style)[1]) == 2
    assert not accepts(both, TOOLS, is_parallel=False)
    assert not accepts(call("weather", '{"city": {}}'), TOOLS)
    assert not accepts(call("weather", '{"city": {"name": "Bern"}, "invented": 1}'), TOOLS)
    assert not accepts(call("other", "{}"), TOOLS)
    assert not accepts(right, {"time": None})
    assert not accepts(f"I {right}", TOOLS)
    assert json.loads(parsed(right, style)[1][0][1]) == {"city": {"name": "Bern"}}
