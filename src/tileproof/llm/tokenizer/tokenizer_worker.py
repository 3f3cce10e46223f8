"""The program of the process that tokenizes where a tokenizer has patterns of its own: `worker` calls it.

A pattern may backtrack for longer than anybody waits, over a text of fifty characters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer


@lru_cache(2)
def _opened(path: str) -> Tokenizer:
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """The tokens of a text, or the text of tokens; or why there are none."""
    special = request["special"]
    try:
        tokenizer = _opened(request["path"])
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
