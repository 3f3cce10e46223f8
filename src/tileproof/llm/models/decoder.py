"""The decoder of the Llama and Qwen3 families as a list of operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileproof.language.dtypes import BF16, F32, I8, I32, DType

from ..step import kernels as ops
from ..step.ir import PAGE, Buffer, Op, Step, StepClass
from ..step.penalties import Penalties
from .config import ModelConfig
from .weights import GROUP, PARTED, LayerWeights, ModelWeights, Weight


@dataclass(frozen=True, slots=True)
class Caches:
    """What a model keeps of the tokens it has seen, and the angles of their positions."""

    all_keys: Any
    """(layers, pages, groups, PAGE, depth): one tensor, so that one launch appends to all layers."""
    all_values: Any
    cos: Any
    sin: Any

    @property
    def keys(self) -> tuple[Any, ...]:
        """Of each layer, (pages, groups, PAGE, depth)."""
        return tuple(self.all_keys[layer] for layer in range(self.all_keys.shape[0]))

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.all_values[layer] for layer in range(self.all_values.shape[0]))

    @property
    def pages(self) -> int:
        found: int = self.all_keys.shape[1]
        return found

    @property
    def nbytes(self) -> int:
        found: int = self.all_keys.nbytes + self.all_values.nbytes
        return found


@dataclass(frozen=True, slots=True)
class Decoder:
    """A model with its weights and caches: all that steps are made of."""

    config: ModelConfig
    weights: ModelWeights
    caches: Caches
    device: str

    @property
    def is_parting(self) -> bool:
        """Whether one row is taken apart for 8-bit weights: what tensor cores are fastest with."""
        return self.device != "cpu"

    def step(self, kind: StepClass, inputs: dict[str, Any]) -> tuple[Step, Buffer]:
        """The operations of a step, and its logits."""
        config, step = self.config, Step(kind)
        x = step.add(
            "embed", ops.embed, (kind.rows, config.hidden_size), BF16, given=(inputs["tokens"], self.weights.table)
        )
        for number, layer in enumerate(self.weights.layers):
            o = self._attention(step, x, number, layer, inputs)
            if number == len(self.weights.layers) - 1 and "last" in inputs:  # nobody attends to what comes behind
                x, o = self._last(step, x, inputs), self._last(step, o, inputs)
            y = self._linear(step, o, layer.output)
            x = step.add("add", ops.add, x.shape, BF16, x, y)
            x = self._feed_forward(step, x, layer)
        y = self._norm(step, x, self.weights.norm)
        logits = self._linear(step, y, self.weights.head, F32, is_output=True)
        return step, logits

    def _attention(
        self, step: Step, x: Buffer, number: int, layer: LayerWeights, inputs: dict[str, Any]
    ) -> Buffer:
        config, kind = self.config, step.kind
        caches = self.caches.all_keys[number], self.caches.all_values[number]
        angles = self.caches.cos, self.caches.sin, inputs["positions"]
        rows, heads, groups, depth = kind.rows, config.num_attention_heads, config.num_key_value_heads, config.head_dim
        y = self._norm(step, x, layer.attention_norm)
        y = self._linear(step, y, layer.qkv)
        if layer.q_norm is not None:
            norms = layer.q_norm, layer.k_norm, config.rms_norm_eps, heads, groups
            y = step.add("head_norms", ops.head_norms, y.shape, BF16, y, given=norms)
        turned = Buffer((rows, groups * depth), BF16)
        given: tuple[Any, ...] = (*caches, *angles, inputs["slots"], heads, groups)
        step.ops.append(Op("append", ops.append, (), (y,), given, (turned,)))
        q = step.add("turn", ops.turn, (rows, heads * depth), BF16, y, given=(*angles, heads))
        if kind.is_decode:
            given = *caches, inputs["table"], inputs["used"]
            return step.add("attend", ops.attend, q.shape, BF16, q, given=given)
        given = *caches, inputs["table"], inputs["blocks"], inputs["owners"], inputs["positions"]
        return step.add("attend_rows", ops.attend_rows, q.shape, BF16, q, given=given)

    def _last(self, step: Step, x: Buffer, inputs: dict[str, Any]) -> Buffer:
        """The rows that logits are made of."""
        shape = step.kind.outputs, x.shape[1]
        return step.add("last", ops.last, shape, BF16, x, given=(inputs["last"],))

    def _feed_forward(self, step: Step, x: Buffer, layer: LayerWeights) -> Buffer:
        y = self._norm(step, x, layer.feed_norm)
        y = self._linear(step, y, layer.gate_up)
        y = step.add("silu_mul", ops.silu_mul, (x.shape[0], self.config.intermediate_size), BF16, y)
        y = self._linear(step, y, layer.down)
        return step.add("add", ops.add, x.shape, BF16, x, y)

    def _norm(self, step: Step, x: Buffer, weight: Any) -> Buffer:
        return step.add("norm", ops.norm, x.shape, BF16, x, given=(weight, self.config.rms_norm_eps))

    def _linear(
        self, step: Step, x: Buffer, weight: Weight, dtype: DType = BF16, *, is_output: bool = False
    ) -> Buffer:
        rows, columns = x.shape[0], weight.columns
        shape = rows, weight.rows
        scratch: tuple[Buffer, ...] = ()
        if weight.kind == "int8" and self.is_parting and rows == 1 and columns % PARTED == 0:
            parts = Buffer((2 * PARTED // GROUP, columns), I8), Buffer((columns // GROUP, 2), F32)
            step.ops.append(Op("parts", ops.parts, parts, (x,)))
            given = (weight,)
            return step.add("linear", ops.linear_of_parts, shape, dtype, *parts, given=given, is_output=is_output)
        if weight.kind == "int8" and self.device == "cpu":
            scratch = Buffer((rows, columns), I8), Buffer((rows, -(-columns // GROUP)), F32)
        return step.add("linear", ops.linear, shape, dtype, x, given=(weight,), scratch=scratch, is_output=is_output)


def sampled(
    step: Step, logits: Buffer, config: ModelConfig, inputs: dict[str, Any], penalties: Penalties, turn: int = 0
) -> Buffer:
    """Appends the choice of a token for each sequence."""
    kind, shape, tokens = step.kind, (step.kind.sequences,), config.tokens
    if kind.has_penalties:
        settings = inputs["repetition"], inputs["presence"], inputs["frequency"], inputs["places"]
        given: tuple[Any, ...] = (*penalties.tables, *settings)
        logits = step.add("penalise", ops.penalise, logits.shape, F32, logits, given=given)
    if kind.sampling == "chance":
        names = "seed", "draw", "temperature", "top_k", "top_p", "min_p"
        given = *(inputs[name] for name in names), tokens
        chosen = step.add("chance", ops.chance, shape, I32, logits, given=given, is_output=True)
    else:
        chosen = step.add("greedy", ops.greedy, shape, I32, logits, given=(tokens,), is_output=True)
    if kind.has_penalties:
        step.ops.append(Op("count", ops.count, (), (chosen,), (penalties.tables[1], inputs["places"])))
    if kind.turns:
        names = "tokens", "positions", "used", "slots", "draw", "table"
        given = *(inputs[name] for name in names), inputs["said"][turn], PAGE
        step.ops.append(Op("advance", ops.advance, (), (chosen,), given))
    return chosen
