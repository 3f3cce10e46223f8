"""Operations: work as a value, which runs once, later, and can be put together with others.

    step = matmul.op(h, x, w) >> relu.op(y, h)
    step.run()              # or: await step

An operation is a recipe: a function that makes a generator. The generator gives work to streams as far as it can and
yields where the host must wait; it is driven by `run`, which blocks, or by `await`, which does not. What it returns is
the operation's value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar, copy_context
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError
from tileproof.language.kernel import Kernel

from .streams import Stream, chained, current_stream, refuse_recording, watched
from .tensors import Tensor

Value = TypeVar("Value", covariant=True)
Next = TypeVar("Next")


class Wait(NamedTuple):
    """What a recipe waits for: some work of some streams, all of it."""

    uses: tuple[tuple[Stream, int], ...]


Recipe = Generator[Wait, None, Value]
_pool: ContextVar[StreamPool | None] = ContextVar("tileproof_stream_pool", default=None)


class Operation(Generic[Value]):
    """Work that has not begun. It is run by `.run()` or `await`, once; an operation that is part of another runs with
    it.

    Operations are made by `kernel.op(...)`, `tp.copy_op`, `tp.host_op` and `tp.all`.
    """

    __slots__ = ("_recipe", "_state", "name")

    def __init__(self, name: str, recipe: Callable[[], Recipe[Value]]) -> None:
        self.name = name
        self._recipe = recipe
        self._state = ""

    # Putting together.

    def then(self, make: Callable[[Value], Operation[Next]]) -> Operation[Next]:
        """This, and then what `make` makes of its value, on the same stream. The host does not wait in between: the
        value is what kernels will have written, and reading it waits."""
        first = self._taken("then")

        def recipe() -> Recipe[Next]:
            value = yield from first()
            return (yield from _made(make, value, self.name)._taken("then")())

        return Operation(f"{self.name}, then ...", recipe)

    def __rshift__(self, other: Operation[Next]) -> Operation[Next]:
        """This, and then the other, on the same stream: `a >> b`."""
        if not isinstance(other, Operation):
            return NotImplemented
        if other is self:
            _refuse(self.name, "part of another operation already", "make it twice: an operation runs once")
        first, second = self._taken(">>"), other._taken(">>")

        def recipe() -> Recipe[Next]:
            yield from first()
            return (yield from _chained(second()))

        return Operation(f"{self.name} >> {other.name}", recipe)

    def map(self, function: Callable[[Value], Next]) -> Operation[Next]:
        """This, and then a function of its value, on the host, when it is done."""
        first = self._taken("map")

        def recipe() -> Recipe[Next]:
            refuse_recording(f"a function is mapped over {self.name}", "call it when the graph was replayed")
            value = yield from _done(first(), self.name)
            with _naming(f"map of {self.name}"):
                return function(value)

        return Operation(f"{self.name}, mapped", recipe)

    # Running.

    def run(self, stream: Stream | None = None) -> Value:
        """Runs it on a stream, the current one if none is named, and waits: its value, or what went wrong."""
        recipe = _on(stream, _done(self._taken("run")(), self.name))
        try:
            while True:
                for each, turn in next(recipe).uses:
                    each.until(turn)
        except StopIteration as end:
            value: Value = end.value
            return value

    def start(self, stream: Stream | None = None) -> Value:
        """Gives it to a stream and waits only where the host has a part in it. Its value may be in flight."""
        recipe = _on(stream, _watching(self._taken("start")()))
        try:
            while True:
                for each, turn in next(recipe).uses:
                    each.until(turn)
        except StopIteration as end:
            value: Value = end.value
            return value

    def __await__(self) -> Generator[Any, None, Value]:
        """Runs it while other tasks go on. A task that is cancelled leaves what was given to a stream there."""
        recipe = _on(None, _done(self._taken("await")(), self.name))
        try:
            while True:
                for each, turn in next(recipe).uses:
                    yield from each.reached(turn).__await__()
        except StopIteration as end:
            value: Value = end.value
            return value
        finally:
            recipe.close()

    def _taken(self, by: str) -> Callable[[], Recipe[Value]]:
        """Its recipe, for the one who uses it."""
        if self._state:
            _refuse(self.name, self._state, "make it again: `kernel.op(...)` makes another each time")
        self._state = "run already" if by in ("run", "start", "await") else "part of another operation already"

        def named() -> Recipe[Value]:
            with _naming(self.name):
                return (yield from self._recipe())

        return named

    def __repr__(self) -> str:
        return f"<operation {self.name}{f', {self._state}' if self._state else ''}>"


def _refuse(name: str, state: str, cure: str) -> NoReturn:
    raise LaunchError(Diagnostic(Code.SPENT, f"the operation {name} is {state}", help=cure))


class _naming:  # noqa: N801
    """Names the operation in which something went wrong, the innermost first."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception):
            note = f"in the operation {self.name}"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)


