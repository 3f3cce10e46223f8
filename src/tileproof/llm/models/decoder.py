"""What the steps of any model are made of: its weights and cache, and the blocks that families share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileproof.language.dtypes import BF16, F32, I8, DType

from ..step.buffers import KVCache
from ..step.ir import Buffer, Scratch, Step
from ..step.ops import Add, Linear, Norm, Rope, SiluMul, SplitLinear, SplitRow
from .config import ModelConfig
from .weights import GROUP, SPLIT_COLUMNS, LayerWeights, ModelWeights, Weight


@dataclass(frozen=True, slots=True)
class Decoder:
    """A model with its weights and its cache."""

    config: ModelConfig
    weights: ModelWeights
    cache: KVCache
    device: str

    @property
    def splits_rows(self) -> bool:
        """Whether one row is split for int8 weights: what tensor cores are fastest with."""
        return self.device != "cpu"

    def rope(self, positions: Any) -> Rope:
        """The rotation by some positions."""
        return Rope(cos=self.cache.cos, sin=self.cache.sin, positions=positions)

    def norm(self, step: Step, x: Buffer, weight: Any) -> Buffer:
        """RMSNorm."""
        return step.add(Norm(out=Buffer(x.shape, BF16), x=x, weight=weight, eps=self.config.rms_norm_eps)).out

    def linear(self, step: Step, x: Buffer, weight: Weight, dtype: DType = BF16, *, is_output: bool = False) -> Buffer:
        """x @ weight.T."""
        rows, columns = x.shape[0], weight.columns
        out = Buffer((rows, weight.rows), dtype, is_output)
        if weight.kind == "int8" and self.splits_rows and rows == 1 and columns % SPLIT_COLUMNS == 0:
            limbs, scales = Buffer((2 * SPLIT_COLUMNS // GROUP, columns), I8), Buffer((columns // GROUP, 2), F32)
            step.add(SplitRow(limbs=limbs, scales=scales, x=x))
            return step.add(SplitLinear(out=out, limbs=limbs, scales=scales, weight=weight)).out
        scratch: Scratch = ()
        if weight.kind == "int8" and self.device == "cpu":
            scratch = Buffer((rows, columns), I8), Buffer((rows, -(-columns // GROUP)), F32)
        return step.add(Linear(out=out, x=x, weight=weight, scratch_activations=scratch)).out

    def add(self, step: Step, residual: Buffer, x: Buffer) -> Buffer:
        """The residual stream plus the output of a block."""
        return step.add(Add(out=Buffer(residual.shape, BF16), residual=residual, x=x)).out

    def mlp(self, step: Step, x: Buffer, layer: LayerWeights) -> Buffer:
        """The gated MLP: down(silu(gate(x)) * up(x))."""
        gate_up = self.linear(step, x, layer.gate_up)
        out = Buffer((x.shape[0], self.config.intermediate_size), BF16)
        return self.linear(step, step.add(SiluMul(out=out, x=gate_up)).out, layer.down)
