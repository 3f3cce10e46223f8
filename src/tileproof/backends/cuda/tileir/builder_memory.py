"""The part of a builder that reaches memory: views, loads, stores, atomics and the tokens that order them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from . import builder_checks
from .builder_checks import Emitter, expect, pointers, scalars, wrong
from .types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    I32,
    I64,
    TOKEN,
    Element,
    Hints,
    Mode,
    Order,
    PartitionView,
    Pointer,
    Scope,
    StridedView,
    TensorView,
    Tile,
    TileView,
    Type,
    Value,
)

_WEAK: Final = {"order": Order.WEAK, "scope": None}


class Memory(Emitter):
    """Operations on memory. Only tokens order them: program order does not."""

    # Views.

    def make_tensor_view(
        self, pointer: Value, view: TensorView, shape: Sequence[Value] = (), strides: Sequence[Value] = ()
    ) -> Value:
        """A tensor at a pointer; `shape` and `strides` are those that the type leaves open, in order."""
        op = "make_tensor_view"
        builder_checks.tensor_view(op, view)
        expect(op, "the base", pointer, Tile(Pointer(view.element)))
        if len(shape) != view.shape.count(None) or len(strides) != view.strides.count(None):
            raise wrong(op, f"{len(shape)} lengths and {len(strides)} strides do not fill what is open", view)
        if shape or strides:
            scalars(op, "lengths and strides", *shape, *strides)
        return self.one(op, (pointer, tuple(shape), tuple(strides)), view)

    def make_partition_view(self, view: Value, kind: PartitionView) -> Value:
        """Tiles of a tensor, side by side."""
        return self._viewed("make_partition_view", view, kind, PartitionView)

    def make_strided_view(self, view: Value, kind: StridedView) -> Value:
        """Tiles of a tensor, some steps apart."""
        return self._viewed("make_strided_view", view, kind, StridedView)

    # Loads and stores. A load without padding gives undefined elements past the edge, and under a false mask.

    def load_view(
        self,
        view: Value,
        indices: Sequence[Value],
        token: Value | None = None,
        inbounds: Sequence[bool] | None = None,
        hints: Hints | None = None,
    ) -> tuple[Value, Value]:
        """The tile at an index, and a token for what must come after."""
        op, kind = "load_view_tko", self._view("load_view_tko", view)
        builder_checks.token(op, token)
        places = builder_checks.indices(op, kind, indices)
        attributes = _view_attributes(op, kind, hints, inbounds)
        loaded, after = self.emit(op, (view, places, token), (builder_checks.tile_view(op, kind), TOKEN), attributes)
        return loaded, after

    def store_view(
        self,
        tile: Value,
        view: Value,
        indices: Sequence[Value],
        token: Value | None = None,
        inbounds: Sequence[bool] | None = None,
        hints: Hints | None = None,
    ) -> Value:
        """Put a tile at an index; elements past the edge are left out. The result is a token."""
        op, kind = "store_view_tko", self._view("store_view_tko", view)
        builder_checks.token(op, token)
        expect(op, "the tile", tile, builder_checks.tile_view(op, kind))
        places = builder_checks.indices(op, kind, indices)
        attributes = _view_attributes(op, kind, hints, inbounds)
        return self.one(op, (tile, view, places, token), TOKEN, attributes)

    def load_ptr(
        self,
        source: Value,
        mask: Value | None = None,
        padding: Value | None = None,
        token: Value | None = None,
    ) -> tuple[Value, Value]:
        """The elements at pointers, or of `padding` where the mask is false; and a token for what must come after."""
        op = "load_ptr_tko"
        kind = pointers(op, source)[1]
        builder_checks.token(op, token)
        expect(op, "the mask", mask, Tile(I1, kind.shape))
        expect(op, "the padding", padding, kind)
        attributes = {**_WEAK, "hints": None}
        loaded, after = self.emit(op, (source, mask, padding, token), (kind, TOKEN), attributes)
        return loaded, after

    def store_ptr(
        self,
        target: Value,
        value: Value,
        mask: Value | None = None,
        token: Value | None = None,
        order: Order = Order.WEAK,
        scope: Scope | None = None,
    ) -> Value:
        """Put elements at pointers, where the mask is true. The result is a token."""
        op = "store_ptr_tko"
        kind = pointers(op, target)[1]
        builder_checks.token(op, token)
        expect(op, "the value", value, kind)
        expect(op, "the mask", mask, Tile(I1, kind.shape))
        if (order is Order.WEAK) != (scope is None):
            raise wrong(op, "a weak access has no scope, and any other needs one")
        attributes = {"order": order, "scope": scope, "hints": None}
        return self.one(op, (target, value, mask, token), TOKEN, attributes)

    # Atomics.

    def atomic_rmw(
        self,
        mode: Mode,
        target: Value,
        value: Value,
        mask: Value | None = None,
        token: Value | None = None,
    ) -> tuple[Value, Value]:
        """Change elements at pointers; what was there before (undefined under a false mask), and a token."""
        op = "atomic_rmw_tko"
        kind = pointers(op, target)[1]
        builder_checks.token(op, token)
        expect(op, "the value", value, kind)
        expect(op, "the mask", mask, Tile(I1, kind.shape))
        _allowed(op, mode, kind.element)
        attributes = {"order": Order.RELAXED, "scope": Scope.DEVICE, "mode": mode}
        before, after = self.emit(op, (target, value, mask, token), (kind, TOKEN), attributes)
        return before, after

    # Tokens.

    def make_token(self) -> Value:
        """A token that comes after nothing."""
        return self.one("make_token", (), TOKEN)

    def join_tokens(self, tokens: Sequence[Value]) -> Value:
        """A token that comes after all of these; one alone is itself."""
        if not tokens:
            raise wrong("join_tokens", "there must be a token to join")
        for token in tokens:
            builder_checks.token("join_tokens", token)
        return tokens[0] if len(tokens) == 1 else self.one("join_tokens", (tuple(tokens),), TOKEN)

    def gdc_launch_dependents(self, token: Value | None = None) -> Value:
        """Let the next kernel of the stream begin, after the token."""
        builder_checks.token("gdc_launch_dependents_tko", token)
        return self.one("gdc_launch_dependents_tko", (token,), TOKEN)

    def gdc_wait(self, token: Value | None = None) -> Value:
        """Wait for the kernel before this one; its results may be read after the token that this gives."""
        builder_checks.token("gdc_wait_tko", token)
        return self.one("gdc_wait_tko", (token,), TOKEN)

    # What several of the above share.

    def _view(self, op: str, view: Value) -> TileView:
        kind = view.type
        if not isinstance(kind, PartitionView | StridedView):
            raise wrong(op, "the view must be one of tiles", view)
        return kind

    def _viewed(self, op: str, view: Value, kind: TileView, expected: type[Type]) -> Value:
        if not isinstance(kind, expected):
            raise wrong(op, f"the type must be a {expected.__name__}", kind)
        expect(op, "the operand", view, kind.of)
        builder_checks.tile_view(op, kind)
        return self.one(op, (view,), kind)


def _view_attributes(
    op: str, view: TileView, hints: Hints | None, inbounds: Sequence[bool] | None
) -> dict[str, object]:
    return {**_WEAK, "hints": builder_checks.access_hints(op, hints), "inbounds": _inbounds(op, view, inbounds)}


def _inbounds(op: str, view: TileView, inbounds: Sequence[bool] | None) -> tuple[bool, ...]:
    """One bool for each dimension. The assembler fails without a word on a view that has padding it cannot need."""
    flags = (False,) * len(view.tile) if inbounds is None else tuple(map(bool, inbounds))
    if len(flags) != len(view.tile):
        raise wrong(op, f"inbounds needs {len(view.tile)} bools, not {len(flags)}")
    if view.padding is not None and any(flags):
        raise wrong(op, "a view with padding cannot be in bounds", view)
    return flags


def _allowed(op: str, mode: Mode, element: Element) -> None:
    allowed = {Mode.ADDF: (F16, BF16, F32, F64), Mode.EXCHANGE: (I32, I64, F32, F64)}.get(mode, (I32, I64))
    if element not in allowed:
        raise wrong(op, f"{mode.name} takes {', '.join(map(str, allowed))}", element)