def _made(make: Callable[[Any], Operation[Next]], value: Any, name: str) -> Operation[Next]:
    made = make(value)
    if not isinstance(made, Operation):
        message = f"what follows {name} is made by a function that gives {type(made).__name__}, not an operation"
        cure = "return an operation, `kernel.op(...)`; for a function of the host, write `.map(...)`"
        raise LaunchError(Diagnostic(Code.SPENT, message, help=cure))
    return made


def _on(stream: Stream | None, recipe: Recipe[Value]) -> Recipe[Value]:
    """A recipe whose work goes to one stream: the one that is named, or the next of a pool, or the current one.

    Every part of it runs in a context of its own, so that the stream is its stream and nobody else's.
    """
    pool = _pool.get()
    chosen = stream or (None if pool is None else pool.next())
    context = copy_context()
    if chosen is not None:
        context.run(chosen.choose)
    while True:
        try:
            wait = context.run(next, recipe)
        except StopIteration as end:
            value: Value = end.value
            return value
        yield wait


def _chained(recipe: Recipe[Value]) -> Recipe[Value]:
    """A recipe that is the second part of `a >> b`. It may be closed in another context than the one it runs in."""
    while True:
        token = chained.set(True)
        try:
            wait = next(recipe)
        except StopIteration as end:
            value: Value = end.value
            return value
        finally:
            chained.reset(token)
        yield wait


def _watching(recipe: Recipe[Value]) -> Recipe[Value]:
    """A recipe whose parts know what was given to streams before them."""
    value, _ = yield from _watched(recipe)
    return value


def _done(recipe: Recipe[Value], name: str) -> Recipe[Value]:
    """A recipe that is over when its work is done, and raises what went wrong with it."""
    value, given = yield from _watched(recipe)
    try:
        if given:
            yield Wait(tuple((stream, max(turns)) for stream, turns in given.items()))
        with _naming(name):
            for stream, turns in given.items():
                stream.settle(turns)
    finally:
        for stream, turns in given.items():
            stream.forget(turns)
    return value


def _watched(recipe: Recipe[Value]) -> Recipe[tuple[Value, dict[Stream, list[int]]]]:
    """A recipe that tells, beside its value, what it gave to streams."""
    given: dict[Stream, list[int]] = {}
    passed: dict[Stream, int] = {}
    """How many turns of each stream whoever waits for more than this has been told."""
    while True:
        outer = watched.get()
        token = watched.set(given)
        try:
            wait = next(recipe)
        except StopIteration as end:
            value: Value = end.value
            break
        finally:
            watched.reset(token)
            if outer is not None:
                for stream, turns in given.items():
                    outer.setdefault(stream, []).extend(turns[passed.get(stream, 0) :])
                    passed[stream] = len(turns)
        yield wait
    return value, given


# Kinds of operations.


