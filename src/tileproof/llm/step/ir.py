"""A step: the operations that take T tokens of R sequences through a model once, as data.

A model file says what is computed, one operation after another, on buffers that have shapes and no memory. `passes`
then rewrite the list, `buffers` give it memory, and `capture` records the launches. Decode, a chunk of a prompt, and
both at once are steps of different classes, nothing else.

An operation is a frozen dataclass. Its fields of the types `Written`, `Read` and `Scratch` are buffers of the step, all
others are tensors that outlive it (weights, caches, inputs) and numbers. `kernels` has the launch of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Final, Literal, Self, TypeVar, get_type_hints

from tileproof.language.dtypes import DType

from ..models.weights import Weight

PAGE = 64
"""Positions that a page of the cache holds."""
Sampling = Literal["none", "greedy", "sample"]


@dataclass(frozen=True, slots=True)
class StepClass:
    """What a step is compiled for. Actual tokens, sequences and lengths are data, up to these."""

    rows: int
    """Tokens."""
    sequences: int
    pages: int
    """Columns of the block table: the longest context, in pages."""
    is_decode: bool
    """Whether each sequence has one token, and row r is of sequence r."""
    sampling: Sampling = "greedy"
    has_penalties: bool = False
    """Whether logits are penalized or biased before a token is sampled."""
    block: int = 1
    """Rows of one sequence that attention takes at a time, unless each has one."""
    decode_steps: int = 0
    """Tokens of each sequence that a run samples, each fed to the next on the device; 0: one, and the host feeds it."""

    @property
    def blocks(self) -> int:
        """How many such blocks there can be."""
        return self.rows // self.block + self.sequences

    @property
    def outputs(self) -> int:
        """Rows that have logits: the last of each sequence, or all where no token is sampled."""
        return self.rows if self.sampling == "none" else self.sequences


@dataclass(slots=True)
class Inputs:
    """What the host writes before a step, by name: arrays on the host, or the tensors that operations read."""

    tokens: Any
    positions: Any
    slot_mapping: Any
    """Where a row's key and value go in the cache; -1: nowhere."""
    block_table: Any
    """(sequences, pages): the pages of each sequence."""
    context_lens: Any
    """Positions of each sequence in the cache, those of this step included."""
    query_blocks: Any = None
    """(blocks, block): rows that prefill attention takes together; -1: none."""
    query_block_sequences: Any = None
    output_rows: Any = None
    """The rows that have logits."""
    sampled_ids: Any = None
    """(decode_steps, sequences): written by the step, for the host."""
    draw: Any = None
    """How many tokens each sequence has sampled."""
    seed: Any = None
    temperature: Any = None
    top_k: Any = None
    top_p: Any = None
    min_p: Any = None
    penalty_rows: Any = None
    """Each sequence's row of the penalty tables; -1: none."""
    repetition: Any = None
    presence: Any = None
    frequency: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """An array that lives within a step."""

    shape: tuple[int, ...]
    dtype: DType
    is_output: bool = False
    """Whether it is read after the step, and so shares its memory with no other."""
    whole: Buffer | None = None
    """The buffer it is a part of, if it is: that one has one more axis in front."""
    number: int = 0
    """Which part."""


Written = Annotated[Buffer, "written"]
Read = Annotated[Buffer, "read"]
Scratch = Annotated[tuple[Buffer, ...], "scratch"]
"""Memory that no other operation reads."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Op:
    """One operation."""

    @property
    def name(self) -> str:
        """Its class in lower case: `AddNorm` is `add_norm`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def writes(self) -> tuple[Buffer, ...]:
        return tuple(getattr(self, name) for name in _roles(type(self))["written"])

    @property
    def reads(self) -> tuple[Buffer, ...]:
        return tuple(getattr(self, name) for name in _roles(type(self))["read"])

    @property
    def scratch(self) -> tuple[Buffer, ...]:
        return tuple(buffer for name in _roles(type(self))["scratch"] for buffer in getattr(self, name))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return *self.writes, *self.scratch, *self.reads

    @property
    def matrix(self) -> Weight | None:
        """The matrix that it multiplies with, if it does."""
        return next((value for each in fields(self) if isinstance(value := getattr(self, each.name), Weight)), None)

    def with_buffers(self, replaced: dict[Buffer, Buffer]) -> Self:
        """The same on other buffers."""
        names = (name for role in ("written", "read") for name in _roles(type(self))[role])
        return replace(self, **{name: replaced.get(getattr(self, name), getattr(self, name)) for name in names})


def _roles(kind: type[Op]) -> Mapping[str, tuple[str, ...]]:
    """The fields of a kind of operation that are written, read and scratch."""
    if kind not in _ROLES:
        hints = get_type_hints(kind, include_extras=True)
        roles = {name: getattr(hint, "__metadata__", ("constant",))[0] for name, hint in hints.items()}
        _ROLES[kind] = {
            role: tuple(name for name in hints if roles[name] == role) for role in ("written", "read", "scratch")
        }
    return _ROLES[kind]


_ROLES: Final[dict[type[Op], Mapping[str, tuple[str, ...]]]] = {}
"""Of the kinds that were seen."""


