"""The bytes of the format, above all where a naive writer goes wrong."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tileir_samples import assemble, disassemble, encoded, module, tool

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import (
    F32,
    F64,
    I1,
    I32,
    TF32,
    Block,
    Entry,
    Location,
    Module,
    Number,
    Op,
    PartitionView,
    Pointer,
    Predicate,
    TensorView,
    Tile,
    Value,
)
from tileproof.backends.cuda.tileir.wire import Reader, put_signed

needs_tools = pytest.mark.skipif(tool("tileirdisasm") is None, reason="the disassembler is not installed")
SCALAR = Tile(I32)


def constant(kind: Tile, value: object, folder: Path) -> str:
    """What the vendor reads in a constant of ours."""
    b = Builder("k", [])
    b.constant(kind, value)  # type: ignore[arg-type]
    b.return_()
    text = disassemble(encoded(b), folder)
    return text.split("constant <")[1].split("> : tile")[0]


def test_the_smallest_module_is_54_bytes() -> None:
    b = Builder("k", [])
    b.return_()
    functions = "82 09 08 cb 01 00 00 02 00 03 5c 00 00"
    types = "85 0b 04 01 cb cb cb 00 00 00 00 10 00 00"
    strings = "81 09 04 cb cb 01 cb cb cb 00 00 00 00 6b"
    header = "7f 54 69 6c 65 49 52 00 0d 03 00 00"
    assert encoded(b, (13, 3)) == bytes.fromhex(f"{header} {functions} {types} {strings} 00")


@pytest.mark.parametrize("number", [0, 1, -1, 63, -64, 2**31, -(2**63), 2**63 - 1])
def test_signed_numbers_come_back(number: int) -> None:
    out = bytearray()
    put_signed(out, number)
    assert len(out) <= 10
    assert Reader(bytes(out), "test").signed() == number


def test_a_pattern_with_the_highest_bit_is_written_as_the_negative_number_it_is() -> None:
    """Minus infinity of f64 must not lose its sign: written as a longer number, it would."""
    pattern = struct.unpack("<Q", struct.pack("<d", -math.inf))[0]
    as_pattern, as_number = bytearray(), bytearray()
    put_signed(as_pattern, pattern)
    put_signed(as_number, pattern - (1 << 64))
    assert as_pattern == as_number
    assert Reader(bytes(as_pattern), "test").number() < 1 << 64


@needs_tools
@pytest.mark.parametrize(
    ("element", "identity", "text"),
    [
        (F64, -math.inf, "0xFFF0000000000000 : f64"),
        (F64, math.inf, "0x7FF0000000000000 : f64"),
        (F64, -0.0, "-0.000000e+00"),
        (F32, -math.inf, "0xFF800000 : f32"),
        (I32, -1, "-1 : i32"),
        (I1, 1, "true"),
    ],
)
def test_identities_keep_their_sign(element: Number, identity: float, text: str, tmp_path: Path) -> None:
    b = Builder("k", [])
    fold = b.reduce([b.constant(Tile(element, (8,)), 1)], 0, [identity])
    with b.inside(fold.block):
        b.yield_(fold.arguments[1])
    b.return_()
    assert f"identities=[{text}]" in disassemble(encoded(b), tmp_path)


@needs_tools
@pytest.mark.parametrize("count", [1, 2, 8, 16])
@pytest.mark.parametrize("value", [True, False])
def test_one_bit_for_all_elements_is_read_as_all(count: int, value: bool, tmp_path: Path) -> None:
    assert constant(Tile(I1, (count,)), value, tmp_path) == f"i1: {str(value).lower()}"


@needs_tools
def test_bits_of_a_constant_are_in_order(tmp_path: Path) -> None:
    bits = [1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    words = ", ".join("true" if bit else "false" for bit in bits)
    assert constant(Tile(I1, (16,)), bits, tmp_path) == f"i1: [{words}]"
    assert constant(Tile(I1, (8,)), bits[:8], tmp_path) == f"i1: [{', '.join(words.split(', ')[:8])}]"
    assert constant(Tile(I1, (2,)), np.array([False, True]), tmp_path) == "i1: [false, true]"


@needs_tools
def test_numbers_of_odd_width_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert constant(Tile(TF32, (2,)), [1.5, -2.0], tmp_path) == "tf32: [1.500000e+00, -2.000000e+00]"
    assert constant(Tile(TF32, (2,)), 1.5, tmp_path) == "tf32: 1.500000e+00"
    assert constant(Tile(I32, (2,)), [-1, 2**32 + 5], tmp_path) == "i32: [-1, 5]"


@needs_tools
def test_values_are_numbered_anew_after_a_region(tmp_path: Path) -> None:
    """What comes after a region uses values from before it, and the region's results."""
    b = Builder("k", [SCALAR, SCALAR])
    x, y = b.parameters
    outer = b.for_(x, y, x, [x])
    with b.inside(outer.block):
        inner = b.for_(x, y, x, [outer.arguments[1]])
        with b.inside(inner.block):
            b.continue_(b.muli(inner.arguments[1], outer.arguments[0]))
        b.continue_(b.addi(inner.results[0], outer.arguments[1]))
    b.subi(outer.results[0], y)
    b.return_()
    text = disassemble(encoded(b), tmp_path)
    for line in (
        "%0 = subi %for, %arg1",
        "%for_0 = for %loopIdx_1 in (%arg0 to %arg1, step %arg0) : tile<i32> iter_values(%iterArg0_2 = %iterArg0)",
        "%2 = muli %iterArg0_2, %loopIdx",
        "%1 = addi %for_0, %iterArg0",
    ):
        assert line in text, text


