"""Kernels that begin before the one ahead of them has ended: what they may touch by then.

An evaluator watches every access of every stage, in launches that pass their checks and in launches that do not. It
knows nothing of how tokens were given out, nor of the check that every compiled kernel goes through.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

import tileproof as tp
from oracles import tile_ir, tile_ir_memory
from oracles.cuda_programs import Lowered, lowered, values, walk
from samples.check_launches import checks
from samples.example_launches import NAMES, examples, own
from samples.launch import Make
from support.agreement import outcome
from tileproof import In, Index, InOut, Out, Sum, f32, i32
from tileproof.backends.cuda.codegen.memory_order import Dependent, verify
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.decode import decode
from tileproof.backends.cuda.tileir.types import F32, I1, I32, TOKEN, Entry, Op, Pointer, Tile, Value
from tileproof.ir.types import Access, TensorType
from tileproof.runtime.interop.describe import byte_range

LOADS = ("load_view_tko", "load_ptr_tko")
WRITES = ("store_view_tko", "store_ptr_tko", "atomic_rmw_tko")
CONTROL = ("gdc_wait_tko", "gdc_launch_dependents_tko")
NOTHING: frozenset[str] = frozenset()


def floats(*shape: int) -> Any:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def dependent(code: Lowered, frozen: frozenset[str] = NOTHING, first: int = 0) -> Lowered:
    """The same launch, compiled so that it may begin early; so many programs read frozen tensors before the wait."""
    return replace(code, variant=replace(code.variant, dependent=Dependent(frozen, first)))


def inputs(code: Lowered) -> frozenset[str]:
    """The tensors that a kernel only reads."""
    return frozenset(
        one.value.name for one in code.variant.kernel.parameters
        if isinstance(one.value.type, TensorType) and one.value.type.access is Access.IN
    )  # fmt: skip


def operations(entry: Entry, *names: str) -> list[Op]:
    return [op for op in walk(entry.body) if op.name in names]


def token_into(op: Op) -> Value | None:
    group = op.operands[-1]
    assert group is None or isinstance(group, Value)
    return group


@tp.kernel(schedule=tp.Schedule(persistent=True))
def matvec(y: Out[f32, "N"], w: In[f32, "N K"], x: In[f32, "K"], *, BN: int = 4, BK: int = 8) -> None:
    for n in tp.parallel(N=BN):
        total = tp.zeros((n,))
        for k in tp.tiles(K=BK):
            total += (w[n, k] * x[k]).sum(axis=1)
        y[n] = total


def product(extent: int = 24) -> Lowered:
    return lowered(matvec, [floats(extent), floats(extent, 16), floats(16)])


# What is touched before the wait.


class Watched(tile_ir_memory.Program):
    """The accesses of a program that may begin early: each is behind the wait, but for reads of frozen tensors."""

    frozen: ClassVar[list[tuple[int, int]]] = []
    early: ClassVar[int] = 0
    """How many reads were not behind it."""
    waited = 0

    def load(self, addresses: Any, element: Any, live: Any, after: int, atomic: bool) -> Any:
        if not after & self.waited:
            Watched.early += 1
            for address in addresses[live]:
                assert any(low <= address < high for low, high in self.frozen), "a tensor is read before the wait"
        return super().load(addresses, element, live, after, atomic)

    def store(self, addresses: Any, element: Any, value: Any, live: Any, after: int, atomic: bool) -> Any:
        assert after & self.waited, "something is written before the wait"
        return super().store(addresses, element, value, live, after, atomic)

    def change(self, mode: Any, addresses: Any, element: Any, operands: Any, live: Any, after: int) -> Any:
        assert after & self.waited, "something is changed before the wait"
        return super().change(mode, addresses, element, operands, live, after)


class Early(tile_ir.Machine):
    """A program that may begin early."""

    def __init__(self, memory: Any, number: int, *rest: Any) -> None:
        super().__init__(memory, number, *rest)
        self.program: Watched = Watched(memory, number, self.random)

    def _gdc_wait_tko(self, op: Op) -> list[int]:
        assert not self.program.waited
        assert op.operands == (None,)
        self.program.waited = self.program._event(0)
        return [self.program.waited]

    def _gdc_launch_dependents_tko(self, op: Op) -> list[int]:
        token = self._token(op.operands[0])
        assert token & self.program.waited, "the next kernel is let begin before the wait"
        return [token]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Watched]]:
    """Launches of a test are watched."""
    monkeypatch.setattr(tile_ir, "Machine", Early)
    Watched.frozen, Watched.early = [], 0
    yield Watched
    Watched.frozen = []


def run(code: Lowered) -> Any:
    with np.errstate(all="ignore"):
        return outcome(code.run)


ALL = 1 << 20
"""More programs than any launch here has."""


def assert_waits(make: Make, *ways: int | None) -> None:
    """Runs a launch that may begin early; it gives, and raises, what one that waits does.

    Of each way: how many programs read early, all inputs being frozen; None if none is.
    """
    kernel, expected, constants = make()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tile_ir, "Machine", Early.__base__)
        wanted = run(lowered(kernel, expected, constants))
    codes: set[bytes] = set()
    for first in ways:
        _, arguments, _ = make()
        result = lowered(kernel, arguments, constants)
        frozen = NOTHING if first is None else inputs(result)
        code = dependent(result, frozen, first or 0).program.bytecode
        if code in codes:  # where nothing can be read early
            continue
        codes.add(code)
        Watched.frozen = [byte_range(result.bound.tensors[name]) for name in frozen]
        Watched.early = 0
        assert run(dependent(result, frozen, first or 0)) == wanted
        assert frozen or not Watched.early
        for one, other in zip(arguments, expected, strict=True):
            if isinstance(one, np.ndarray):
                assert one.tobytes() == other.tobytes()


LAUNCHES: dict[str, Make] = {**{name: partial(own, name) for name in NAMES}, **checks()}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", LAUNCHES)
def test_nothing_but_frozen_tensors_is_touched_before_the_wait(name: str, watched: type[Watched]) -> None:
    assert_waits(LAUNCHES[name], None, 2, ALL)


def test_launches_are_watched(watched: type[Watched]) -> None:
    """A launch that was not compiled to wait is caught."""
    with pytest.raises(AssertionError, match="before the wait"):
        product().run()


OTHERS = [
    name for name in examples()
    if name.startswith(("embedding_backward", "int8_matvec", "kv_append", "matmul", "paged_attention"))
]  # fmt: skip
"""Examples at other extents and in other layouts."""


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", OTHERS)
def test_other_extents_and_layouts_wait_as_well(name: str, watched: type[Watched]) -> None:
    assert_waits(examples()[name], None, 1)


def test_a_frozen_tensor_is_read_before_the_wait(watched: type[Watched]) -> None:
    assert_waits(lambda: (matvec, [floats(24), floats(24, 16), floats(16)], {}), 0)
    assert watched.early


@tp.kernel(deterministic=True)
def added_in_order(s: Sum[f32, "N"], x: In[f32, "M N"]) -> None:
    for m, n in tp.parallel(M=tp.each, N=4):
        s[n] += x[m, n]


@tp.kernel
def in_a_loop_and_a_branch(y: InOut[f32, "N"], x: In[f32, "M N"], much: i32, *, BM: int = 2) -> None:
    for n in tp.parallel(N=4):
        if much > 0:
            y[n] = y[n] + 1
        for m in tp.tiles(M=BM):
            y[n] = y[n] + x[m, n].sum(axis=0)
        left = much
        while left > 0:
            y[n] = y[n] * 2
            left = left - 1


ORDERED: dict[str, Make] = {
    "added_in_order": lambda: (added_in_order, [floats(8), floats(3, 8)], {}),
    "taken": lambda: (in_a_loop_and_a_branch, [floats(8), floats(6, 8), 2], {}),
    "not_taken": lambda: (in_a_loop_and_a_branch, [floats(8), floats(6, 8), 0], {}),
}
"""Launches in which tokens go through loops and branches."""


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ORDERED)
def test_chains_of_accesses_begin_at_the_wait(name: str, watched: type[Watched]) -> None:
    assert_waits(ORDERED[name], None, 1)


# Where the wait stands.


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", LAUNCHES)
def test_every_stage_waits_before_anything_else_and_then_lets_the_next_kernel_begin(name: str) -> None:
    for entry in dependent(lowered(*LAUNCHES[name]())).module.entries:
        wait, trigger = operations(entry, *CONTROL)
        place = entry.body.ops.index(wait)
        assert entry.body.ops[place + 1] is trigger
        assert token_into(trigger) is wait.results[0]
        assert not any(op.regions or op.name.endswith("_tko") for op in entry.body.ops[:place])


def test_what_follows_a_join_begins_early_and_waits_for_all_pieces_before_anything_else() -> None:
    code = lowered(*own("matmul_split"))
    assert [stage.is_early for stage in code.program.stages] == [False, True]
    main, after = code.module.entries
    (wait,) = operations(after, *CONTROL)
    before = after.body.ops[: after.body.ops.index(wait)]
    assert not any(op.regions or op.name.endswith("_tko") for op in before)
    verify(after, [])
    moved = [op for op in after.body.ops if op is not wait]
    with pytest.raises(AssertionError, match="waits 0 times"):
        verify(replace(after, body=replace(after.body, ops=moved)), [])
    assert [op.name for op in operations(main, *CONTROL)] == [CONTROL[1]]


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_that_is_not_to_begin_early_knows_nothing_of_it(name: str) -> None:
    code = lowered(*own(name))
    assert not code.program.is_dependent
    joins = [stage.is_early for stage in code.program.stages]
    for entry, is_early in zip(code.module.entries, joins, strict=True):
        expected = [CONTROL[0]] if is_early else [CONTROL[1]] * any(joins)
        assert [op.name for op in operations(entry, *CONTROL)] == expected
    early = dependent(code)
    assert early.program.is_dependent
    assert early.program.bytecode != code.program.bytecode
    assert replace(early.program, bytecode=b"", is_dependent=False) == replace(code.program, bytecode=b"")


def test_weights_wait_for_nothing_and_a_loop_hands_no_token_on() -> None:
    """Loads that a loop repeats are issued ahead of it, as without a wait: all name the same token from before it."""
    main = dependent(product(), frozenset({"w"})).main
    (wait, _) = operations(main, *CONTROL)
    weights, vector = operations(main, *LOADS)
    assert token_into(weights) is None
    assert token_into(vector) is wait.results[0]
    (store,) = operations(main, *WRITES)
    assert token_into(store) is wait.results[0]
    assert len(operations(main, "for")) == 2
    assert not any(value.type == TOKEN for op in operations(main, "for", "continue") for value in values(op))


@tp.kernel
def doubled(x: InOut[f32, "N"]) -> None:
    for n in tp.parallel(N=4):
        x[n] = x[n] * 2


def test_what_a_kernel_writes_itself_is_never_read_early() -> None:
    """Others may still read or write it."""
    main = dependent(lowered(doubled, [floats(8)]), frozenset({"x"})).main
    (wait, _), (load,) = operations(main, *CONTROL), operations(main, *LOADS)
    assert token_into(load) is wait.results[0]


# What stands before the wait.


@tp.kernel(deny_checks=True)
def rows(y: Out[f32, "N"], w: In[f32, "N 16"], x: In[f32, "16"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        y[n] = (w[n, :] * x[:]).sum(axis=1)


@tp.kernel(deny_checks=True)
def picked(y: Out[f32, "N"], x: In[f32, "V"], ids: In[Index["V"], "N"], *, BN: int = 4) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[ids[n]]


@tp.kernel
def behind_a_check(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"], z: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[at[n] + 0] + z[n]


@tp.kernel(deny_checks=True)
def within(y: Out[f32, "N"], x: In[f32, "N"], z: In[f32, "N"], much: i32) -> None:
    for n in tp.parallel(N=4):
        total = x[n]
        if much > 0:
            total = total + z[n]
        y[n] = total


def before(code: Lowered) -> list[Op]:
    """The loads that stand before the wait."""
    (wait, _) = operations(code.main, *CONTROL)
    ahead = code.main.body.ops[: code.main.body.ops.index(wait)]
    return [each for op in ahead for region in op.regions for each in walk(region) if each.name in LOADS]


@pytest.mark.parametrize("frozen", [{"w"}, {"x"}, {"w", "x"}, {"y"}])
def test_what_is_frozen_stands_before_the_wait_and_behind_it_for_later_programs(frozen: set[str]) -> None:
    code = dependent(lowered(rows, [floats(8), floats(8, 16), floats(16)]), frozenset(frozen), 1)
    count = len(frozen - {"y"})
    assert len(before(code)) == count
    assert len(operations(code.main, *LOADS)) == 2 + count
    verify(code.main, pointers(code, frozenset(frozen - {"y"})))
    for missing in frozen - {"y"}:
        with pytest.raises(AssertionError, match="may happen before the wait"):
            verify(code.main, pointers(code, frozenset(frozen - {missing})))


def test_only_the_first_programs_read_early(watched: type[Watched]) -> None:
    counts = []
    for first in (1, 2, 3, ALL):
        code = lowered(rows, [floats(12), floats(12, 16), floats(16)])
        watched.frozen, watched.early = [byte_range(code.bound.tensors["w"])], 0
        run(dependent(code, frozenset({"w"}), first))
        counts.append(watched.early)
    assert counts == [1, 2, 3, 3]


def test_blocks_that_begin_first_read_early_whatever_they_work_on(
    watched: type[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[int] = []
    load = Watched.load

    def message(self: Watched, addresses: Any, element: Any, live: Any, after: int, atomic: bool) -> Any:
        if not after & self.waited:
            blocks.append(self.number)
        return load(self, addresses, element, live, after, atomic)

    monkeypatch.setattr(Watched, "load", message)
    code = lowered(rows.with_schedule(tp.Schedule(reverse=True)), [floats(12), floats(12, 16), floats(16)])
    watched.frozen = [byte_range(code.bound.tensors["w"])]
    run(dependent(code, frozenset({"w"}), 1))
    assert blocks == [0]


@tp.kernel(deny_checks=True, schedule=tp.Schedule(tma=False))
def large(y: Out[f32, "N 64"], first: In[f32, "N 64"], second: In[f32, "N 64"], *, BN: int = 64) -> None:
    for n in tp.parallel(N=BN):
        y[n, :] = first[n, :] + second[n, :]


@pytest.mark.parametrize(("size", "count"), [(64, 2), (128, 1), (256, 0)])
def test_no_more_is_read_early_than_registers_hold(size: int, count: int) -> None:
    """There is room for 32 KiB: two tiles of 64 rows, one of 128, none of 256."""
    arguments = [floats(256, 64) for _ in range(3)]
    code = dependent(lowered(large, arguments, {"BN": size}), frozenset({"first", "second"}), ALL)
    assert len(before(code)) == count


def test_a_position_that_was_read_early_is_read_at_early() -> None:
    arguments: list[Any] = [floats(8), floats(5), np.zeros(8, np.int32)]
    assert len(before(dependent(lowered(picked, arguments), frozenset({"x", "ids"}), ALL))) == 2
    assert len(before(dependent(lowered(picked, arguments), frozenset({"ids"}), ALL))) == 1
    assert not before(dependent(lowered(picked, arguments), frozenset({"x"}), ALL))


def test_nothing_behind_a_check_is_read_early() -> None:
    arguments: list[Any] = [floats(8), floats(5), np.zeros(8, np.int32), floats(8)]
    assert not before(dependent(lowered(behind_a_check, arguments), frozenset({"x", "at", "z"}), ALL))


def test_what_a_branch_reads_is_not_read_early() -> None:
    code = dependent(lowered(within, [floats(8), floats(8), floats(8), 1]), frozenset({"x", "z"}), ALL)
    assert len(before(code)) == 1


@tp.kernel(deny_checks=True)
def around_a_loop(y: Out[f32, "N"], first: In[f32, "N"], w: In[f32, "N K"], last: In[f32, "N"], *, BK: int = 8) -> None:
    for n in tp.parallel(N=4):
        total = first[n]
        for k in tp.tiles(K=BK):
            total += w[n, k].sum(axis=1)
        y[n] = total + last[n]


def test_what_comes_behind_a_loop_is_not_read_early() -> None:
    arguments = [floats(8), floats(8), floats(8, 16), floats(8)]
    direct = around_a_loop.with_schedule(tp.Schedule(tma=False))
    assert len(before(dependent(lowered(direct, arguments), frozenset({"first", "w", "last"}), ALL))) == 1
    assert not before(dependent(lowered(direct, arguments), frozenset({"w", "last"}), ALL))


def test_nothing_takes_the_place_of_the_tiles_that_a_loop_brings_by_the_copy_engine() -> None:
    arguments = [floats(8), floats(8), floats(8, 16), floats(8)]
    code = dependent(lowered(around_a_loop, arguments), frozenset({"first", "w", "last"}), ALL)
    wait, _ = operations(code.main, *CONTROL)
    assert {token_into(op) for op in operations(code.main, *LOADS)} == {wait.results[0]}


@tp.kernel(deny_checks=True)
def two_sizes(y: Out[f32, "N 1024"], w: In[f32, "N 1024"], x: In[f32, "256"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n, :] = w[n, :] + x[:].sum()


@pytest.mark.parametrize(("tma", "count"), [(True, 1), (False, 2)])
def test_what_the_copy_engine_would_bring_is_read_early_only_if_it_is_small(tma: bool, count: int) -> None:
    kernel = two_sizes.with_schedule(tp.Schedule(tma=tma))
    code = dependent(lowered(kernel, [floats(2, 1024), floats(2, 1024), floats(256)]), frozenset({"w", "x"}), ALL)
    assert len(before(code)) == count


# What every compiled kernel goes through.


def pointers(code: Lowered, frozen: frozenset[str]) -> list[Value]:
    slots = [slot.what for slot in code.program.slots]
    return [code.main.parameters[slots.index(("pointer", name))] for name in frozen]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ["append_attention", "histogram", "kv_append", "matmul", "paged_attention", "qkv"])
def test_an_access_that_lost_its_token_is_found(name: str) -> None:
    count = len(operations(dependent(lowered(*own(name))).main, *LOADS, *WRITES))
    assert count
    for number in range(count):
        entry = decode(dependent(lowered(*own(name))).program.bytecode).entries
        (main,) = (each for each in entry if each.name == name)
        verify(main, ())
        op = operations(main, *LOADS, *WRITES)[number]
        op.operands = (*op.operands[:-1], None)
        with pytest.raises(AssertionError, match=rf"{op.name} of {name} may happen before the wait"):
            verify(main, ())


def test_a_frozen_tensor_is_known_by_its_pointer() -> None:
    code = dependent(product(), frozenset({"w"}))
    verify(code.main, pointers(code, frozenset({"w"})))
    for others in (NOTHING, frozenset({"x"}), frozenset({"y"})):
        with pytest.raises(AssertionError, match="may happen before the wait"):
            verify(code.main, pointers(code, others))


def test_a_store_to_a_frozen_tensor_is_not_let_through() -> None:
    b = Builder("k", [Tile(Pointer(F32)), Tile(F32)])
    pointer, value = b.parameters
    b.gdc_wait()
    b.load_ptr(pointer)
    b.store_ptr(pointer, value)
    b.return_()
    with pytest.raises(AssertionError, match="store_ptr_tko of k may happen before the wait"):
        verify(b.entry, [pointer])


def test_a_wait_that_not_every_path_goes_through_is_none() -> None:
    b = Builder("k", [Tile(I1)])
    branch = b.if_(b.parameters[0])
    with b.inside(branch.then):
        b.gdc_wait()
        b.yield_()
    b.return_()
    with pytest.raises(AssertionError, match="k waits 0 times"):
        verify(b.entry, ())


def test_the_next_kernel_is_not_let_begin_before_the_wait() -> None:
    b = Builder("k", [])
    b.gdc_wait(b.gdc_launch_dependents())
    b.return_()
    with pytest.raises(AssertionError, match="k lets the next kernel begin before its wait"):
        verify(b.entry, ())


def test_a_program_does_not_end_before_the_wait() -> None:
    """One that ends lets the next kernel begin, while the one ahead is still under way."""
    b = Builder("k", [Tile(I1), Tile(Pointer(F32)), Tile(F32)])
    branch = b.if_(b.parameters[0])
    with b.inside(branch.then):
        b.return_()
    with b.inside(branch.orelse):
        b.yield_()
    wait = b.gdc_wait()
    b.store_ptr(b.parameters[1], b.parameters[2], token=wait)
    b.return_()
    with pytest.raises(AssertionError, match="k may end before its wait"):
        verify(b.entry, ())


def test_a_branch_that_ends_a_loop_hands_nothing_on() -> None:
    b = Builder("k", [Tile(I1), Tile(Pointer(F32)), Tile(F32)])
    wait = b.gdc_wait()
    loop = b.loop([wait], [wait.type])
    with b.inside(loop.block):
        branch = b.if_(b.parameters[0], [wait.type])
        with b.inside(branch.then):
            b.yield_(loop.arguments[0])
        with b.inside(branch.orelse):
            b.break_(loop.arguments[0])
        b.continue_(branch.results[0])
    b.store_ptr(b.parameters[1], b.parameters[2], token=loop.results[0])
    b.return_()
    verify(b.entry, ())


def test_an_operation_that_is_not_known_is_not_let_through() -> None:
    b = Builder("k", [])
    b.gdc_wait()
    b.entry.body.ops.append(replace(b.entry.body.ops[-1], name="flush_tko"))
    b.return_()
    with pytest.raises(AssertionError, match="not known what flush_tko of k touches"):
        verify(b.entry, ())


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("kind", ["if", "for", "loop"])
def test_a_token_that_one_path_loses_is_behind_nothing(kind: str, is_kept: bool) -> None:
    b = Builder("k", [Tile(Pointer(F32)), Tile(F32), Tile(I1), Tile(I32)])
    pointer, value, truth, count = b.parameters
    wait = b.gdc_wait()
    if kind == "if":
        branch = b.if_(truth, [wait.type])
        results = branch.results
        for block, is_lost in ((branch.then, False), (branch.orelse, not is_kept)):
            with b.inside(block):
                b.yield_(b.make_token() if is_lost else wait)
    elif kind == "for":
        loop = b.for_(count, count, count, [wait])
        results = loop.results
        with b.inside(loop.block):
            b.continue_(loop.arguments[1] if is_kept else b.make_token())
    else:
        loop = b.loop([wait], [wait.type])
        results = loop.results
        with b.inside(loop.block):
            b.break_(loop.arguments[0] if is_kept else b.make_token())
    b.store_ptr(pointer, value, token=results[0])
    b.return_()
    if is_kept:
        verify(b.entry, ())
    else:
        with pytest.raises(AssertionError, match=r"before the wait|loses the order behind the wait"):
            verify(b.entry, ())
