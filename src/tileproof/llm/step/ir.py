"""A step: the operations that take T rows of R sequences through a model once, as data.

A model file says what is computed, one operation after another, on buffers that have shapes and no memory. Passes then
make one operation of several (`fusing`), give buffers memory (`arena`), and record the launches (`capture`). Decoding,
a piece of a prompt, and both at once are steps of different classes, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tileproof.language.dtypes import DType

PAGE = 64
"""Positions that a page of the cache holds."""
Sampling = Literal["none", "greedy", "chance"]


@dataclass(frozen=True, slots=True)
class StepClass:
    """What a step is compiled for. Actual rows, sequences and lengths are data, up to these."""

    rows: int
    sequences: int
    pages: int
    """Columns of the table of pages: the longest context, in pages."""
    is_decode: bool
    """Whether each sequence has one row, and row r is of sequence r."""
    sampling: Sampling = "greedy"
    has_penalties: bool = False
    """Whether logits are penalised or biased before a token is chosen."""
    block: int = 1
    """Rows of one sequence that attention takes at a time, unless each has one."""
    turns: int = 0
    """Tokens of each sequence that a run makes, each fed to the next on the device; 0: one, and the host feeds it."""

    @property
    def blocks(self) -> int:
        """How many such blocks there can be."""
        return self.rows // self.block + self.sequences

    @property
    def outputs(self) -> int:
        """Rows that logits are made of: the last of each sequence, or all where no token is chosen."""
        return self.rows if self.sampling == "none" else self.sequences


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """An array that lives within a step."""

    shape: tuple[int, ...]
    dtype: DType
    is_output: bool = False
    """Whether it is read when the step is done, and so shares its memory with nobody."""
    whole: Buffer | None = None
    """The buffer it is a part of, if it is: that one has an axis more in front."""
    number: int = 0
    """Which part."""


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: `call(*writes, *scratch, *reads, *given)` on the tensors of the buffers."""

    name: str
    call: Callable[..., Any]
    writes: tuple[Buffer, ...]
    reads: tuple[Buffer, ...] = ()
    given: tuple[Any, ...] = ()
    """What is no buffer of the step: weights, caches, inputs, numbers."""
    scratch: tuple[Buffer, ...] = ()
    """Memory that nobody reads afterwards."""


@dataclass(slots=True)
class Step:
    """A list of operations under construction."""

    kind: StepClass
    ops: list[Op] = field(default_factory=list)

    def add(
        self, name: str, call: Callable[..., Any], shape: tuple[int, ...], dtype: DType, *reads: Buffer,
        given: tuple[Any, ...] = (), scratch: tuple[Buffer, ...] = (), is_output: bool = False,
    ) -> Buffer:  # fmt: skip
        """Appends an operation that makes one buffer."""
        made = Buffer(shape, dtype, is_output)
        self.ops.append(Op(name, call, (made,), reads, given, scratch))
        return made
