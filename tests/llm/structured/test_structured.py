"""Structured output: whatever masks allow follows the grammar, and what cannot be followed is rejected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib import util
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.checkpoints import SPECIALS, tokenizer
from support.tiers import examples
from tileproof.diagnostics.codes import Code
from tileproof.llm.errors import ModelError
from tileproof.llm.structured.compiler import GrammarCompiler
from tileproof.llm.structured.grammar import MOST_CHARACTERS, FreeText, Grammar
from tileproof.llm.structured.guidance import Matcher, Vocabulary, compiled, fill_masks, serialized, tokenizer_of
from tileproof.llm.tokenizer.text import Text

TOKENS, LOGITS = 300, 330
WORDS = -(-LOGITS // 32)
TEXT = Text(tokenizer("qwen3", TOKENS))
END = TOKENS - len(SPECIALS) + 2
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
SMALL = "(a|b){2}-[0-9]+/x"


@pytest.fixture(scope="module")
def compiler() -> Iterator[GrammarCompiler]:
    made = GrammarCompiler(TEXT, LOGITS, (END,))
    yield made
    made.close()


def allowed(matcher: Matcher) -> list[int]:
    row = np.full(WORDS, 7, np.int32)
    matcher.mask(row)
    tokens: list[int] = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
    return tokens


def sampled(matcher: Matcher, seed: int, limit: int = 400) -> str | None:
    """A text made of tokens drawn among those that are allowed; None where it does not end in time."""
    rng, tokens = np.random.default_rng(seed), []
    for _ in range(limit):
        options = allowed(matcher)
        token = int(rng.choice(options))
        assert matcher.accept(token)
        if token == END:
            return TEXT.decode(tokens)
        tokens.append(token)
    return None


def is_person(text: str) -> bool:
    person = json.loads(text)
    return list(person) == ["name", "age"] and len(person["name"]) <= 8 and 0 <= person["age"] <= 99


# What is allowed.


@pytest.mark.parametrize(
    ("grammar", "is_right"),
    [
        (Grammar.json_schema(PERSON), is_person),
        (Grammar.json_object(), lambda text: isinstance(json.loads(text), dict)),
        (Grammar.regex(SMALL), lambda text: re.fullmatch(SMALL, text)),
        (Grammar.choice(["yes", "no", "a.c"]), ["yes", "no", "a.c"].__contains__),
        (Grammar.context_free('start: "a" n ";"\nn: /[0-9]/ n | "x"'), lambda text: re.fullmatch("a[0-9]*x;", text)),
        (Grammar.context_free('root ::= "a" n ";"\nn ::= [0-9] n | "x"'), lambda text: re.fullmatch("a[0-9]*x;", text)),
    ],
    ids=["schema", "object", "regex", "choice", "lark", "gbnf"],
)
def test_whatever_is_sampled_under_masks_follows_the_grammar(
    compiler: GrammarCompiler, grammar: Grammar, is_right: Callable[[str], Any]
) -> None:
    texts = [text for seed in range(8) if (text := sampled(compiler.matcher(grammar), seed)) is not None]
    assert len(set(texts)) > 1
    assert [text for text in texts if not is_right(text)] == []


def test_a_mask_has_a_bit_for_exactly_the_tokens_that_are_accepted(compiler: GrammarCompiler) -> None:
    matcher = compiler.matcher(Grammar.regex("[a-z ]{3,9}"))
    for token in TEXT.encode("th"):
        options = set(allowed(matcher))
        for other in range(TOKENS):
            assert matcher.accept(other) == (other in options)
            if other in options:
                matcher.rollback(1)
        assert matcher.accept(token)
    assert len(options) > 30


def test_a_finished_output_allows_its_end_alone(compiler: GrammarCompiler) -> None:
    matcher = compiler.matcher(Grammar.choice(["the", "thea"]))
    (the,) = TEXT.encode("the")
    assert (matcher.is_complete, matcher.is_finished) == (False, False)
    assert matcher.accept(the)
    assert (matcher.is_complete, matcher.is_finished) == (True, False)
    assert set(allowed(matcher)) == {END, *TEXT.encode("a")}
    assert matcher.accept(*TEXT.encode("a"))
    assert (matcher.is_finished, allowed(matcher)) == (True, [END])
    assert (matcher.accept(the), matcher.accept(END)) == (False, True)


def test_special_tokens_are_no_text(compiler: GrammarCompiler) -> None:
    options = allowed(compiler.matcher(Grammar.regex(r"(.|\n)*")))
    assert [token for token in options if token >= TOKENS - len(SPECIALS)] == [END]
    spelled = compiler.matcher(Grammar.choice([SPECIALS[1]]))
    assert sampled(spelled, 0) == SPECIALS[1]


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4).filter(any))
def test_a_choice_is_each_of_its_strings_and_nothing_else(options: list[str]) -> None:
    vocabulary = Vocabulary.of(TEXT, LOGITS, (END,))
    grammar = Grammar.choice(options)
    for option in (*options, f"{options[0]}!", options[0][:-1]):
        matcher = Matcher(grammar, compiled(tokenizer_of(vocabulary), serialized(grammar)), vocabulary)
        is_taken = all(matcher.accept(token) for token in TEXT.encode(option, special=False))
        assert (is_taken and matcher.is_complete) == (option in options)


def test_text_that_a_grammar_forces_is_encoded_as_the_tokenizer_does(compiler: GrammarCompiler) -> None:
    matcher, forced = compiler.matcher(Grammar.regex("the quick brown fox" + " jumps" * 5000 + "[0-9]")), []
    for _ in range(6):
        (token,) = allowed(matcher)
        matcher.accept(token)
        forced.append(token)
    assert forced == TEXT.encode("the quick brown fox jumps jumps jumps")[:6]


def test_a_tokenizer_that_puts_a_space_in_front_or_fails_forces_the_right_bytes() -> None:
    vocabulary = Vocabulary.of(TEXT, LOGITS, (END,))

    def spaced(text: str) -> list[int]:
        return TEXT.encode(f" {text}")

    def failing(text: str) -> list[int]:
        raise ModelError(*())

    grammar = Grammar.choice(["the quick"])
    for encode in (spaced, failing):
        matcher = Matcher(grammar, compiled(tokenizer_of(vocabulary, encode), serialized(grammar)), vocabulary)
        assert sampled(matcher, 0) == "the quick"


def test_a_grammar_may_begin_after_a_text(compiler: GrammarCompiler) -> None:
    matcher = compiler.matcher(Grammar.choice(["yes"]), FreeText("</think>"))
    thought = TEXT.encode("the fox", special=False)
    assert all(matcher.accept(token) for token in thought)
    assert set(range(TOKENS)) <= set(allowed(matcher))
    assert (matcher.is_complete, matcher.is_finished) == (False, False)
    assert matcher.accept(TOKENS - 1)
    options = allowed(matcher)
    assert len(options) == 1
    assert matcher.accept(options[0])
    matcher.rollback(2)
    assert set(range(TOKENS)) <= set(allowed(matcher))
    assert all(matcher.accept(token) for token in TEXT.encode("</think>", special=False))
    assert sampled(matcher, 0) == "yes"


def test_a_grammar_may_begin_after_a_text_that_the_model_opens_itself(compiler: GrammarCompiler) -> None:
    opening, yes = TOKENS - 2, TEXT.encode("yes")[0]
    assert TEXT.encode("<think>") == [opening]

    def begun() -> Matcher:
        return compiler.matcher(Grammar.choice(["yes"]), FreeText("</think>", "<think>"))

    matcher = begun()
    assert {yes, opening} <= set(allowed(matcher)) < set(range(TOKENS))
    assert matcher.accept(opening)
    assert set(range(TOKENS)) <= set(allowed(matcher))
    assert all(matcher.accept(token) for token in TEXT.encode("the fox", special=False))
    assert (matcher.is_complete, matcher.is_finished) == (False, False)
    assert matcher.accept(TOKENS - 1)
    assert opening not in allowed(matcher), "a thought is not followed by another"
    assert matcher.accept(yes)
    matcher.rollback(len(TEXT.encode("the fox", special=False)) + 3)
    assert {yes, opening} <= set(allowed(matcher)) < set(range(TOKENS)), "as in the beginning"
    assert matcher.accept(yes)
    direct = begun()
    assert direct.accept(yes)
    assert opening not in allowed(direct)
    assert not direct.accept(opening)
    several = compiler.matcher(Grammar.choice(["yes"]), FreeText("</think>", "the fox"))
    assert allowed(several) == allowed(compiler.matcher(Grammar.choice(["yes"]))), "only a token can begin it"


def test_masks_of_many_requests_are_filled_at_once(compiler: GrammarCompiler) -> None:
    table = np.zeros((5, WORDS), np.int32)
    matchers = {row: compiler.matcher(Grammar.choice([f"{row}"])) for row in (4, 0, 2)}
    assert fill_masks(matchers, table) == {}
    found = [np.flatnonzero(row).tolist() for row in np.unpackbits(table.view(np.uint8), axis=1, bitorder="little")]
    assert found == [TEXT.encode("0"), [], TEXT.encode("2"), [], TEXT.encode("4")]
    assert fill_masks({}, table) == {}
    for wrong in (table[:4], table[:, :-1], table.astype(np.int64)):
        with pytest.raises(ValueError, match=r"a table for these masks is \(5, 11\)"):
            fill_masks(matchers, wrong)


def test_a_request_that_exceeds_a_limit_fails_alone(compiler: GrammarCompiler) -> None:
    calm = "qz" * 20
    wide = " | ".join(f'"a{number}"' for number in range(2500))
    matcher = compiler.matcher(Grammar.context_free(f"start: CALM ({wide})\nCALM: /[qz]{{40}}/"))
    assert all(matcher.accept(token) for token in TEXT.encode(calm)[:-1])
    with pytest.raises(ModelError, match="items"):
        matcher.accept(TEXT.encode(calm)[-1])
    other, table = compiler.matcher(Grammar.choice(["a"])), np.zeros((2, WORDS), np.int32)
    assert list(fill_masks({0: matcher, 1: other}, table)) == [0]
    assert allowed(other) == TEXT.encode("a")


# What is rejected.


def rejected(compiler: GrammarCompiler, make: Callable[[], Grammar]) -> str:
    with pytest.raises(ModelError) as failed:
        compiler.matcher(make())
    assert failed.value.diagnostics[0].code is Code.GRAMMAR
    line = failed.value.line
    assert "\n" not in line
    assert len(line) < 450
    return line


WRONG = {
    "look-around": lambda: Grammar.regex("(?=a)b"),
    "backreferences are not supported": lambda: Grammar.regex(r"(a)\1"),
    "regex cannot be used: nothing matches it": lambda: Grammar.regex(r"[^\s\S]"),
    "too many expressions": lambda: Grammar.regex("a{1000000}"),
    f"use up to {MOST_CHARACTERS}": lambda: Grammar.regex("a" * (MOST_CHARACTERS + 1)),
    "take out lone surrogates": lambda: Grammar.regex("\ud800"),
    "minimum (5) is greater than maximum": lambda: Grammar.json_schema({"minimum": 5, "maximum": 1, "type": "integer"}),
    'Unimplemented keys: ["not"]': lambda: Grammar.json_schema({"not": {"type": "string"}}),
    "JSON schema cannot be used: it is not JSON": lambda: Grammar.json_schema("{"),
    "it is [1]; use an object": lambda: Grammar.json_schema("[1]"),
    "maximum recursion depth": lambda: Grammar.json_schema('{"items":' * 100000 + "1" + "}" * 100000),
    "recursion limit exceeded": lambda: Grammar.json_schema('{"items":' * 300 + "{}" + "}" * 300),
    "is not present in a registry": lambda: Grammar.json_schema({"$ref": "file:///etc/passwd"}),
    "nothing matches it": lambda: Grammar.json_schema({"$ref": "#"}),
    "use strings, such as": lambda: Grammar.choice([]),
    "no start rule found": lambda: Grammar.context_free('a: "b"'),
    "Failed to convert the grammar from GBNF": lambda: Grammar.context_free("root ::= ((("),
    "Too many items": lambda: Grammar.context_free('start: ((("a"{1000}){1000}){1000}){1000}'),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_grammar_that_cannot_be_followed_is_rejected_with_its_mistake(compiler: GrammarCompiler, words: str) -> None:
    assert words in rejected(compiler, WRONG[words])


def chain(rules: int) -> Grammar:
    lines = (f'r{number}: "a" r{number + 1} | "b"' for number in range(rules))
    return Grammar.context_free("\n".join(("start: r0", *lines, f'r{rules}: "c"')))


def test_a_grammar_that_overflows_the_stack_ends_a_child_process_and_no_more(compiler: GrammarCompiler) -> None:
    assert "it nests too deeply, or takes more than 128 MB" in rejected(compiler, lambda: chain(5000))
    assert sampled(compiler.matcher(chain(100)), 0) is not None


@pytest.mark.slow
def test_a_grammar_that_compiles_for_long_is_stopped(compiler: GrammarCompiler) -> None:
    endless = {"type": "integer", "multipleOf": 999_983}
    assert "it takes more than 1 s to compile" in rejected(compiler, lambda: Grammar.json_schema(endless))
    assert sampled(compiler.matcher(Grammar.choice(["still here"])), 0) == "still here"


def test_a_grammar_is_compiled_once_and_its_matchers_are_independent(
    compiler: GrammarCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = Grammar.choice(["ab", "cd"])
    first = compiler.matcher(grammar)
    rejected(compiler, WRONG["look-around"])
    monkeypatch.setattr("tileproof.llm.structured.trial.Trial.run", lambda *_: pytest.fail("it is known"))
    (token,) = TEXT.encode("c")
    first.accept(token)
    assert sampled(compiler.matcher(Grammar.choice(["ab", "cd"])), 3) in ("ab", "cd")
    assert allowed(first) == TEXT.encode("d")
    rejected(compiler, WRONG["look-around"])


def test_a_child_process_that_ended_is_replaced() -> None:
    compiler = GrammarCompiler(TEXT, LOGITS, (END,))
    compiler.warm_up()
    compiler.close()
    assert sampled(compiler.matcher(Grammar.choice(["a"])), 0) == "a"
    compiler.close()


def test_a_missing_package_and_a_model_without_an_end_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="has no token that ends an output"):
        Vocabulary.of(TEXT, LOGITS, ())
    monkeypatch.setattr("tileproof.llm.structured.guidance.find_spec", lambda name: None)
    assert util.find_spec("llguidance") is not None
    with pytest.raises(ModelError, match=r"pip install 'tileproof\[serve\]'"):
        GrammarCompiler(TEXT, LOGITS, (END,))
