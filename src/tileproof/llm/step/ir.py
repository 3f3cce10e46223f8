"""A step: the operations that take T tokens of R sequences through a model once, as data.

A model file says what is computed, one operation after another, on buffers that have shapes and no memory. `passes`
then rewrite the list, `buffers` give it memory, and `capture` records the launches. Decode, a chunk of a prompt, and
both at once are steps of different classes, nothing else.

The operations themselves are in `ops`, with named operands.
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
    decode_rows: int = 0
    """With chunks of prompts: the first rows, one of each of the first sequences, whose attention is that of decode."""
    decode_steps: int = 0
    """Tokens of each sequence that a run samples, each fed to the next on the device; 0: one, and the host feeds it."""
    has_masks: bool = False
    """Whether logits are masked before a token is sampled. The host makes a mask for one token: `decode_steps` <= 1."""

    @property
    def blocks(self) -> int:
        """How many such blocks there can be."""
        return (self.rows - self.decode_rows) // self.block + self.sequences - self.decode_rows

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
    mask_rows: Any = None
    """Each sequence's row of the masks; -1: none."""
    masks: Any = None
    """(sequences, ceil(vocab_size / 32)): a bit for each token that may be sampled, as `tk.mask_logits` reads them."""


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