# Layers.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Embed(Op):
    """Rows of the embedding table."""

    out: Written
    tokens: Any
    table: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Norm(Op):
    """RMSNorm."""

    out: Written
    x: Read
    weight: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Linear(Op):
    """GEMM or GEMV with a weight of either kind. Scratch holds int8 activations, which a CPU multiplies fastest."""

    out: Written
    x: Read
    weight: Weight
    scratch_activations: Scratch = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitRow(Op):
    """One row as int8 limbs and their scales, which tensor cores multiply with int8 weights."""

    limbs: Written
    scales: Written
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinear(Op):
    """GEMV of a split row with int8 weights."""

    out: Written
    limbs: Read
    scales: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Add(Op):
    """The residual stream plus the output of a block."""

    out: Written
    residual: Read
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SiluMul(Op):
    """silu(gate) * up, of rows that hold both."""

    out: Written
    x: Read


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GatherRows(Op):
    """The rows that have logits."""

    out: Written
    x: Read
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rope:
    """The cos/sin table and the positions to rotate by."""

    cos: Any
    sin: Any
    positions: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LayerCache:
    """Keys and values of one layer, or of all: (..., pages, num_kv_heads, PAGE, head_dim)."""

    keys: Any
    values: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeadNorms:
    """RMSNorm of each head of queries and keys."""

    q_norm: Any
    k_norm: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormHeads(Op):
    """Queries and keys normalized head by head; values copied."""

    out: Written
    qkv: Read
    norms: HeadNorms
    num_heads: int
    num_kv_heads: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AppendKV(Op):
    """Keys rotated, and written to their pages with the values."""

    qkv: Read
    rotated: Scratch
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    num_heads: int
    num_kv_heads: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RotateQueries(Op):
    """Queries rotated by their positions."""

    out: Written
    qkv: Read
    rope: Rope
    num_heads: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DecodeAttention(Op):
    """Attention of one row of each sequence to its pages."""

    out: Written
    q: Read
    cache: LayerCache
    block_table: Any
    context_lens: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PrefillAttention(Op):
    """Attention of any rows, in blocks of one sequence each."""

    out: Written
    q: Read
    cache: LayerCache
    block_table: Any
    query_blocks: Any
    query_block_sequences: Any
    positions: Any


# Sampling.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Penalize(Op):
    """Logits changed by the tokens of each sequence and by its biases."""

    out: Written
    logits: Read
    prompt: Any
    counts: Any
    bias: Any
    repetition: Any
    presence: Any
    frequency: Any
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Greedy(Op):
    """The likeliest token of each row."""

    out: Written
    logits: Read
    vocabulary: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample(Op):
    """A token of each row, drawn."""

    out: Written
    logits: Read
    seed: Any
    draw: Any
    temperature: Any
    top_k: Any
    top_p: Any
    min_p: Any
    vocabulary: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountTokens(Op):
    """Counts the sampled tokens, for penalties."""

    sampled: Read
    counts: Any
    rows: Any


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Advance(Op):
    """Moves each sequence on by its sampled token, for the next decode step, and copies that to `sampled_ids`."""

    sampled: Read
    inputs: Inputs
    sampled_ids: Any


# Fused.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormLinear(Op):
    """A norm and a GEMV, of one row."""

    out: Written
    x: Read
    norm: Any
    eps: float
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormLinearSilu(Op):
    """A norm, the GEMV with gate and up, and silu(gate) * up, of one row."""

    out: Written
    x: Read
    norm: Any
    eps: float
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormSplitRow(Op):
    """A norm of one row, split."""

    limbs: Written
    scales: Written
    x: Read
    norm: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearAdd(Op):
    """A GEMV, added to the residual stream."""

    out: Written
    x: Read
    residual: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearAdd(Op):
    """The same of a split row."""

    out: Written
    limbs: Read
    scales: Read
    residual: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearSilu(Op):
    """The GEMV or GEMM with gate and up, and silu(gate) * up."""

    out: Written
    x: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearSilu(Op):
    """The same of a split row."""

    out: Written
    limbs: Read
    scales: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearSiluSplit(Op):
    """The same, split again."""

    out_limbs: Written
    out_scales: Written
    limbs: Read
    scales: Read
    weight: Weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitLinearAddNormSplit(Op):
    """A split-K GEMV of a split row, the residual stream plus its partial sums, and the norm of that, split."""

    out_limbs: Written
    out_scales: Written
    total: Written
    limbs: Read
    scales: Read
    residual: Read
    weight: Weight
    norm: Any
    eps: float
    partials: Scratch


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AddNorm(Op):
    """The residual stream plus the output of a block, and the norm of that."""

    out: Written
    total: Written
    residual: Read
    x: Read
    norm: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RotateAppend(Op):
    """Queries and keys normalized (where a model does) and rotated; keys and values written to their pages."""

    out: Written
    qkv: Read
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    norms: HeadNorms | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NewTokenAttention(Op):
    """Attention of one row of each sequence that takes the new key and value from `qkv`, and appends nothing.

    The pass `append_at_end` writes those of all layers to the pages, at the end of the step.
    """

    out: Written
    qkv: Read
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    block_table: Any
    norms: HeadNorms | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AppendLayers(Op):
    """Keys and values of one row of each sequence, written to the pages of all layers."""

    qkv: Read
    cache: LayerCache
    rope: Rope
    slot_mapping: Any
    k_norms: Any
    eps: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PromptAttention(Op):
    """Attention of rows that are all of one sequence."""

    out: Written
    q: Read
    cache: LayerCache
    block_table: Any
    positions: Any


ATTENTION: Final = (DecodeAttention, PrefillAttention, NewTokenAttention, PromptAttention)
AnyOp = TypeVar("AnyOp", bound=Op)


@dataclass(slots=True)
class Step:
    """A list of operations under construction."""

    kind: StepClass
    ops: list[Op] = field(default_factory=list)

    def add(self, op: AnyOp) -> AnyOp:
        """Appends an operation."""
        self.ops.append(op)
        return op
