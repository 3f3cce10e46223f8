"""Operations: work as a value, which runs once, later, and can be put together with others.

    step = matmul.op(h, x, w) >> relu.op(y, h)
    step.run()              # or: await step

An operation is a recipe: a function that makes a generator. The generator gives work to streams as far as it can and
yields where the host must wait; it is driven by `run`, which blocks, or by `await`, which does not. What it returns is
the operation's value.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.values import shown
from tileproof.frontend.elaborate import parse
from tileproof.ir.types import Access
from tileproof.language.kernel import Kernel

from .streams import Stream, chained, current_stream, refuse_recording, watched, without_last
from .tensors import Tensor

Value = TypeVar("Value", covariant=True)
Next = TypeVar("Next")


class Wait(NamedTuple):
    """What a recipe waits for: some work of some streams, all of it."""

    uses: tuple[tuple[Stream, int], ...]


Recipe = Generator[Wait, None, Value]
_SHOWN: Final = 6
"""How many parts of an operation are named."""
_pools: ContextVar[tuple[StreamPool, ...]] = ContextVar("tileproof_stream_pools", default=())
"""The pools of `with` blocks, the innermost last."""


class Part(NamedTuple):
    """One step of an operation."""

    name: str
    run: Callable[[], Any]
    waits: bool
    """Whether `run` makes a recipe; else it gives the value at once, and its work may be in flight."""


class Operation(Generic[Value]):
    """Work that has not begun. It is run by `.run()` or `await`, once; an operation that is part of another runs with
    it.

    Operations are made by `kernel.op(...)`, `tp.copy_op`, `tp.host_op` and `tp.all`.
    """

    __slots__ = ("_parts", "_state")

    def __init__(self, name: str, recipe: Callable[[], Recipe[Value]]) -> None:
        self._parts: tuple[Part, ...] = (Part(name, recipe, True),)
        self._state = ""

    @classmethod
    def of(cls, name: str, function: Callable[[], Value]) -> Operation[Value]:
        """An operation that gives its work to a stream, and nothing else: nobody has to wait in between."""
        return _sequence((Part(name, function, False),))

    @property
    def name(self) -> str:
        """What it is called in messages."""
        names = [part.name for part in self._parts]
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 2], "...", names[-1]]
        return " >> ".join(names)

    # Putting together.

    def then(self, make: Callable[[Value], Operation[Next]]) -> Operation[Next]:
        """This, and then what `make` makes of its value, on the same stream. The host does not wait in between: the
        value is what kernels will have written, and reading it waits."""
        name, first = self.name, self._taken("then")

        def recipe() -> Recipe[Next]:
            value: Value = yield from _run(first)
            last: Next = yield from _run(_made(make, value, name)._taken("then"), is_second=True)
            return last

        return Operation(f"{name}, then ...", recipe)

    def __rshift__(self, other: Operation[Next]) -> Operation[Next]:
        """This, and then the other, on the same stream: `a >> b`."""
        if not isinstance(other, Operation):
            return NotImplemented
        if other is self:
            _refuse(self.name, "part of another operation already", "make it twice: an operation runs once")
        return _sequence((*self._taken(">>"), *other._taken(">>")))

    def map(self, function: Callable[[Value], Next]) -> Operation[Next]:
        """This, and then a function of its value, on the host, when it is done."""
        name, first = self.name, self._taken("map")

        def recipe() -> Recipe[Next]:
            refuse_recording(f"a function is mapped over {name}", "call it when the graph was replayed")
            value: Value = yield from _done(_run(first), name)
            return function(value)

        return Operation(f"{name}, mapped", recipe)

    # Running.

    def run(self, stream: Stream | None = None) -> Value:
        """Runs it on a stream, the current one if none is named, and waits: its value, or what went wrong."""
        recipe = _on(stream, _done(_run(self._taken("run")), self.name))
        try:
            while True:
                for each, turn in next(recipe).uses:
                    each.until(turn)
        except StopIteration as end:
            value: Value = end.value
            return value

    def start(self, stream: Stream | None = None) -> Value:
        """Gives it to a stream and waits only where the host has a part in it. Its value may be in flight."""
        recipe = _on(stream, _watching(_run(self._taken("start"))))
        try:
            while True:
                for each, turn in next(recipe).uses:
                    each.until(turn)
        except StopIteration as end:
            value: Value = end.value
            return value

    def __await__(self) -> Generator[Any, None, Value]:
        """Runs it while other tasks go on. A task that is cancelled leaves what was given to a stream there."""
        recipe = _on(None, _done(_run(self._taken("await")), self.name))
        try:
            while True:
                for each, turn in next(recipe).uses:
                    yield from each.reached(turn).__await__()
        except StopIteration as end:
            value: Value = end.value
            return value
        finally:
            recipe.close()

    def _taken(self, by: str) -> tuple[Part, ...]:
        """Its parts, for the one who uses it."""
        if self._state:
            _refuse(self.name, self._state, "make it again: `kernel.op(...)` makes another each time")
        self._state = "run already" if by in ("run", "start", "await") else "part of another operation already"
        return self._parts

    def __repr__(self) -> str:
        return f"<operation {self.name}{f', {self._state}' if self._state else ''}>"


def _refuse(name: str, state: str, cure: str) -> NoReturn:
    raise LaunchError(Diagnostic(Code.SPENT, f"the operation {name} is {state}", help=cure))


def _sequence(parts: tuple[Part, ...]) -> Operation[Any]:
    made: Operation[Any] = Operation.__new__(Operation)
    made._parts, made._state = parts, ""
    return made


def _run(parts: tuple[Part, ...], *, is_second: bool = False) -> Recipe[Any]:
    """Runs parts one after another; gives the value of the last. All but the first follow at the heels of another.

    An error names the operation in which something went wrong.
    """
    value = None
    for name, run, waits in parts:
        try:
            if waits:
                recipe = run()
                value = yield from (_chained(recipe) if is_second else recipe)
            elif is_second:
                token = chained.set(True)
                try:
                    value = run()
                finally:
                    chained.reset(token)
            else:
                value = run()
        except Exception as error:
            _name(error, name)
            raise
        is_second = True
    return value


def _name(error: Exception, name: str) -> None:
    note = f"in the operation {name}"
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
    pools = _pools.get()
    chosen = stream or (pools[-1].next() if pools else None)
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
    value, given = yield from _watched(recipe)
    _forget(given)
    return value


def _done(recipe: Recipe[Value], name: str) -> Recipe[Value]:
    """A recipe that is over when its work is done, and raises what went wrong with it."""
    value, given = yield from _watched(recipe)
    try:
        if given:
            yield Wait(tuple((stream, max(turns)) for stream, turns in given.items()))
        for stream, turns in given.items():
            stream.settle(turns)
    except Exception as error:
        _name(error, name)
        raise
    finally:
        _forget(given)
    return value


def _forget(given: dict[Stream, list[int]]) -> None:
    """Nobody waits for some work any more."""
    for stream, turns in given.items():
        stream.forget(turns)


def _watched(recipe: Recipe[Value]) -> Recipe[tuple[Value, dict[Stream, list[int]]]]:
    """A recipe that tells, beside its value, what it gave to streams."""
    given: dict[Stream, list[int]] = {}
    passed: dict[Stream, int] = {}
    """How many turns of each stream whoever waits for more than this has been told."""
    try:
        while True:
            outer = watched.get()
            token = watched.set(given)
            try:
                wait = next(recipe)
            except StopIteration as end:
                value: Value = end.value
                return value, given
            finally:
                watched.reset(token)
                if outer is not None:
                    for stream, turns in given.items():
                        outer.setdefault(stream, []).extend(turns[passed.get(stream, 0) :])
                        passed[stream] = len(turns)
            yield wait
    except BaseException:  # something went wrong, or it is closed: its task was cancelled
        _forget(given)
        raise


# Kinds of operations.


def launch_op(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Operation[Any]:
    """A launch as a value; its own value is what it writes: one tensor, or a tuple of them."""
    return Operation.of(f"`{kernel.name}`", partial(_launched, kernel, args, named))


def _launched(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    kernel(*args, **named)
    places = kernel.cache.get("written")
    if places is None:
        places = kernel.cache["written"] = _written(kernel)
    written = tuple(args[place] if place < len(args) else named[name] for place, name in places)
    if written:
        _watch_gpu(written[0])
    return written[0] if len(written) == 1 else written


def _written(kernel: Kernel) -> tuple[tuple[int, str], ...]:
    """The places and names of the arguments that a kernel writes."""
    signature = parse(kernel).signature
    written = {tensor.name for tensor in signature.tensors if tensor.access is not Access.IN}
    names = enumerate(parameter.name for parameter in signature.arguments)
    return tuple((place, name) for place, name in names if name in written)


def _watch_gpu(written: Any) -> None:
    """Notes a launch on a GPU that followed an earlier one, past everything that notes launches."""
    given = watched.get()
    if given is None:
        return
    if type(written) is Tensor:
        found = written.block.device
    else:  # of other libraries only torch's tensors are recognised so soon
        found = written.device.index if getattr(written, "is_cuda", None) is True else None
    if found is not None:
        stream = current_stream(found)
        turns = given.setdefault(stream, [])
        if not turns or turns[-1] != stream.turn:
            turns.append(stream.turn)


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

    return Operation.of("value", lambda: value)


def all_of(operations: Iterable[Operation[Any]]) -> Operation[tuple[Any, ...]]:
    """Several operations side by side, on streams of the current pool if there is one. Its value: all their values."""
    parts = tuple(operations)
    for part in parts:
        if not isinstance(part, Operation):
            cure = "inside a kernel tp.all reduces a tile; on the host it takes operations, `kernel.op(...)`"
            raise TypeError(f"tp.all takes operations, not {type(part).__name__}: {cure}")
    name = f"all of {', '.join(part.name for part in parts)}"
    taken = [part._taken("all") for part in parts]

    def recipe() -> Recipe[tuple[Any, ...]]:
        under_way: dict[int, Recipe[Any]] = {place: _on(None, _run(each)) for place, each in enumerate(taken)}
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
        return tuple(values[place] for place in range(len(taken)))

    return Operation(name, recipe)


_LEAST: Final = 1


class StreamPool:
    """Streams that operations take in turn: `with tp.StreamPool(4): await tp.all(a, b)`.

    Which stream work is on never changes what it computes, only what runs side by side.
    """

    def __init__(self, count: int = 4, device: str = "cpu") -> None:
        if count < _LEAST:
            raise ValueError(f"a pool has at least one stream, not {shown(count)}")
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
        _pools.set((*_pools.get(), self))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _pools.set(without_last(_pools.get(), self))


__all__ = ["Operation", "StreamPool", "all_of", "host_op", "launch_op", "value_op"]
