"""Random ways to pick elements: walkers that are moved, cut up, or of another dimension; positions outside; entries
that are none; parts of a tensor that is cut. And types that only products have."""

from __future__ import annotations

from fuzz.fuzz_tiles import Axes, Scope, Tiles

OTHER = "_"
"""Before the dimension of a walker: the axis has no name, and is at least as long."""
GUARDED = "?"
"""The same, but it may also be shorter."""


class Places(Tiles):
    """Adds lines that load."""

    def sized(self, scope: Scope) -> list[str]:
        return [walker for walker in scope.walkers if walker not in self.each]

    def picked(self, axes: Axes) -> tuple[tuple[str, ...], str]:
        """Dimensions of a tensor, and picks that give tiles with these axes; now and then along axes without names."""
        dims = tuple(OTHER * (axis in self.sizes and self.chance(0.2)) + self.dims.get(axis, axis) for axis in axes)
        picks = (axis if axis in self.sizes else f"0:{axis}" if axis.isdigit() else ":" for axis in axes)
        return dims, ", ".join(picks)

    def step(self, scope: Scope) -> None:
        if not self.chance(0.3):
            super().step(scope)
            return
        makers = (
            self.other, self.moved, self.pieces, self.between, self.maybe, self.cut_off, self.guarded,
            self.small_product, self.composed, self.pasted,
        )  # fmt: skip
        self.rng.choice(makers)(scope)

    def other(self, scope: Scope) -> None:
        """A walker takes an axis of another dimension."""
        axes = self.axes(scope, self.rng.choice((1, 2)))
        dims, picks = self.picked(axes)
        dtype = self.rng.choice(("f32", "f16", "i32", "i8"))
        self.let(scope, f"{self.tensor('In', dtype, dims).name}[{picks}]", dtype, axes)

    def moved(self, scope: Scope) -> None:
        """A tile further on, clipped at the end of the dimension."""
        for walker in self.sized(scope)[:1]:
            dim = self.dims[walker]
            by = self.rng.choice(("0", f"{walker}.stop - {walker}.start", f'tp.dim("{dim}") - {walker}.start'))
            tensor, moved = self.tensor("In", "f32", (dim,)), self.fresh("m")
            scope.lines.append(f"{moved} = {walker}.shift({by})")
            if self.chance(0.5):
                self.let(scope, f"{tensor.name}[{moved}].fill(1)", "f32", (str(self.sizes[walker]),))
            else:
                fn = self.rng.choice(("sum()", "max().to(i32).to(f32)", "min().to(i32).to(f32)"))
                self.let(scope, f"folded({tensor.name}[{moved}].{fn})", "f32", ())

    def pieces(self, scope: Scope) -> None:
        """Smaller tiles of a tile."""
        for walker in self.sized(scope)[-1:]:
            tensor, total, piece = self.tensor("In", "f32", (self.dims[walker],)), self.fresh("w"), self.fresh("p")
            window = self.rng.choice(("", f", start={walker}.start + 1", f", stop={walker}.stop - 1"))
            scope.lines += [
                f"{total} = 0.0",
                f"for {piece} in {walker}.tiles({self.rng.choice((1, 2, 3, 8))}{window}):",
                f"    {total} = folded({total} * 2 + {tensor.name}[{piece}].sum() + {piece}.number.to(f32))",
            ]
            self.let(scope, total, "f32", ())

    def between(self, scope: Scope) -> None:
        """Tiles from somewhere on, or up to somewhere."""
        if "k" in scope.walkers:
            return
        tensor, total, piece = self.tensor("In", "f32", ("K",)), self.fresh("w"), self.fresh("p")
        bounds = self.rng.choice(("start=much", 'stop=tp.dim("K") - 1', "start=much, stop=much + 5", "start=3"))
        scope.lines += [
            f"{total} = tp.zeros((BK,))",
            f"for {piece} in tp.tiles(K=BK, {bounds}):",
            f"    {total} = folded({total} + {tensor.name}[{piece}].fill(2))",
        ]
        self.let(scope, total, "f32", (str(self.sizes["k"]),))

    def maybe(self, scope: Scope) -> None:
        """Rows of a table at entries that may be none."""
        for walker in self.sized(scope)[:1]:
            ids = self.tensor("In", 'Index["V"]', (self.dims[walker],), "none")
            entry = f"{ids.name}[{walker}]{self.rng.choice(('', ' // 2', ' % 3'))}"
            if self.chance(0.5):
                table, axes = self.tensor("In", "f16", ("V", "D")), (walker, "D")
                self.let(scope, f"{table.name}.get(({entry}, tp.arange(D)), 3)", "f16", axes)
            else:
                table = self.tensor("In", "i8", ("D", "V"))
                self.let(scope, f"{table.name}.get((tp.arange(D) - 1, {entry}), 3)", "i8", ("D", walker))

    def cut_off(self, scope: Scope) -> None:
        """What lies before a cut and behind it."""
        for walker in [walker for walker in self.sized(scope) if self.dims[walker] == "M"]:
            if not self.halved:
                self.halved = self.tensor("InOut", "f32", ("M",)).name
            part = self.rng.choice(("past", "fresh"))
            place = self.rng.choice((walker, f"{walker}.elements - 1", f"{walker}.elements * 2"))
            self.let(scope, f"{part}.get({place}, 2)", "f32", (walker,))

    def guarded(self, scope: Scope) -> None:
        """A product in a loop, of rows that exist only behind a guard."""
        for walker in self.sized(scope)[:1]:
            dim = self.dims[walker]
            rows, columns = self.tensor("In", "f32", (GUARDED + dim, "D")), self.tensor("In", "f32", ("D", "E"))
            acc = self.let(scope, f"tp.zeros(({walker}, E))", "f32", (walker, "E"), 2048)
            scope.lines += [
                f"for {self.fresh('q')} in range({self.rng.choice(('1', '2', 'much'))}):",
                f'    if tp.dim("{dim}") <= {rows.name}.shape[0]:',
                f"        {acc.name} = folded(tp.mma({rows.name}[{walker}, :], {columns.name}[:, :], {acc.name}))",
            ]

    def small_product(self, scope: Scope) -> None:
        """A product of 8-bit floats or tf32, with axes that go on behind the last element."""
        m, k, n = self.axes(scope, 3)
        kind = self.rng.choice(("f8e4m3", "f8e5m2", "tf32", "f16", "i8"))
        dtype, out = ("f32" if kind == "tf32" else kind), ("i32" if kind == "i8" else "f32")
        (rows, left), (columns, right) = self.picked((m, k)), self.picked((k, n))
        a, b = self.tensor("In", dtype, rows).name, self.tensor("In", dtype, columns).name
        cast = ".to(tf32)" if kind == "tf32" else ""
        text = f"tp.mma({a}[{left}]{cast}, {b}[{right}]{cast}, tp.zeros(({m}, {n}), {out}))"
        self.let(scope, text, out, (m, n), 64 * self.length(k))

    def composed(self, scope: Scope) -> None:
        """A scan or fold of pairs whose operands must not change places."""
        one = self.any_tile(scope, lambda t: bool(t.axes) and not t.is_float and t.dtype != "bool")
        if not one.axes or one.is_float or one.dtype == "bool":
            return
        axis, first, second = self.rng.randrange(len(one.axes)), self.fresh(), self.fresh()
        by = "lambda a, b: (a[0] * b[1] + b[0], a[1] * b[1])"
        pair = f"({one.name}, {one.name} & 3)"
        if self.chance(0.5):
            scope.lines.append(f"{first}, {second} = tp.scan({pair}, by={by}, axis={axis})")
            left = one.axes
        else:
            scope.lines.append(f"{first}, {second} = tp.reduce({pair}, by={by}, identity=(5, 7), axis={axis})")
            left = (*one.axes[:axis], *one.axes[axis + 1 :])
        for name in (first, second):
            self.let(scope, name, one.dtype, left)

    def pasted(self, scope: Scope) -> None:
        """Parts of a tile one after another, some of them empty."""
        one = self.any_tile(scope, lambda t: len(t.axes) == 1 and t.axes[0] not in self.sizes)
        if len(one.axes) != 1 or one.axes[0] in self.sizes:
            return
        length = self.length(one.axes[0])
        borders = [sorted(self.rng.randint(0, length) for _ in range(2)) for _ in range(3)]
        parts = [f"{one.name}[{first}:{last}]" for first, last in borders]
        whole = sum(last - first for first, last in borders) + length
        self.let(scope, f"tp.cat(({', '.join(parts)}, {one.name}))", one.dtype, (str(whole),), one.largest, one.rough)
