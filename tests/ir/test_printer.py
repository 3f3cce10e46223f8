"""The printer: golden files hold the text of hand-written kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tileproof.ir.ops import BinaryFn, KernelIR
from tileproof.ir.printer import print_kernel, print_op
from tileproof.ir.types import Access, Axis, Content, DimensionTag, Named, TensorType, TileType, WalkerType, symbol
from tileproof.language.dtypes import ENTRY, F32, I32, INDEX

from . import kernels
from .builder import Builder, along, tiles

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("make", kernels.ALL, ids=lambda make: make.__name__)
def test_the_text_is_that_of_the_golden_file(make: Callable[[], KernelIR]) -> None:
    assert print_kernel(make()) == (GOLDEN / f"{make.__name__}.txt").read_text()


def test_source_lines_are_added_on_demand() -> None:
    b = Builder()
    y = b.tensor("y", Access.OUT, INDEX, "N")
    b.line = 12
    total = b.add(b.number(1), b.number(2))
    b.line = 20
    b.store(y, value=total)
    assert print_kernel(b.kernel(), lines=True).splitlines()[1:] == [
        "v2 = 1 + 2 : index  ; line 14",
        "store y[] = v2  ; line 20",
    ]


def test_a_number_that_nothing_uses_is_still_seen() -> None:
    b = Builder()
    b.number(7)
    assert print_kernel(b.kernel()) == "kernel kernel()\nv0 = 7 : index\n"


def test_a_symbolic_number_is_one_operand() -> None:
    b = Builder()
    d = symbol("D")
    b.add(b.number(d), b.number(2 * d + 1))
    b.add(b.number(d // 2), b.number(-d))
    b.add(b.number((d + 1) // 2), b.number(0))
    assert print_kernel(b.kernel()).splitlines()[1:] == [
        "v2 = D + (2*D + 1) : index",
        "v5 = (D // 2) + (-1*D) : index",
        "v8 = ((D + 1) // 2) + 0 : index",
    ]


def test_a_kernel_without_operations_says_so() -> None:
    assert print_kernel(Builder().kernel()) == "kernel kernel()\npass\n"


def test_one_operation_is_printed_without_its_blocks() -> None:
    b = Builder()
    k = tiles("k", "K", 64)
    start = b.number(0)
    with b.walking(k, start) as loop:
        loop.yields = loop.carried
    assert print_op(b.ops[-1]) == "v2 = for k: tile of K by 64, v1 = v0 : index"
    assert print_op(b.ops[0]) == "v0 = 0 : index"


def test_a_combiner_stands_below_its_operation() -> None:
    b = Builder()
    tile, zero = b.full(1.0, TileType(F32, (Axis(4),))), b.number(0.0, F32)
    b.fold(b.adding(TileType(F32)), tile, identities=(zero,), axis=0)
    assert print_op(b.ops[-1]) == "v4 = reduce v1, axis 0, from v2 : f32"
    assert print_kernel(b.kernel()).splitlines()[2:] == [
        "v4 = reduce v1, axis 0, from 0.0 : f32",
        "    by left, right",
        "        v3 = left + right : f32",
        "        yield v3",
    ]


def test_functions_without_a_sign_stand_before_their_operands() -> None:
    b = Builder()
    b.binary(BinaryFn.CDIV, b.number(7), b.number(2))
    assert "v2 = cdiv 7, 2 : index" in print_kernel(b.kernel())


def test_types_are_printed_in_the_words_of_the_language() -> None:
    i = tiles("i", "M", 128)
    assert str(TileType(F32)) == "f32"
    assert str(TileType(F32, (along(i), Axis(4)))) == "f32[i:128, 4]"
    assert str(TileType(F32, (Axis(64, DimensionTag("D")),))) == "f32[D=64]"
    assert str(TileType(F32, (Axis(symbol("D"), DimensionTag("D")),))) == "f32[D]"
    assert str(i.type) == "tile of M by 128"
    assert str(WalkerType("M", None)) == "element of M"
    assert str(WalkerType("M", 64, is_piece=True)) == "piece of M by 64"
    assert str(TileType(ENTRY, (along(i),))) == "index?[i:128]"
    content = Content("Index", "V", I32)
    assert str(TensorType(Access.IN, content, (Named("N"),))) == 'In[Index["V"], "N"]'
