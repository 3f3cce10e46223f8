"""Grammars that a request may ask its output to follow, as values: what is wanted, not yet compiled."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tileproof.diagnostics.codes import Code

from ..errors import ModelError, refused

Kind = Literal["JSON schema", "regex", "choice", "grammar"]
MOST_CHARACTERS: Final = 1 << 18
"""Of a grammar. Time and memory to compile one grow with its length, if nothing worse."""
JSON_OPTIONS: Final = {"whitespace_pattern": r"[\x20\x0A\x0D\x09]{1,32}", "coerce_one_of": True}
"""Whitespace has an end, or a small model may generate nothing else. `oneOf`, which no parser can follow token by
token, is read as `anyOf`."""


@dataclass(frozen=True, slots=True)
class FreeText:
    """Text before that which follows a grammar, such as the thoughts of a model."""

    end: str
    """It ends with this."""
    begin: str = ""
    """A token. An output that begins otherwise follows the grammar at once; without it the output begins as it may."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """What an output must look like, from its first character to its last.

    Example:
        Grammar.json_schema({"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]})
    """

    kind: Kind
    text: str

    def __post_init__(self) -> None:
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise unusable(self.kind, "it is not valid Unicode", "take out lone surrogates") from error
        if len(self.text) > MOST_CHARACTERS:
            raise unusable(self.kind, f"it has {len(self.text)} characters", f"use up to {MOST_CHARACTERS}")

    @classmethod
    def json_object(cls) -> Grammar:
        """Any JSON object."""
        return cls.json_schema({"type": "object"})

    @classmethod
    def json_schema(cls, schema: Mapping[str, Any] | bool | str) -> Grammar:
        """JSON that a schema allows. The schema is JSON or what that decodes to; properties come in its order."""
        return cls("JSON schema", schema_text(schema))

    @classmethod
    def regex(cls, pattern: str) -> Grammar:
        """Text that a regular expression matches as a whole. It has no lookaround and no backreferences."""
        return cls("regex", pattern)

    @classmethod
    def choice(cls, options: Sequence[str]) -> Grammar:
        """One of some strings."""
        is_right = isinstance(options, list | tuple) and all(isinstance(each, str) for each in options)
        if not is_right or not any(options):
            raise unusable("choice", f"it is {str(options)[:80]!r}", 'use strings, such as ["yes", "no"]')
        return cls("choice", "|".join(map(_literal, options)))

    @classmethod
    def context_free(cls, text: str) -> Grammar:
        """A context-free grammar: Lark, which begins at the rule `start`, or GBNF (`root ::= ...`)."""
        return cls("grammar", text)

    @property
    def is_gbnf(self) -> bool:
        """Whether rules are written with `::=`."""
        return self.kind == "grammar" and re.search(r"^\s*[\w-]+\s*::=", self.text, re.MULTILINE) is not None


def schema_text(schema: Mapping[str, Any] | bool | str) -> str:
    """A JSON schema as JSON, with the options for its compiler."""
    try:
        document = json.loads(schema) if isinstance(schema, str) else schema
        if document is True:
            document = {}
        if not isinstance(document, Mapping):
            raise unusable("JSON schema", f"it is {str(document)[:80]}", "use an object")
        return json.dumps({**document, "x-guidance": JSON_OPTIONS}, allow_nan=False, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise unusable("JSON schema", f"it is not JSON: {error}", "use a JSON object") from error


def unusable(kind: Kind, why: str, cure: str = "use a simpler one") -> ModelError:
    """The error for a grammar that cannot be followed."""
    return refused(Code.GRAMMAR, f"the {kind} cannot be used: {' '.join(why.split())[:300]}", cure)


def _literal(text: str) -> str:
    """A regular expression that matches this string alone."""
    return "".join(each if each.isalnum() else f"\\x{{{ord(each):x}}}" for each in text)
