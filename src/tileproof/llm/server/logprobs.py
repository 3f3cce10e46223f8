"""Logprobs of tokens as the APIs report them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..request import TokenLogprob
from ..tokenizer.text import Text

_LEAST: Final = -9999.0
"""What stands for minus infinity, which JSON does not have."""


def chat_logprobs(text: Text, logprobs: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
    """The logprobs of tokens, as chats and responses have them."""
    return [
        _entry(text, each.token, each.logprob)
        | {"top_logprobs": [_entry(text, token, logprob) for token, logprob in each.top]}
        for each in logprobs
    ]


def completion_logprobs(text: Text, logprobs: Sequence[TokenLogprob | None], tokens: Sequence[int],
                        offset: int) -> dict[str, Any]:  # fmt: skip
    """The logprobs of tokens, as completions have them. `offset` is where their text begins."""
    words = [text.token(token) for token in tokens]
    offsets = [offset]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return {
        "tokens": words,
        "token_logprobs": [None if each is None else max(each.logprob, _LEAST) for each in logprobs],
        "top_logprobs": [None if each is None else _named(text, each) for each in logprobs],
        "text_offset": offsets[:-1],
    }


def prompt_logprobs(text: Text, logprobs: Sequence[TokenLogprob | None]) -> list[dict[str, Any] | None]:
    """The logprobs of the tokens of a prompt by their numbers, as vLLM reports them."""

    def entry(token: int, logprob: float, rank: int | None) -> dict[str, Any]:
        return {"logprob": max(logprob, _LEAST), "rank": rank, "decoded_token": text.token(token)}

    return [
        None if each is None
        else {str(each.token): entry(each.token, each.logprob, None)}
        | {str(token): entry(token, logprob, rank) for rank, (token, logprob) in enumerate(each.top, start=1)}
        for each in logprobs
    ]  # fmt: skip


def _entry(text: Text, token: int, logprob: float) -> dict[str, Any]:
    word = text.token(token)
    return {"token": word, "logprob": max(logprob, _LEAST), "bytes": list(text.piece(token) or word.encode())}


def _named(text: Text, logprob: TokenLogprob) -> dict[str, float]:
    """The likeliest tokens, and the one that was taken. Of tokens that look alike the likeliest counts."""
    named: dict[str, float] = {}
    for token, each in (*logprob.top, (logprob.token, logprob.logprob)):
        named.setdefault(text.token(token), max(each, _LEAST))
    return named
