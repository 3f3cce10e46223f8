"""The program of the process that tokenizes where a tokenizer has patterns of its own: `worker` calls it.

A pattern may backtrack for longer than anybody waits, over a text of fifty characters.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def digest_of(text: str) -> str:
    """What tells two texts of a tokenizer.json apart."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


@lru_cache(2)
def _opened(path: str, digest: str) -> Tokenizer:
    from tokenizers import Tokenizer

    with open(path, encoding="utf-8") as file:
        text = file.read()
    if digest_of(text) != digest:
        raise ValueError(f"{path} has changed since the model was loaded")
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """The tokens of a text, or the text of tokens; or why there are none."""
    special = request["special"]
    try:
        tokenizer = _opened(request["path"], request["digest"])
        if "tokens" in request:
            return {"text": tokenizer.decode(request["tokens"], skip_special_tokens=not special)}
        tokenizer.encode_special_tokens = not special
        return {"tokens": tokenizer.encode(request["text"], add_special_tokens=False).ids}
    except MemoryError:
        raise
    except (TypeError, UnicodeEncodeError, OverflowError) as error:
        return {"invalid": str(error)}
    except BaseException as error:  # panics are no `Exception`
        return {"why": str(error)}