def test_a_value_of_a_region_is_not_known_outside() -> None:
    b = Builder("k", [SCALAR, SCALAR])
    x, y = b.parameters
    loop = b.for_(x, y, x, [])
    with b.inside(loop.block):
        inside = b.addi(x, y)
        b.continue_()
    b.addi(inside, x)
    b.return_()
    with pytest.raises(ValueError, match="a value of type tile<i32> is used where it is not defined"):
        encoded(b)


def test_the_same_module_gives_the_same_bytes() -> None:
    assert encode(module("regions")) == encode(module("regions"))
    one = module("views")
    assert encode(one) == encode(one)


def test_two_entries_share_the_tables_and_keep_their_locations() -> None:
    entries = [*module("shapes").entries, *module("regions").entries]
    entries.insert(1, _plain())
    data = encode(Module(entries))
    again = decode(data)
    assert encode(again) == data
    assert [entry.location for entry in again.entries] == [entry.location for entry in entries]
    assert len(data) < sum(len(encode(Module([entry]))) for entry in entries)


def _plain() -> Entry:
    b = Builder("plain", [])
    b.return_()
    return b.entry


def test_operations_may_have_locations_where_the_entry_has_none() -> None:
    b = Builder("k", [SCALAR])
    b.negi(b.parameters[0])
    b.location = Location("kernels/a.py", 300, 7)
    b.absi(b.parameters[0])
    b.return_()
    data = encoded(b)
    entry = decode(data).entries[0]
    assert entry.location is None
    assert [op.location for op in entry.body.ops] == [None, b.location, b.location]
    assert encode(Module([entry])) == data


def test_hints_come_back_in_order() -> None:
    hints = {"sm_90": {"occupancy": 2, "num_cta_in_cga": 4}, "default": {"num_worker_warps_per_cta": 8}}
    b = Builder("k", [], hints=hints)
    b.return_()
    again = decode(encoded(b)).entries[0].hints
    assert [(arch, list(keys.items())) for arch, keys in again.items()] == [
        (arch, list(keys.items())) for arch, keys in hints.items()
    ]


def test_an_older_version_refuses_what_it_has_no_words_for() -> None:
    b = Builder("k", [Tile(F32)])
    b.ftoi(b.parameters[0], I32, signed=True, saturating=True)
    b.return_()
    with pytest.raises(ValueError, match=r"saturating of ftoi needs bytecode 13\.4, not 13\.3"):
        encoded(b, (13, 3))
    b = Builder("k", [])
    b.gdc_wait()
    b.return_()
    with pytest.raises(ValueError, match=r"gdc_wait_tko needs bytecode 13\.4, not 13\.3"):
        encoded(b, (13, 3))
    with pytest.raises(ValueError, match=r"bytecode 13\.2 cannot be written, only 13\.3 and 13\.4"):
        encoded(b, (13, 2))


@pytest.mark.parametrize("inbounds", [False, True])
def test_the_older_version_omits_bounds_only_if_they_say_nothing(inbounds: bool) -> None:
    tensor = TensorView(F32, (None,), (1,))
    b = Builder("k", [Tile(Pointer(F32)), SCALAR])
    view = b.make_tensor_view(b.parameters[0], tensor, [b.parameters[1]])
    b.load_view(b.make_partition_view(view, PartitionView((8,), tensor, (0,))), [b.parameters[1]], inbounds=[inbounds])
    b.return_()
    assert encode(decode(encoded(b))) == encoded(b)
    if inbounds:
        with pytest.raises(ValueError, match=r"inbounds of load_view_tko needs bytecode 13\.4"):
            encoded(b, (13, 3))
    else:
        older = decode(encoded(b, (13, 3)))
        assert encode(older, (13, 4)) == encoded(b)


def test_a_block_must_end() -> None:
    b = Builder("k", [SCALAR])
    loop = b.for_(*b.parameters * 3, [])
    with b.inside(loop.block):
        b.negi(b.parameters[0])
    b.return_()
    with pytest.raises(ValueError, match="a block of for does not end in"):
        encoded(b)
    with pytest.raises(ValueError, match="a block of k does not end in"):
        encoded(Builder("k", []))


@needs_tools
def test_the_second_block_of_a_branch_may_be_left_out(tmp_path: Path) -> None:
    b = Builder("k", [SCALAR])
    branch = b.if_(b.cmpi(Predicate.EQUAL, *b.parameters * 2, signed=True))
    with b.inside(branch.then):
        b.yield_()
    b.return_()
    assert assemble(encoded(b), tmp_path).returncode == 0
    assert "else" not in disassemble(encoded(b), tmp_path)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (Op("nonsense"), "there is no operation nonsense"),
        (Op("addi", (), (Value(SCALAR),)), "addi lacks its attribute overflow"),
        (Op("negf", (), (Value(SCALAR),)), "negf has 1 groups of operands, not 0"),
        (Op("cmpf", (), (), {"predicate": 1, "ordering": 0}), "predicate of cmpf must be one of Predicate, not 1"),
        (Op("loop", ((),)), "loop has 1 regions, not 0"),
    ],
)
def test_an_operation_that_does_not_fit_the_table_is_refused(op: Op, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(Module([Entry("k", Block((), [op, Op("return", ((),))]))]))


def test_a_producer_is_kept() -> None:
    named = replace(module("shapes"), producer="someone")
    assert decode(encode(named)).producer == "someone"
    assert len(encode(replace(named, producer=""))) < len(encode(named))
