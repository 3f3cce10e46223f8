"""The engine: text from Qwen3 and Llama models, every kernel of it proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ModelError
from .models.config import ModelConfig
from .request import Chunk, Completion, TokenLogprob
from .sampling import SamplingParams
from .structured.grammar import Grammar
from .tokenizer.messages import Message

if TYPE_CHECKING:
    from .async_llm import AsyncLLM, RequestStream
    from .llm import LLM

__all__ = [
    "LLM", "AsyncLLM", "Chunk", "Completion", "Grammar", "Message", "ModelConfig", "ModelError", "RequestStream",
    "SamplingParams", "TokenLogprob",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """`LLM` loads kernels, which takes longer than the rest."""
    if name == "LLM":
        from .llm import LLM

        return LLM
    if name in ("AsyncLLM", "RequestStream"):
        from . import async_llm

        return getattr(async_llm, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
