"""Entries that between them use every operation of the table, and the vendor's tools to try them with."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.encode import encode
from tileproof.backends.cuda.tileir.types import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I8,
    I16,
    I32,
    I64,
    TF32,
    Block,
    Location,
    Mode,
    Module,
    Number,
    Op,
    Order,
    Padding,
    PartitionView,
    Pointer,
    Predicate,
    Rounding,
    Scope,
    StridedView,
    TensorView,
    Tile,
    Value,
)

FLOATS = (F16, BF16, F32, F64)


class Kit(Builder):
    """A builder with an address and an integer as parameters, from which tiles come and to which results go."""

    def __init__(self, name: str) -> None:
        super().__init__(name, [Tile(I64), Tile(I32)], location=Location("samples/kernels.py", 1, 1))
        self.address, self.number = self.parameters
        self.line = 1

    def emit(self, *values, **named):  # type: ignore[no-untyped-def]
        self.line += 1
        self.location = Location("samples/kernels.py", self.line, 2)
        return super().emit(*values, **named)

    def pointer(self, element: Number) -> Value:
        return self.int_to_ptr(self.address, Pointer(element))

    def pointers(self, element: Number, shape: Sequence[int] = (8,)) -> Value:
        count = Tile(I32, tuple(shape)).count
        spread = self.broadcast(self.reshape(self.pointer(element), (1,)), (count,))
        return self.reshape(self.offset(spread, self.iota(count)), shape)

    def tile(self, element: Number, shape: Sequence[int] = (8,)) -> Value:
        return self.load_ptr(self.pointers(element, shape))[0]

    def keep(self, *values: Value) -> None:
        for value in values:
            kind = value.type
            assert isinstance(kind, Tile)
            assert isinstance(kind.element, Number)
            self.store_ptr(self.pointers(kind.element, kind.shape), value)


def integers() -> Kit:
    b = Kit("integers")
    for element in (I8, I16, I32, I64):
        x, y = b.tile(element), b.tile(element)
        b.keep(b.addi(x, y), b.subi(x, y), b.muli(x, y), b.mulhii(x, y))
        b.keep(b.divi(x, y, signed=True), b.divi(x, y, signed=True, rounding=Rounding.DOWN))
        b.keep(b.divi(x, y, signed=False, rounding=Rounding.UP), b.remi(x, y, signed=False))
        b.keep(b.negi(x), b.absi(x), b.mini(x, y, signed=True), b.maxi(x, y, signed=False))
        b.keep(b.andi(x, y), b.ori(x, y), b.xori(x, y), b.shli(x, y), b.shri(x, y, signed=True))
        b.keep(b.select(b.cmpi(Predicate.LESS, x, y, signed=True), x, y))
    return b


def floats() -> Kit:
    b = Kit("floats")
    for element in FLOATS:
        x, y = b.tile(element, ()), b.tile(element, ())
        flush = element == F32
        b.keep(b.addf(x, y), b.subf(x, y), b.mulf(x, y), b.divf(x, y), b.fma(x, y, x))
        b.keep(b.negf(x), b.absf(x), b.ceil(x), b.floor(x), b.minf(x, y))
        b.keep(b.maxf(x, y), b.sqrt(x, ftz=flush), b.rsqrt(x), b.exp2(x, ftz=flush))
        b.keep(b.select(b.cmpf(Predicate.NOT_EQUAL, x, y, ordered=False), x, y))
    x, y = b.tile(F32, ()), b.tile(F32, ())
    b.keep(b.divf(x, y, ftz=True, rounding=Rounding.APPROXIMATE), b.divf(x, y, rounding=Rounding.FULL))
    b.keep(b.sqrt(x, rounding=Rounding.APPROXIMATE))
    return b


def elementary() -> Kit:
    b = Kit("elementary")
    x, y = b.tile(F32, ()), b.tile(F32, ())
    b.keep(b.exp(x), b.tanh(x), b.tanh(x, rounding=Rounding.APPROXIMATE))
    b.keep(b.log(x), b.log2(x), b.sin(x), b.cos(x), b.pow(x, y))
    return b


def conversions() -> Kit:
    b = Kit("conversions")
    x, f = b.tile(I16), b.tile(F32)
    b.keep(b.exti(x, I64, signed=True), b.exti(b.trunci(x, I1), I32, signed=False), b.trunci(x, I8))
    b.keep(b.itof(x, F32, signed=True), b.itof(x, BF16, signed=False), b.ftoi(f, I32, signed=True))
    for element in (F16, BF16, F64, F8E4M3, F8E5M2, TF32):
        there = b.ftof(f, element)
        b.keep(b.ftof(there, F32))
    b.keep(b.bitcast(f, I32), b.bitcast(x, BF16))
    b.keep(b.ptr_to_int(b.pointers(F32)))
    return b


def shapes() -> Kit:
    b = Kit("shapes")
    x = b.tile(F32, (4, 8))
    index = b.divi(b.number, b.constant(Tile(I32), 1 << 30), signed=False)
    b.keep(b.permute(x, (1, 0)), b.cat(x, x, 0), b.extract(x, [index, index], (2, 8)), b.iota(256, I8))
    b.keep(b.broadcast(b.reshape(x, (4, 8, 1)), (4, 8, 2)), b.reshape(b.reshape(x, (32,)), (2, 16)))
    b.keep(b.constant(Tile(F32, (4,)), [1.5, float("inf"), float("nan"), -0.0]), b.constant(Tile(I64, (2,)), -1))
    return b


def products() -> Kit:
    b = Kit("products")
    for element, total in ((F8E4M3, F16), (F8E5M2, F32), (F16, F16), (BF16, F32), (F32, F32), (F64, F64)):
        x, y, acc = b.tile(element, (16, 16)), b.tile(element, (16, 16)), b.tile(total, (16, 16))
        b.keep(b.mmaf(x, y, acc))
    x, acc = b.ftof(b.tile(F32, (2, 16, 16)), TF32), b.tile(F32, (2, 16, 16))
    b.keep(b.mmaf(x, x, acc))
    x, acc = b.tile(I8, (16, 16)), b.tile(I32, (16, 16))
    b.keep(b.mmai(x, x, acc, signed_left=True, signed_right=False))
    return b


def regions() -> Kit:
    b = Kit("regions")
    zero, one = b.constant(Tile(I32), 0), b.constant(Tile(I32), 1)
    start = b.tile(F32)
    outer = b.for_(zero, b.number, one, [start])
    with b.inside(outer.block):
        count, carried = outer.arguments
        inner = b.loop([carried, zero], [Tile(F32, (8,)), Tile(I32)])
        with b.inside(inner.block):
            so_far, rounds = inner.arguments
            branch = b.if_(b.cmpi(Predicate.GREATER, rounds, count, signed=True))
            with b.inside(branch.then):
                b.break_(so_far, rounds)
            b.continue_(b.addf(so_far, start), b.addi(rounds, one))
        chosen = b.if_(b.cmpi(Predicate.EQUAL, inner.results[1], one, signed=True), [Tile(F32, (8,))])
        with b.inside(chosen.then):
            b.yield_(b.negf(inner.results[0]))
        with b.inside(chosen.orelse):
            b.yield_(carried)
        b.continue_(chosen.results[0])
    b.keep(outer.results[0])
    leave = b.if_(b.cmpi(Predicate.LESS, b.number, zero, signed=True))
    with b.inside(leave.then):
        b.return_()
    return b


def foldings() -> Kit:
    b = Kit("foldings")
    for element, lowest in ((F16, float("-inf")), (F32, float("-inf")), (F64, float("-inf")), (BF16, 0.0)):
        fold = b.reduce([b.tile(element, (4, 8))], 1, [lowest])
        with b.inside(fold.block):
            b.yield_(b.maxf(*fold.arguments))
        b.keep(fold.results[0])
    both = b.reduce([b.tile(F32, (8,)), b.iota(8)], 0, [0.0, -1])
    with b.inside(both.block):
        x, best, place, where = both.arguments
        more = b.cmpf(Predicate.GREATER, x, best)
        b.yield_(b.select(more, x, best), b.select(more, place, where))
    b.keep(*both.results)
    running = b.scan([b.tile(F32, (8,))], 0, [0.0])
    with b.inside(running.block):
        b.yield_(b.addf(*running.arguments))
    b.keep(running.results[0])
    return b


def views() -> Kit:
    b = Kit("views")
    base = b.assume_divisible(b.pointer(F32), 16)
    length = b.assume_bounded(b.number, 0, 1 << 20)
    tensor = TensorView(F32, (None, 64), (64, 1))
    view = b.make_tensor_view(base, tensor, [length])
    x, y, z = b.get_tile_block_id()
    zero = b.constant(Tile(I32), 0)
    b.keep(*b.get_num_tile_blocks(), y, z)
    tiles = b.make_partition_view(view, PartitionView((16, 32), tensor, (1, 0), Padding.NAN))
    loaded, token = b.load_view(tiles, [x, zero], hints={"sm_90": {"latency": 3, "allow_tma": False}})
    steps = b.make_strided_view(view, StridedView((16, 32), (8, 32), tensor, (1, 0)))
    b.store_view(loaded, steps, [x, zero], token)
    return b


def pointers() -> Kit:
    b = Kit("pointers")
    where = b.pointers(F32)
    mask = b.cmpi(Predicate.LESS, b.iota(8), b.constant(Tile(I32, (8,)), 5), signed=True)
    padding = b.constant(Tile(F32, (8,)), 0.5)
    token = b.make_token()
    loaded, token = b.load_ptr(where, mask, padding, token)
    more, other = b.load_ptr(where)
    token = b.store_ptr(where, b.addf(loaded, more), mask, b.join_tokens([token, other]))
    b.store_ptr(where, loaded, token=token, order=Order.RELAXED, scope=Scope.SYSTEM)
    return b


def atomics() -> Kit:
    b = Kit("atomics")
    for element in (I32, I64):
        where, value, token = b.pointers(element), b.tile(element), b.make_token()
        mask = b.constant(Tile(I1, (8,)), [1, 0, 1, 1, 0, 0, 1, 0])
        for mode in (Mode.AND, Mode.OR, Mode.XOR, Mode.ADD, Mode.MAX, Mode.MIN, Mode.UMAX, Mode.UMIN, Mode.EXCHANGE):
            value, token = b.atomic_rmw(mode, where, value, mask, token)
    for element in FLOATS:
        b.atomic_rmw(Mode.ADDF, b.pointers(element), b.tile(element))
    return b


def debugging() -> Kit:
    b = Kit("debugging")
    b.print_("number %d and %f\n", [b.number, b.tile(F32, ())])
    b.print_("again\n")
    return b


def newest() -> Kit:
    """What only 13.4 has."""
    b = Kit("newest")
    zero = b.divi(b.number, b.constant(Tile(I32), 1 << 30), signed=False)
    b.keep(b.ftoi(b.tile(F32), I8, signed=False, saturating=True))
    token = b.gdc_wait(b.gdc_launch_dependents(b.make_token()))
    b.gdc_launch_dependents()
    b.gdc_wait()
    tensor = TensorView(F32, (None,), (1,))
    view = b.make_tensor_view(b.pointer(F32), tensor, [b.number])
    tiles = b.make_partition_view(view, PartitionView((8,), tensor, (0,)))
    loaded, token = b.load_view(tiles, [zero], token, inbounds=[True])
    b.store_view(loaded, tiles, [zero], token, inbounds=[True])
    return b


SAMPLES: dict[str, Callable[[], Kit]] = {
    sample.__name__: sample
    for sample in (
        integers,
        floats,
        elementary,
        conversions,
        shapes,
        products,
        regions,
        foldings,
        views,
        pointers,
        atomics,
        debugging,
        newest,
    )
}


def module(name: str) -> Module:
    """A sample as a module of its own."""
    b = SAMPLES[name]()
    b.return_()
    return Module([b.entry], "tileproof tests")


def written(name: str) -> list[tuple[int, int]]:
    """The versions that have words for a sample."""
    return [(13, 4)] if name == "newest" else [(13, 3), (13, 4)]


def every_op(block: Block) -> list[Op]:
    """All operations of a block, and of the blocks in it."""
    return [each for op in block.ops for each in (op, *(one for inner in op.regions for one in every_op(inner)))]


def tool(name: str) -> str | None:
    """Where a tool of the vendor is, if it is installed."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    result = (path for root in roots for path in Path(root).glob(f"*/bin/{name}"))
    return shutil.which(name) or next((str(path) for path in result), None)


def assemble(data: bytes, folder: Path, architecture: str = "sm_90", *options: str) -> subprocess.CompletedProcess[str]:
    """What the assembler says of bytecode."""
    assembler = tool("tileiras")
    assert assembler
    source = folder / "module.tileirbc"
    source.write_bytes(data)
    command = [assembler, "--gpu-name", architecture, *options, str(source), "-o", str(folder / "module.cubin")]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def disassemble(data: bytes, folder: Path, *options: str) -> str:
    """The vendor's text of bytecode, or what is wrong with it."""
    disassembler = tool("tileirdisasm")
    assert disassembler
    source = folder / "module.tileirbc"
    source.write_bytes(data)
    done = subprocess.run([disassembler, *options, str(source)], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"refused: {done.stderr}"


def encoded(entry: Builder, version: tuple[int, int] = (13, 4)) -> bytes:
    """The bytecode of one entry."""
    return encode(Module([entry.entry]), version)
