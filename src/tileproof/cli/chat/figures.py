"""Figures of a completion: tokens per second, the bytes read for them, and their share of the memory bandwidth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tileproof.cli.command_line import count
from tileproof.llm import ModelConfig


def bytes_per_token(config: ModelConfig, streamed: int, context: float) -> float:
    """What a decode step of one sequence reads: the weights, and the keys and values of its context, in bf16."""
    return streamed + config.num_hidden_layers * 2 * config.num_key_value_heads * config.head_dim * 2 * context


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one completion."""

    prompt_tokens: int
    new_tokens: int
    prefill_seconds: float
    """Until the first token, without compiling steps."""
    decode_seconds: float
    """From the first token to the last, without compiling steps."""
    bytes_per_token: float
    compile_seconds: float = 0.0
    """For the steps that this request was the first to need: they are compiled, or read from the kernel cache."""
    first_tokens: int = 1
    """Tokens of the first chunk, which belong to prefill."""
    read_rate: float | None = None
    """Bytes that the machine reads in a second, measured in this process; None if it was not."""

    @property
    def tokens_per_second(self) -> float:
        """Of decode: of the tokens after the first."""
        decoded = self.new_tokens - self.first_tokens
        return decoded / self.decode_seconds if decoded > 0 and self.decode_seconds > 0 else 0.0

    @property
    def prompt_tokens_per_second(self) -> float:
        return self.prompt_tokens / self.prefill_seconds if self.prefill_seconds > 0 else 0.0

    @property
    def bytes_per_second(self) -> float:
        return self.tokens_per_second * self.bytes_per_token

    @property
    def share(self) -> float | None:
        """The part of the machine's read rate that decode reached."""
        return self.bytes_per_second / self.read_rate if self.read_rate and self.tokens_per_second else None

    def lines(self) -> list[str]:
        """The figures, a line for prefill and one for decode."""
        compiled = f"steps  compiled in {self.compile_seconds:.2f} s"
        prompt = f"prompt {count(self.prompt_tokens, 'token')} in {self.prefill_seconds:.2f} s"
        prompt += f", {self.prompt_tokens_per_second:.1f} tokens/s"
        text = f"text   {count(self.new_tokens, 'token')}"
        if self.tokens_per_second:
            text += f" in {self.decode_seconds:.2f} s, {self.tokens_per_second:.1f} tokens/s"
            text += f", {self.bytes_per_second / 1e9:.1f} GB/s"
        if self.share is not None and self.read_rate:
            text += f": {100 * self.share:.0f} % of the {self.read_rate / 1e9:.1f} GB/s that this machine reads"
        return [*([compiled] if self.compile_seconds >= 0.1 else []), prompt, text]

    def as_json(self) -> dict[str, Any]:
        """All of it, for a program."""
        computed = {
            name: getattr(self, name)
            for name in ("tokens_per_second", "prompt_tokens_per_second", "bytes_per_second", "share")
        }
        return asdict(self) | computed