def launch_op(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Operation[Any]:
    """A launch as a value; its own value is what it writes: one tensor, or a tuple of them."""
    from tileproof.frontend.elaborate import parse
    from tileproof.ir.types import Access

    def recipe() -> Recipe[Any]:
        kernel(*args, **named)
        signature = parse(kernel).signature
        given = {**dict(zip((each.name for each in signature.arguments), args, strict=False)), **named}
        written = tuple(given[tensor.name] for tensor in signature.tensors if tensor.access is not Access.IN)
        _watch_gpu(written)
        return written[0] if len(written) == 1 else written
        yield  # makes it a generator

    return Operation(f"`{kernel.name}`", recipe)


def _watch_gpu(written: tuple[Any, ...]) -> None:
    """Notes a launch that followed an earlier one, past everything that notes launches."""
    given, devices = watched.get(), sys.modules.get("tileproof.runtime.devices")
    if given is None or devices is None or not written:
        return
    found = written[0].block.device if isinstance(written[0], Tensor) else devices.device_of(written[0])
    if found is not None:
        stream = current_stream(found)
        given.setdefault(stream, []).append(stream.turn)


def host_op(function: Callable[..., Next], *args: Any, **named: Any) -> Operation[Next]:
    """A function of the host as an operation. What comes before it in a chain is done when it is called, on the thread
    or task that runs the chain.

        (load.op(x) >> tp.host_op(print, "loaded")).run()
    """
    name = getattr(function, "__name__", "a function")

    def recipe() -> Recipe[Next]:
        refuse_recording(f"{name} is called", "a graph holds launches and copies; call functions between replays")
        given = {stream: list(turns) for stream, turns in (watched.get() or {}).items()}
        if given:
            yield Wait(tuple((stream, max(turns)) for stream, turns in given.items()))
            for stream, turns in given.items():
                stream.settle(turns)
        return function(*args, **named)

    return Operation(f"host function {name}", recipe)


def value_op(value: Next) -> Operation[Next]:
    """An operation that does nothing and has a value."""

    def recipe() -> Recipe[Next]:
        return value
        yield

    return Operation("value", recipe)


def all_of(operations: Iterable[Operation[Any]]) -> Operation[tuple[Any, ...]]:
    """Several operations side by side, on streams of the current pool if there is one. Its value: all their values."""
    parts = tuple(operations)
    for part in parts:
        if not isinstance(part, Operation):
            cure = "inside a kernel tp.all reduces a tile; on the host it takes operations, `kernel.op(...)`"
            raise TypeError(f"tp.all takes operations, not {type(part).__name__}: {cure}")
    recipes = [part._taken("all") for part in parts]

    def recipe() -> Recipe[tuple[Any, ...]]:
        under_way: dict[int, Recipe[Any]] = {place: _on(None, make()) for place, make in enumerate(recipes)}
        values: dict[int, Any] = {}
        try:
            while under_way:
                waits: list[tuple[Stream, int]] = []
                for place, each in tuple(under_way.items()):
                    try:
                        waits += next(each).uses
                    except StopIteration as end:
                        values[place] = end.value
                        del under_way[place]
                if waits:
                    yield Wait(tuple(waits))
        finally:
            for each in under_way.values():
                each.close()
        return tuple(values[place] for place in range(len(recipes)))

    return Operation(f"all of {', '.join(part.name for part in parts)}", recipe)


_LEAST: Final = 1


class StreamPool:
    """Streams that operations take in turn: `with tp.StreamPool(4): await tp.all(a, b)`.

    Which stream work is on never changes what it computes, only what runs side by side.
    """

    def __init__(self, count: int = 4, device: str = "cpu") -> None:
        if count < _LEAST:
            raise ValueError(f"a pool has at least one stream, not {count}")
        self.streams = tuple(Stream(device) for _ in range(count))
        self._place = 0

    def next(self) -> Stream:
        """The stream whose turn it is."""
        self._place += 1
        return self.streams[self._place % len(self.streams)]

    def synchronize(self) -> None:
        """Waits for all of them."""
        for stream in self.streams:
            stream.synchronize()

    def __enter__(self) -> StreamPool:
        self._before = _pool.get()
        _pool.set(self)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _pool.set(self._before)


__all__ = ["Operation", "StreamPool", "all_of", "host_op", "launch_op", "value_op"]
