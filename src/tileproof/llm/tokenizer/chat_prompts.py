"""The prompt of a chat as parts that may hold special tokens and parts that may not.

The special tokens of a prompt say who speaks. A message whose content spells one must not speak for someone else, so
special tokens spelled in contents stay plain text. Chats that spell none are one part, the rendered template, and
have the ids that `transformers` gives them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tileproof.diagnostics.codes import Code

from ..errors import refused
from .messages import Message
from .templates import ChatTemplate

ROLES: Final = ("system", "user", "assistant", "tool")
_THOUGHTS: Final = frozenset({"<think>", "</think>"})
"""What templates look for in answers to leave the thinking out. They mark no speaker."""
_PRIVATE = 0xE000
"""Where characters begin that have no meaning of their own."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a prompt, and whether special tokens spelled in it are these tokens."""

    text: str
    is_trusted: bool


@dataclass(frozen=True, slots=True)
class _Chat:
    """What a template is given. All of its texts but the roles may be a stranger's."""

    records: list[dict[str, Any]]
    tools: list[Any]
    variables: dict[str, Any]
    thinking: bool | None
    continue_last: bool

    def texts(self) -> Iterator[str]:
        """All texts but the roles."""
        for record in self.records:
            yield from _texts([value for name, value in record.items() if name != "role"])
        yield from _texts([self.tools, self.variables])

    def mapped(self, change: Callable[[str], str]) -> _Chat:
        """The same with other texts."""
        records = [{name: value if name == "role" else _mapped(value, change) for name, value in record.items()}
                   for record in self.records]  # fmt: skip
        tools, variables = _mapped(self.tools, change), _mapped(self.variables, change)
        return replace(self, records=records, tools=tools, variables=variables)

    def render(self, template: ChatTemplate) -> str:
        def rendered(records: Sequence[Mapping[str, Any]], *, answers: bool = True) -> str:
            return template.render(
                records, thinking=self.thinking, answers=answers, tools=self.tools, variables=self.variables
            )

        if not self.continue_last:
            return rendered(self.records)
        last: str = self.records[-1]["content"]
        if not last.strip():
            return rendered(self.records[:-1]) + last
        whole = rendered(self.records, answers=False)
        for kept in (last, last.lstrip(), last.strip()):  # templates trim
            if kept in whole:
                return whole[: whole.rindex(kept)] + kept
        raise refused(
            Code.CHAT_TEMPLATE, "the chat template changes the last message, so it cannot be continued",
            "end the chat with a message of the user",
        )  # fmt: skip


def chat_parts(
    template: ChatTemplate, messages: Sequence[Message | Mapping[str, Any]], special: Iterable[str], *,
    thinking: bool | None = None, continue_last: bool = False, tools: Sequence[Mapping[str, Any]] = (),
    variables: Mapping[str, Any] | None = None,
) -> list[Part]:  # fmt: skip
    """The prompt of a chat. With `continue_last` it ends where the last message ends, for the model to go on."""
    records = [each.record for each in _checked(messages, continue_last)]
    chat = _Chat(records, list(tools), dict(variables or {}), thinking, continue_last)
    names = sorted(set(special) - _THOUGHTS, key=len, reverse=True)
    spelled = re.compile("|".join(map(re.escape, names))) if names else None
    if spelled is None or not any(spelled.search(text) for text in chat.texts()):
        rendered = chat.render(template)
        if spelled is not None:
            _check_no_more(template, chat, names, spelled.findall(rendered))
        return [Part(rendered, is_trusted=True)]
    stands_for = dict(zip(names, _unused_characters(template, chat), strict=False))
    rendered = chat.mapped(lambda text: spelled.sub(lambda f: stands_for[f[0]], text)).render(template)
    _check_no_more(template, chat, names, spelled.findall(rendered))
    back = str.maketrans({character: name for name, character in stands_for.items()})
    parts: list[Part] = []
    at = 0
    for match in spelled.finditer(rendered):
        parts += [Part(rendered[at : match.start()].translate(back), False), Part(match[0], True)]
        at = match.end()
    return [part for part in [*parts, Part(rendered[at:].translate(back), False)] if part.text]


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value of JSON, names included."""
    match value:
        case str():
            yield value
        case Mapping():
            yield from _texts([*value, *value.values()])
        case list() | tuple():
            for each in value:
                yield from _texts(each)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """A value of JSON with other texts, names included."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {change(name): _mapped(each, change) for name, each in value.items()}
        case list() | tuple():
            return [_mapped(each, change) for each in value]
        case _:
            return value


def _checked(messages: Any, continue_last: bool) -> list[Message]:
    if not isinstance(messages, list | tuple):
        raise refused(Code.PROMPT, f"the chat is of the type {type(messages).__name__}", "pass a list of messages")
    if not messages:
        raise refused(Code.PROMPT, "the chat has no messages", "pass at least one from the user")
    checked = [Message.of(each) for each in messages]
    for each in checked:
        if each.role not in ROLES:
            raise refused(Code.PROMPT, f"a message has the role {each.role!r}", f"roles are {', '.join(ROLES)}")
        if not isinstance(each.content, str):
            raise refused(Code.PROMPT, f"a message is a {type(each.content).__name__}", "pass its text")
    if continue_last and checked[-1].role != "assistant":
        cure = "end the chat with the beginning of an answer"
        raise refused(Code.PROMPT, "the last message is not the assistant's", cure)
    return checked


def _check_no_more(template: ChatTemplate, chat: _Chat, names: Sequence[str], spelled: Sequence[str]) -> None:
    """Refuses a chat in which the template itself joins halves of a special token, by taking out what is between.

    With their first characters masked, contents can be no part of any: what is left is the template's own.
    """
    firsts = {name[0] for name in names}
    if not any(first in text for text in chat.texts() for first in firsts):
        return
    mask = next(_unused_characters(template, chat))
    table = str.maketrans(dict.fromkeys(firsts, mask))
    masked = chat.mapped(lambda text: text.translate(table))
    own = re.findall("|".join(map(re.escape, names)), masked.render(template))
    for name in Counter(spelled) - Counter(own):
        raise refused(Code.PROMPT, f"a message spells `{name}` in pieces that the template joins", "take it out")


def _unused_characters(template: ChatTemplate, chat: _Chat) -> Iterator[str]:
    used = set(template.source).union(*chat.texts())
    yield from (chr(code) for code in range(_PRIVATE, sys.maxunicode + 1) if chr(code) not in used)
    cure = "take out those that have no meaning, U+E000 to U+F8FF"
    raise refused(Code.PROMPT, "the messages leave no character that could stand for a special token", cure)
