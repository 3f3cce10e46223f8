"""How a product is cut into blocks that fit the registers, and where its packed operands have what.

The left operand is packed row by row, the right one in panels as wide as a block. Steps along the inner axis are padded
with zeros to whole turns of the loop over them. Products of 8-bit integers take two or four elements of the inner axis
in a step, side by side in 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tileproof.ir import ops
from tileproof.ir.types import Tile, number
from tileproof.language.dtypes import F64, I8, I32, U8, DType

from .emission import Operand, is_number, register, vector
from .state import State

UNROLL = 4
"""Steps in a turn of the loop over the inner axis."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`height` rows and `width` vectors of a block; the lengths of the axes as allocated."""

    height: int
    width: int
    lanes: int
    dtype: DType
    m: int
    n: int
    k: int
    group: int
    """How many neighbours along the inner axis are multiplied in a step."""
    shifted: bool = False
    """Whether the left operand is packed with 128 added, because the machine multiplies unsigned by signed."""

    @property
    def panel(self) -> int:
        """Columns of a panel."""
        return self.width * self.lanes

    @property
    def panels(self) -> int:
        return -(-self.n // self.panel)

    @property
    def steps(self) -> int:
        """Steps along the inner axis."""
        return -(-self.k // (self.group * UNROLL)) * UNROLL

    @property
    def row(self) -> int:
        """Elements from one packed row of the left operand to the next: no power of two, which would crowd a cache."""
        return -(-self.steps // self.lanes) * self.lanes + self.lanes

    @property
    def left_count(self) -> int:
        """Elements that the packed left operand takes."""
        return self.m * self.row + self.lanes

    @property
    def right_count(self) -> int:
        """Elements that the packed right operand takes: its panels, and behind them what a shift of the left adds."""
        return self.panels * self.steps * self.panel + self.panels * self.panel + self.lanes

    @property
    def element(self) -> str:
        return register(self.dtype)

    @property
    def vector(self) -> str:
        return vector(self.element, self.lanes)


def shape_of(s: State, op: ops.Mma) -> Shape:
    """The blocks of a product, chosen for the registers of the target."""
    (m, k), n = (number(axis.length) for axis in op.left.type.axes), number(op.right.type.axes[1].length)
    dtype = op.result.type.dtype
    vectors = -(-n // s.lanes)
    room = (s.target.registers * 3 // 4) // (2 if dtype == F64 else 1)
    width = next(count for count in (4, 3, 2, 1) if count * 4 <= room and vectors % count == 0)
    height = min(room // width, 12)
    group, left = 1, op.left.type.dtype
    if dtype == I32 and {left, op.right.type.dtype} <= {I8, U8} and s.target.is_x86 and s.lanes >= 8:
        group = 4 if s.target.has_vnni and op.right.type.dtype == I8 else 2
    return Shape(height, width, s.lanes, dtype, m, n, k, group, group == 4 and left == I8)


def steps_of(s: State, shape: Shape, live: Operand) -> tuple[Operand, Operand]:
    """The steps along the inner axis that have elements, and those that there are with padding."""
    group = shape.group
    if is_number(live):
        steps = -(-int(live) // group)
        return str(steps), str(-(-steps // UNROLL) * UNROLL)
    steps_ = live if group == 1 else s.e.op(f"udiv i64 {{}}, {group}", s.plus(live, str(group - 1)))
    return steps_, s.e.op(f"and i64 {{}}, {-UNROLL}", s.plus(steps_, str(UNROLL - 1)))


def in_panel(s: State, shape: Shape, panel: Operand, step: Operand, within: Operand) -> list[Operand]:
    """Where in the packed right operand an element lies, as terms."""
    return [s.scaled(panel, str(shape.steps * shape.panel)), s.scaled(step, str(shape.panel)), within]


def behind_panels(s: State, shape: Shape, panel: Operand, within: Operand) -> list[Operand]:
    """The same for what a shift of the left operand adds to a column."""
    return [str(shape.panels * shape.steps * shape.panel), s.scaled(panel, str(shape.panel)), within]


def panels_of(s: State, shape: Shape, columns: Operand) -> Operand:
    """How many panels so many columns take."""
    if is_number(columns):
        return str(-(-int(columns) // shape.panel))
    return s.e.op(f"udiv i64 {{}}, {shape.panel}", s.plus(columns, str(shape.panel - 1)))


def over_panels(
    s: State, tile: Tile, shape: Shape, rows: Operand, visit: Callable[[Operand, Operand, bool], None]
) -> None:
    """For each row, the panels that are full, then the one that is not."""
    live = s.live(tile.type.axes[1])
    full = str(int(live) // shape.panel) if is_number(live) else s.e.op(f"udiv i64 {{}}, {shape.panel}", live)
    is_even = is_number(live) and int(live) % shape.panel == 0

    def row(k: Operand, _: list[Operand]) -> Sequence[Operand]:
        def panel(p: Operand, _: list[Operand]) -> Sequence[Operand]:
            visit(k, p, False)
            return ()

        def edge() -> Sequence[Operand]:
            visit(k, full, True)
            return ()

        s.e.loop("0", full, 1, panel)
        if not is_even:
            left = s.e.op(f"urem i64 {{}}, {shape.panel}", live)
            s.e.branch(s.e.op("icmp ne i64 {}, 0", left), edge)
        return ()

    s.e.loop("0", rows, 1, row)
