"""transformers as a contestant: its own Qwen3 on the shared weights, a static cache, and torch.compile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import torch

from .decoding import Turn
from .weights import Shared

MODE: Final = "reduce-overhead"
CAPACITY: Final = 1024
"""Places of its cache, all of which each step reads."""


def model_of(shared: Shared) -> Any:
    """Qwen3ForCausalLM whose parameters are views of the shared weights."""
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

    config = shared.config
    theirs = Qwen3Config(
        vocab_size=config.vocab_size, hidden_size=config.hidden_size, intermediate_size=config.intermediate_size,
        num_hidden_layers=config.num_hidden_layers, num_attention_heads=config.num_attention_heads,
        num_key_value_heads=config.num_key_value_heads,
        head_dim=config.head_dim, rms_norm_eps=config.rms_norm_eps,
        max_position_embeddings=config.max_position_embeddings,
        tie_word_embeddings=config.tie_word_embeddings, rope_theta=config.rope_theta, attention_bias=False,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta}, attn_implementation="sdpa",
    )  # fmt: skip
    with torch.device("meta"):
        model = Qwen3ForCausalLM(theirs)
    q, kv, inner = (
        config.num_attention_heads * config.head_dim,
        config.num_key_value_heads * config.head_dim,
        config.intermediate_size,
    )
    state = {"model.embed_tokens.weight": shared.table, "model.norm.weight": shared.norm, "lm_head.weight": shared.head}
    for number, layer in enumerate(shared.layers):
        for name, weight in (
            ("self_attn.q_proj", layer.qkv[:q]), ("self_attn.k_proj", layer.qkv[q : q + kv]),
            ("self_attn.v_proj", layer.qkv[q + kv :]), ("self_attn.o_proj", layer.output),
            ("self_attn.q_norm", layer.q_norm), ("self_attn.k_norm", layer.k_norm),
            ("mlp.gate_proj", layer.gate_up[:inner]), ("mlp.up_proj", layer.gate_up[inner:]),
            ("mlp.down_proj", layer.down), ("input_layernorm", layer.attention_norm),
            ("post_attention_layernorm", layer.feed_norm),
        ):  # fmt: skip
            state[f"model.layers.{number}.{name}.weight"] = weight
    model.load_state_dict(state, assign=True, strict=True)
    model.model.rotary_emb = Qwen3RotaryEmbedding(theirs).to(shared.device)
    return model.eval().requires_grad_(False)


class Transformers:
    """Steps with a static cache, each called from Python, as its users have them."""

    name = "transformers (static cache, torch.compile)"
    nodes: int | None = None

    def __init__(self, shared: Shared, capacity: int, *, is_compiled: bool = True) -> None:
        from transformers import StaticCache

        self.config, self._device = shared.config, shared.device
        self.model = model_of(shared)
        self._capacity = capacity
        self._cache = StaticCache(config=self.model.config, max_cache_len=capacity)
        self._forward = self.model.forward
        if is_compiled:
            self._forward = torch.compile(self.model.forward, mode=MODE, fullgraph=True, dynamic=False)
        self._context = 0

    @torch.no_grad()
    def _call(self, forward: Any, tokens: Any, position: int) -> Any:
        positions = torch.arange(position, position + tokens.shape[1], device=self._device)
        result: Any = forward(
            input_ids=tokens, position_ids=positions[None], cache_position=positions, past_key_values=self._cache,
            use_cache=True,
        ).logits  # fmt: skip
        return result

    def _sought(self, position: int) -> None:
        """Says that the cache is filled up to here."""
        for layer in self._cache.layers:
            length = getattr(layer, "cumulative_length", None)
            if torch.is_tensor(length):
                length.fill_(position)
            elif length is not None:
                layer.cumulative_length = position

    def logits_of(self, tokens: Sequence[int], behind: int) -> Any:
        """The logits behind each of the last tokens: of the prompt at once, of the rest step by step, compiled."""
        arguments = torch.tensor([list(tokens)], device=self._device)
        first = len(tokens) - behind + 1
        self._cache.reset()
        results = [self._call(self.model.forward, arguments[:, :first], 0)[0, -1].float().cpu()]
        for position in range(first, len(tokens)):
            _next_step()
            # Made anew: a slice keeps the stride of its row, and for another stride all would be compiled again.
            token = torch.tensor([[tokens[position]]], device=self._device)
            logits = self._call(self._forward, token, position)
            results.append(logits[0, -1].float().cpu())
        return torch.stack(results)[:, : self.config.tokens]

    def begin(self, context: int) -> None:
        """Sets the context and warms up: time depends on the length of the cache, not on its contents."""
        self._context = context
        self.turn(4)

    @torch.no_grad()
    def turn(self, tokens: int) -> Turn:
        """Times some decode steps after the context."""
        self._sought(self._context)
        token = torch.ones(1, 1, dtype=torch.int64, device=self._device)
        torch.cuda.synchronize()
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(tokens + 1)]
        began = time.perf_counter()
        marks[0].record()
        for step in range(tokens):
            _next_step()
            logits = self._call(self._forward, token, self._context + step)
            token = logits[:, -1, : self.config.tokens].argmax(dim=-1, keepdim=True).clone()
            marks[step + 1].record()
        token.tolist()
        seconds = time.perf_counter() - began
        steps = tuple(a.elapsed_time(b) / 1e3 for a, b in pairwise(marks))
        return Turn(tokens, seconds, steps)

    def end(self) -> None:
        """Keeps what it has: all contexts share one cache."""


def _next_step() -> None:
    torch.compiler.cudagraph_mark_step_begin()
