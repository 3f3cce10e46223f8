"""How many tokens a request has cost, as each API reports it."""

from __future__ import annotations

from typing import Any

from .generation import Generation


def openai_usage(generation: Generation, reasoning: int = 0) -> dict[str, Any]:
    """The usage of completions and chats."""
    prompt, generated = generation.prompt_tokens, generation.generated_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
        "prompt_tokens_details": {"cached_tokens": generation.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def responses_usage(generation: Generation, reasoning: int = 0) -> dict[str, Any]:
    """The usage of responses."""
    prompt, generated = generation.prompt_tokens, generation.generated_tokens
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": generation.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": generated,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": prompt + generated,
    }


def anthropic_usage(generation: Generation) -> dict[str, Any]:
    """The usage of messages, whose input tokens leave out those that the cache had."""
    cached = generation.cached_tokens
    return {
        "input_tokens": generation.prompt_tokens - cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": generation.generated_tokens,
    }
