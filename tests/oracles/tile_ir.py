"""An evaluator of Tile IR over numpy: what a module computes, with everything undefined raised as `Undefined`.

`evaluate` gives values of straight-line code for given inputs; `launch` runs an entry over a grid, one program after
another, on numpy arrays. Dead lanes may be given as poison (see `tile_ir_lanes`); a program that lets one decide about
memory, control or what is stored is rejected. The order in which reductions combine is shuffled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from oracles.tile_ir_lanes import Array, Elementwise, Lanes, Undefined, garbage, held, logic, poisoned, select
from oracles.tile_ir_memory import Memory, Program, Tensor, View, padding_of
from tileproof.backends.cuda.tileir.builder import Builder
from tileproof.backends.cuda.tileir.literals import elements, number_of
from tileproof.backends.cuda.tileir.types import (
    I1,
    I32,
    Block,
    Bounded,
    Divisible,
    Entry,
    Literal,
    Module,
    Number,
    Op,
    Order,
    Pointer,
    Signedness,
    TensorView,
    Tile,
    Value,
)

__all__ = ["Lanes", "Machine", "Memory", "Undefined", "evaluate", "garbage", "launch"]

_TURNS: Final = 1_000_000
"""After so many turns a loop is taken to be endless."""


def evaluate(b: Builder, values: Mapping[Value, Lanes | Array], *wanted: Value, seed: int = 0) -> list[Lanes]:
    """What values of the code in a builder are; `given` are values that no operation makes."""
    machine = Machine(Memory(), seed=seed)
    for value, lanes in values.items():
        machine.values[value] = lanes if isinstance(lanes, Lanes) else Lanes(lanes)
    machine.run(b.entry.body)
    return [machine.lanes(value) for value in wanted]


def launch(module: Module | Entry, arguments: Sequence[Any], grid: Sequence[int] = (1, 1, 1), *, seed: int = 0) -> None:
    """Runs an entry for every program of a grid; arrays stand for pointers to their first element."""
    entry = module.entries[0] if isinstance(module, Module) else module
    memory = Memory()
    addresses = [memory.add(one) if isinstance(one, np.ndarray) else one for one in arguments]
    sizes = (*grid, *(1,) * (3 - len(grid)))
    for number, place in enumerate(np.ndindex(*sizes[::-1])):
        machine = Machine(memory, number, place[::-1], sizes, seed + number)
        for parameter, argument in zip(entry.parameters, addresses, strict=True):
            assert isinstance(parameter.type, Tile)
            machine.values[parameter] = Lanes(np.asarray(argument).astype(held(parameter.type.element)))
        machine.run(entry.body)


class Machine:
    """One program: the values so far, and what each operation does."""

    def __init__(
        self,
        memory: Memory,
        number: int = 0,
        place: Sequence[int] = (0, 0, 0),
        grid: Sequence[int] = (1, 1, 1),
        seed: int = 0,
    ) -> None:
        self.random = np.random.default_rng(seed)
        self.program = Program(memory, number, self.random)
        self.place, self.grid = place, grid
        self.values: dict[Value, Any] = {}
        self.products: dict[int, Lanes] = {}
        """What comes from products of matrices of integers, by `id`, whatever was done to it."""
        self.elementwise = Elementwise(self.random)

    def lanes(self, value: Value) -> Lanes:
        """A value that is a tile."""
        result = self.values[value]
        assert isinstance(result, Lanes), f"{value.type} is not a tile"
        return result

    def run(self, block: Block) -> tuple[str, list[Any]]:
        """What ends a block, and the values it hands on."""
        for op in block.ops:
            if op.name in ("yield", "continue", "break", "return"):
                return op.name, [self.values[value] for value in _many(op.operands[0])]
            if op.name == "if":
                end, values = self._branch(op)
                if end != "yield":
                    return end, values
            else:
                values = self._op(op)
            is_product = op.name == "mmai" or (not op.regions and self._has_product(op))
            for result, value in zip(op.results, values, strict=True):
                if isinstance(value, Lanes):
                    self._check(op, result, value)
                    if is_product:
                        self.products[id(value)] = value
                self.values[result] = value
        return "yield", []

    def _check(self, op: Op, result: Value, value: Lanes) -> None:
        """What an operation gives has the type it says; within the body of a reduction, for many elements at once."""
        assert isinstance(result.type, Tile), op.name
        assert value.data.dtype == held(result.type.element), f"{op.name}: {value.data.dtype} for {result.type}"
        if result.type.shape:
            assert value.data.shape == result.type.shape, f"{op.name}: {value.data.shape} for {result.type}"

    def _has_product(self, op: Op) -> bool:
        groups = (group if isinstance(group, tuple) else (group,) for group in op.operands)
        return any(id(self.values.get(value)) in self.products for group in groups for value in group)

    def _op(self, op: Op) -> list[Any]:
        method = getattr(self, f"_{op.name}", None)
        if method is not None:
            return list(method(op))
        operands = [self.lanes(_one(group)) for group in op.operands]
        (kind,) = (result.type for result in op.results)
        assert isinstance(kind, Tile)
        if op.name == "addi" and kind.element == I32 and self._has_product(op):
            # The assembler makes it part of the product, if it sees that there is nothing else in between.
            one, other = operands
            return [Lanes(_at_most(one.data.astype(np.int64) + other.data), poisoned(*operands))]
        if op.name in ("andi", "ori") and kind.element == I1:
            return [logic(op.name, *operands)]
        data = self.elementwise(op.name, [operand.data for operand in operands], op.attributes, kind)
        return [Lanes(data, poisoned(*operands))]

    # Making and shaping tiles.

    def _constant(self, op: Op) -> list[Lanes]:
        kind = _tile(op)
        data = op.attributes["value"]
        assert isinstance(data, bytes)
        assert isinstance(kind.element, Number)
        numbers = np.array(elements(kind, data), np.float64 if kind.element.is_float else np.int64)
        array = numbers.astype(held(kind.element))
        return [Lanes(np.broadcast_to(array[0], kind.shape) if len(array) == 1 else array.reshape(kind.shape))]

    def _iota(self, op: Op) -> list[Lanes]:
        kind = _tile(op)
        return [Lanes(np.arange(kind.shape[0]).astype(held(kind.element)))]

    def _reshape(self, op: Op) -> list[Lanes]:
        return [self._source(op).mapped(lambda x: np.ascontiguousarray(x).reshape(_tile(op).shape))]

    def _broadcast(self, op: Op) -> list[Lanes]:
        return [self._source(op).mapped(lambda x: np.broadcast_to(x, _tile(op).shape))]

    def _permute(self, op: Op) -> list[Lanes]:
        order = op.attributes["order"]
        return [self._source(op).mapped(lambda x: np.transpose(x, order))]  # type: ignore[arg-type]

    def _cat(self, op: Op) -> list[Lanes]:
        parts = [self.lanes(_one(group)) for group in op.operands]
        axis: Any = op.attributes["axis"]
        data = np.concatenate([part.data for part in parts], axis)
        if all(part.poison is None for part in parts):
            return [Lanes(data)]
        return [Lanes(data, np.concatenate([_poison(part) for part in parts], axis))]

    def _extract(self, op: Op) -> list[Lanes]:
        source, places = self._source(op), [self._scalar(value) for value in _many(op.operands[1])]
        part = _tile(op).shape
        for place, length, whole in zip(places, part, source.data.shape, strict=True):
            if not 0 <= place < whole // length:
                raise Undefined(f"extract of slice {place} of {whole // length}")
        cut = tuple(slice(place * length, (place + 1) * length) for place, length in zip(places, part, strict=True))
        return [source[cut]]

    def _select(self, op: Op) -> list[Lanes]:
        condition, yes, no = (self.lanes(_one(group)) for group in op.operands)
        return [select(condition, yes, no)]

    def _mmaf(self, op: Op) -> list[Lanes]:
        left, right, added = (self.lanes(_one(group)) for group in op.operands)
        kind = added.data.dtype
        wide = np.float64 if kind == np.float64 else np.float32
        rows = np.any(_poison(left), axis=-1, keepdims=True) | np.any(_poison(right), axis=-2, keepdims=True)
        with np.errstate(all="ignore"):
            product = np.matmul(left.data.astype(wide), right.data.astype(wide)) + added.data.astype(wide)
        bad = rows | _poison(added)
        return [Lanes(product.astype(kind), bad if bad.any() else None)]

    def _mmai(self, op: Op) -> list[Lanes]:
        left, right, added = (self.lanes(_one(group)) for group in op.operands)
        signs = [op.attributes[f"signedness_{side}"] for side in ("left", "right")]
        read = [one.data if sign is Signedness.SIGNED else one.data.view(np.uint8)
                for one, sign in zip((left, right), signs, strict=True)]  # fmt: skip
        rows = np.any(_poison(left), axis=-1, keepdims=True) | np.any(_poison(right), axis=-2, keepdims=True)
        # As tensor cores do, though the language wraps: a sum that is too large stays at the limit.
        product = np.matmul(read[0].astype(np.int64), read[1].astype(np.int64)) + added.data
        bad = rows | _poison(added)
        return [Lanes(_at_most(product), bad if bad.any() else None)]

    # Reductions: in some order, and with the identity somewhere.

    def _reduce(self, op: Op) -> list[Lanes]:
        axis: Any = op.attributes["axis"]
        tiles = self._moved(op, axis)
        order = self.random.permutation(tiles[0].data.shape[0])
        tiles = self._combined(op, [tile[order] for tile in tiles], self._identities(op))
        while (count := tiles[0].data.shape[0]) > 1:
            tiles = self._combined(op, [tile[: count // 2] for tile in tiles], [tile[count // 2 :] for tile in tiles])
        return [tile[0] for tile in tiles]

    def _scan(self, op: Op) -> list[Lanes]:
        axis: Any = op.attributes["axis"]
        turn = -1 if op.attributes["reverse"] else 1
        tiles = self._combined(op, [tile[::turn] for tile in self._moved(op, axis)], self._identities(op))
        step, count = 1, tiles[0].data.shape[0]
        while step < count:
            result = self._combined(op, [tile[step:] for tile in tiles], [tile[:-step] for tile in tiles])
            tiles = [
                Lanes(np.concatenate([old.data[:step], new.data]), np.concatenate([_poison(old)[:step], _poison(new)]))
                for old, new in zip(tiles, result, strict=True)
            ]
            step *= 2
        return [tile[::turn].mapped(lambda x: np.moveaxis(x, 0, axis)) for tile in tiles]

    def _moved(self, op: Op, axis: int) -> list[Lanes]:
        tiles = [self.lanes(value) for value in _many(op.operands[0])]
        return [tile.mapped(lambda x: np.moveaxis(x, axis, 0)) for tile in tiles]

    def _identities(self, op: Op) -> list[Lanes]:
        results = []
        literals: Any = op.attributes["identities"]
        for literal in literals:
            assert isinstance(literal, Literal)
            assert isinstance(literal.element, Number)
            number = number_of(literal.element, literal.bits)
            results.append(Lanes(np.asarray(number).astype(held(literal.element))))
        return results

    def _combined(self, op: Op, current: Sequence[Lanes], before: Sequence[Lanes]) -> list[Lanes]:
        (block,) = op.regions
        pairs = [value for pair in zip(current, before, strict=True) for value in pair]
        self.values.update(zip(block.arguments, pairs, strict=True))
        end, values = self.run(block)
        assert end == "yield"
        shape = current[0].data.shape
        return [value.mapped(lambda x: np.broadcast_to(x, shape)) for value in values]

    # Control.

    def _for(self, op: Op) -> list[Any]:
        lower, upper, step = (self._scalar(_one(group), signed=not op.attributes["unsigned"])
                              for group in op.operands[:3])  # fmt: skip
        if step <= 0:
            raise Undefined("a loop that does not go forward")
        carried = [self.values[value] for value in _many(op.operands[3])]
        (block,) = op.regions
        counter = block.arguments[0]
        assert isinstance(counter.type, Tile)
        for turn in range(lower, upper, step):
            self.values[counter] = Lanes(np.asarray(turn).astype(held(counter.type.element)))
            self.values.update(zip(block.arguments[1:], carried, strict=True))
            end, carried = self.run(block)
            assert end == "continue", end
        return carried

    def _loop(self, op: Op) -> list[Any]:
        carried = [self.values[value] for value in _many(op.operands[0])]
        (block,) = op.regions
        for _ in range(_TURNS):
            self.values.update(zip(block.arguments, carried, strict=True))
            end, carried = self.run(block)
            if end == "break":
                return carried
            assert end == "continue", end
        raise Undefined("a loop does not end")

    def _branch(self, op: Op) -> tuple[str, list[Any]]:
        condition = bool(self.lanes(_one(op.operands[0])).known("a branch"))
        return self.run(op.regions[0 if condition else 1])

    # Programs, views and tokens.

    def _get_tile_block_id(self, op: Op) -> list[Lanes]:
        return [Lanes(np.asarray(number, np.int32)) for number in self.place]

    def _get_num_tile_blocks(self, op: Op) -> list[Lanes]:
        return [Lanes(np.asarray(number, np.int32)) for number in self.grid]

    def _make_tensor_view(self, op: Op) -> list[Tensor]:
        kind = op.results[0].type
        assert isinstance(kind, TensorView)
        shape, strides = (iter([self._scalar(value) for value in _many(group)]) for group in op.operands[1:3])
        base = self._scalar(_one(op.operands[0]))
        lengths = tuple(next(shape) if length is None else length for length in kind.shape)
        steps = tuple(next(strides) if stride is None else stride for stride in kind.strides)
        if min((*lengths, *steps), default=1) < 1:
            raise Undefined(f"a tensor of {lengths} with strides {steps}")
        return [Tensor(kind, base, lengths, steps)]

    def _make_partition_view(self, op: Op) -> list[View]:
        kind: Any = op.results[0].type
        return [View(kind, self.values[_one(op.operands[0])])]

    _make_strided_view = _make_gather_scatter_view = _make_partition_view

    def _make_token(self, op: Op) -> list[int]:
        return [0]

    def _join_tokens(self, op: Op) -> list[int]:
        joined = 0
        for value in _many(op.operands[0]):
            joined |= self.values[value]
        return [joined]

    def _gdc_wait_tko(self, op: Op) -> list[int]:
        return [self._token(op.operands[0])]

    _gdc_launch_dependents_tko = _gdc_wait_tko

    def _print_tko(self, op: Op) -> list[int]:
        return [self._token(op.operands[1])]

    def _token(self, group: Any) -> int:
        return 0 if group is None else int(self.values[group])

    # Memory.

    def _load_view_tko(self, op: Op) -> list[Any]:
        view = self.values[_one(op.operands[0])]
        indices = [self._unsigned(value) for value in _many(op.operands[1])]
        addresses, inside = view.reached(indices, self._inbounds(op, indices))
        element = view.type.of.element
        data, token = self.program.load(addresses, element, inside, self._token(op.operands[2]), self._ordered(op))
        if view.type.padding is not None:
            return [Lanes(np.where(inside, data, padding_of(view.type.padding, data.dtype)).astype(data.dtype)), token]
        return [self._spoiled(data, inside), token]

    def _store_view_tko(self, op: Op) -> list[int]:
        value, view = self.lanes(_one(op.operands[0])), self.values[_one(op.operands[1])]
        indices = [self._unsigned(index) for index in _many(op.operands[2])]
        addresses, inside = view.reached(indices, self._inbounds(op, indices))
        after = self._token(op.operands[3])
        return [self.program.store(addresses, view.type.of.element, value, inside, after, self._ordered(op))]

    def _load_ptr_tko(self, op: Op) -> list[Any]:
        pointers, mask, padding, token = op.operands
        addresses, element, live = self._pointed(pointers, mask)
        data, after = self.program.load(addresses, element, live, self._token(token), self._ordered(op))
        if padding is None:
            return [self._spoiled(data, live), after]
        return [select(Lanes(live), Lanes(data), self.lanes(_one(padding))), after]

    def _store_ptr_tko(self, op: Op) -> list[int]:
        pointers, value, mask, token = op.operands
        addresses, element, live = self._pointed(pointers, mask)
        arguments = self.lanes(_one(value))
        return [self.program.store(addresses, element, arguments, live, self._token(token), self._ordered(op))]

    def _atomic_rmw_tko(self, op: Op) -> list[Any]:
        pointers, value, mask, token = op.operands
        addresses, element, live = self._pointed(pointers, mask)
        self._ordered(op)
        mode: Any = op.attributes["mode"]
        old, after = self.program.change(mode, addresses, element, self.lanes(_one(value)), live, self._token(token))
        return [self._spoiled(old, live), after]

    def _ordered(self, op: Op) -> bool:
        """Whether an access is seen by other programs in an order; one that acquires sees what they wrote."""
        order = op.attributes["order"]
        if order in (Order.ACQUIRE, Order.ACQUIRE_RELEASE):
            self.program.acquired = True
        return order is not Order.WEAK

    def _pointed(self, pointers: Any, mask: Any) -> tuple[Array, Number, Array]:
        value = _one(pointers)
        assert isinstance(value.type, Tile)
        assert isinstance(value.type.element, Pointer)
        result = self.lanes(value)
        live = np.ones(result.data.shape, np.bool_)
        if mask is not None:
            live = np.broadcast_to(self.lanes(_one(mask)).known("a mask"), result.data.shape)
        if result.poison is not None and np.broadcast_to(result.poison, live.shape)[live].any():
            raise Undefined("an address depends on a dead lane")
        return result.data, value.type.element.to, np.asarray(live)

    def _spoiled(self, data: Array, live: Array) -> Lanes:
        """Dead lanes hold anything."""
        if live.all():
            return Lanes(data)
        return Lanes(np.where(live, data, garbage(data.dtype, data.shape, self.random)).astype(data.dtype), ~live)

    def _inbounds(self, op: Op, indices: Sequence[Lanes]) -> Sequence[bool]:
        arguments: Any = op.attributes.get("inbounds")
        return arguments if arguments is not None else [False] * len(indices)

    def _unsigned(self, value: Value) -> Lanes:
        """An index: read as unsigned, so that one below 0 is huge."""
        result = self.lanes(value)
        return Lanes(result.data.view(f"u{result.data.dtype.itemsize}"), result.poison)

    # Facts.

    def _assume(self, op: Op) -> list[Lanes]:
        source = self._source(op)
        data = source.known("an assumption")
        match op.attributes["promise"]:
            case Divisible(divisor=divisor):
                kept = not (data % divisor).any()
            case Bounded(low=low, high=high):
                kept = (low is None or (data >= low).all()) and (high is None or (data <= high).all())
            case promise:
                raise AssertionError(promise)
        if not kept:
            raise Undefined(f"{data} breaks the promise {op.attributes['promise']}")
        return [source]

    def _source(self, op: Op) -> Lanes:
        return self.lanes(_one(op.operands[0]))

    def _scalar(self, value: Value, signed: bool = True) -> int:
        data = self.lanes(value).known("a bound or place")
        return int(data if signed else data.view(f"u{data.dtype.itemsize}"))


def _at_most(sums: Any) -> Any:
    """Sums of tensor cores, which stay at the limit of 32 bits where they would leave it."""
    limits = np.iinfo(np.int32)
    return sums.clip(limits.min, limits.max).astype(np.int32)


def _one(group: Any) -> Value:
    assert isinstance(group, Value)
    return group


def _many(group: Any) -> tuple[Value, ...]:
    assert isinstance(group, tuple)
    return group


def _tile(op: Op) -> Tile:
    kind = op.results[0].type
    assert isinstance(kind, Tile)
    return kind


def _poison(lanes: Lanes) -> Array:
    return np.zeros(lanes.data.shape, np.bool_) if lanes.poison is None else lanes.poison
