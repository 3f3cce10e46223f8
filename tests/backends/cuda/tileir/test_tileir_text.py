"""A module reads well as text."""

from __future__ import annotations

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.printer import show
from tileproof.backends.cuda.tileir.types import (
    F32,
    I1,
    I32,
    Location,
    Module,
    Padding,
    PartitionView,
    Pointer,
    Predicate,
    TensorView,
    Tile,
)

EXPECTED = """\
// the tests
entry @k(%0: tile<ptr<f32>>, %1: tile<i32>) hints={sm_90: {occupancy: 2}} {
  %2 = assume %0 promise=divisible(16) : tile<ptr<f32>>
  %3 = make_tensor_view %2 shape=[%1] : tensor_view<?x64xf32, strides=[64, 1]>
  %4 = make_partition_view %3 : partition_view<tile=[8, 64], padding=nan, tensor_view<?x64xf32, strides=[64, 1]>, \
order=[0, 1]>
  %5, %6 = load_view_tko %4 index=[%1, %1] order=weak : tile<8x64xf32>, token
  %7 = reduce [%5] axis=1 identities=[-inf: f32] : tile<8xf32> (%8: tile<f32>, %9: tile<f32>) {
    %10 = maxf %8 %9 propagate_nan=True : tile<f32>
    yield [%10]
  }
  %11 = constant value=[1, 0] : tile<2xi1>
  %12 = constant value=0.5 : tile<16xf32>
  %13 = cmpi %1 %1 predicate=less signedness=signed : tile<i1>
  %14 = if %13 : tile<i32> {
    yield [%1]
  } else {
    %15 = negi %1 overflow=none : tile<i32>
    yield [%15]
  }
  return
}
"""


def build() -> Builder:
    b = Builder("k", [Tile(Pointer(F32)), Tile(I32)], hints={"sm_90": {"occupancy": 2}})
    b.location = Location("a.py", 4, 8)
    pointer, n = b.parameters
    tensor = TensorView(F32, (None, 64), (64, 1))
    view = b.make_tensor_view(b.assume_divisible(pointer, 16), tensor, [n])
    x, _ = b.load_view(b.make_partition_view(view, PartitionView((8, 64), tensor, (0, 1), Padding.NAN)), [n, n])
    fold = b.reduce([x], 1, [float("-inf")])
    with b.inside(fold.block):
        b.yield_(b.maxf(*fold.arguments))
    b.constant(Tile(I1, (2,)), [True, False])
    b.constant(Tile(F32, (16,)), 0.5)
    branch = b.if_(b.cmpi(Predicate.LESS, n, n, signed=True), [Tile(I32)])
    with b.inside(branch.then):
        b.yield_(n)
    with b.inside(branch.orelse):
        b.yield_(b.negi(n))
    b.return_()
    return b


def test_a_module_as_text() -> None:
    assert show(Module([build().entry], "the tests")) == EXPECTED


def test_source_lines_are_shown_on_request() -> None:
    lines = show(Module([build().entry]), locations=True).splitlines()
    assert lines[1] == "  %2 = assume %0 promise=divisible(16) : tile<ptr<f32>>  // a.py:4:8"
