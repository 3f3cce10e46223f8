"""Operations: work as a value, which runs once, later, and can be put together with others.

    step = matmul.op(h, x, w) >> relu.op(y, h)
    step.run()              # or: await step

An operation is a list of steps, functions that give work to streams or do something on the host. A `_Chain` runs them
as far as it can without a wait; who drives it waits: `run` blocks, and `await` lets other tasks go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar, copy_context
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import formatted
from tileproof.frontend.signature import parse
from tileproof.ir.types import Access
from tileproof.language.kernel import Kernel, Memo
from tileproof.runtime.memory.recorder import reject_recording

from .streams import Stream, chained, current_stream, watched, without_last

Value = TypeVar("Value", covariant=True)
Next = TypeVar("Next")
_SHOWN: Final = 6
"""How many parts of an operation are named."""
_pools: ContextVar[tuple[StreamPool, ...]] = ContextVar("tileproof_stream_pools", default=())
"""The pools of `with` blocks, the innermost last."""


class Step(NamedTuple):
    """One step of an operation."""

    name: str
    run: Callable[[Any], Any]
    """It is given the value of the step before, and returns its own. Work that it gave to a stream may be in flight."""
    waits: bool = False
    """Whether all work of earlier steps is to be done before it."""


class Operation(Generic[Value]):
    """Work that has not begun. It is run by `.run()` or `await`, once; an operation that is part of another runs with
    it.

    Operations are made by `kernel.op(...)`, `tp.copy_op`, `tp.host_op` and `tp.all`.
    """

    __slots__ = ("_state", "_steps")

    def __init__(self, *steps: Step) -> None:
        self._steps = steps
        self._state = ""

    @classmethod
    def of(cls, name: str, function: Callable[[], Value]) -> Operation[Value]:
        """An operation of one function, whose work may be in flight when it returns."""
        return cls(Step(name, lambda _: function()))

    @property
    def name(self) -> str:
        """What it is called in messages."""
        names = [step.name for step in self._steps]
        if len(names) > _SHOWN:
            names = [*names[: _SHOWN - 2], "...", names[-1]]
        return " >> ".join(names)

    # Putting together.

    def then(self, make: Callable[[Value], Operation[Next]]) -> Operation[Next]:
        """This, and then what `make` makes of its value, on the same stream. The host does not wait in between: the
        value is what kernels will have written, and reading it waits."""
        name, steps = self.name, self._taken("then")
        def following(value: Any) -> _Following:
            return _Following(_operation_from(make, value, name)._taken("then"))

        return Operation(*steps, Step("then ...", following))

    def __rshift__(self, other: Operation[Next]) -> Operation[Next]:
        """This, and then the other, on the same stream: `a >> b`."""
        if not isinstance(other, Operation):
            return NotImplemented
        if other is self:
            _reject(self.name, "part of another operation already", "make it twice: an operation runs once")
        return Operation(*self._taken(">>"), *other._taken(">>"))

    def map(self, function: Callable[[Value], Next]) -> Operation[Next]:
        """This, and then a function of its value, on the host, when it is done."""
        name, steps = self.name, self._taken("map")

        def mapped(value: Any) -> Next:
            reject_recording(f"a function is mapped over {name}", "call it when the graph was replayed")
            return function(value)

        return Operation(*steps, Step("map", mapped, waits=True))

    # Running.

    def run(self, stream: Stream | None = None) -> Value:
        """Runs it on a stream, the current one if none is named, and waits: its value, or what went wrong."""
        chain = _Chain(self._taken("run"), stream)
        is_over = False
        while not is_over:
            is_over = chain.go_on()
            for used, turn in dict(chain.submitted).items():
                used.until(turn)
            chain.settle(self.name)
        value: Value = chain.value
        return value

    def start(self, stream: Stream | None = None) -> Value:
        """Gives it to a stream and waits only where the host has a part in it. Its value may be in flight."""
        chain = _Chain(self._taken("start"), stream)
        while not chain.go_on():
            for used, turn in dict(chain.submitted).items():
                used.until(turn)
            chain.settle(self.name)
        outer = watched.get()
        if outer is not None:
            outer += chain.submitted
        value: Value = chain.value
        return value

    def __await__(self) -> Generator[Any, None, Value]:
        """Runs it while other tasks go on. A task that is cancelled leaves what was given to a stream there."""
        chain = _Chain(self._taken("await"), None)
        is_over = False
        while not is_over:
            is_over = chain.go_on()
            for used, turn in dict(chain.submitted).items():
                yield from used.reached(turn).__await__()
            chain.settle(self.name)
        value: Value = chain.value
        return value

    def _taken(self, by: str) -> tuple[Step, ...]:
        """Its steps, for the one who uses it."""
        if self._state:
            _reject(self.name, self._state, "make it again: `kernel.op(...)` makes another each time")
        self._state = "run already" if by in ("run", "start", "await") else "part of another operation already"
        return self._steps

    def __repr__(self) -> str:
        return f"<operation {self.name}{f', {self._state}' if self._state else ''}>"


def _reject(name: str, state: str, cure: str) -> NoReturn:
    raise LaunchError(Diagnostic(Code.SPENT, f"the operation {name} is {state}", help=cure))


class _Following(tuple[Step, ...]):
    """Steps that follow the one that made them: its value is theirs."""


class _Chain:
    """The steps of an operation as they run: on one stream, in a context of their own."""

    def __init__(
        self, steps: Iterable[Step], stream: Stream | None, submitted: list[tuple[Stream, int]] | None = None
    ) -> None:
        pools = _pools.get()
        chosen = stream or (pools[-1].next() if pools else None)
        self.value: Any = None
        """That of the last step that ran."""
        self.submitted: list[tuple[Stream, int]] = [] if submitted is None else submitted
        """The work that was given to streams since the last wait, that of other branches too."""
        self._left = deque(steps)
        self._branches: tuple[_Chain, ...] = ()
        """Chains side by side that are one step of this one."""
        self._context = copy_context()
        if chosen is not None:
            self._context.run(chosen.choose)
        self._context.run(watched.set, self.submitted)
        self._context.run(chained.set, False)

    def go_on(self) -> bool:
        """Runs steps up to one before which `given` must be done; whether there is none, so that all have run."""
        while self._branches or self._left:
            if self._branches:
                are_over = [branch.go_on() for branch in self._branches]  # each of them as far as it can
                if not all(are_over):
                    return False
                self.value, self._branches = tuple(branch.value for branch in self._branches), ()
                continue
            if self._left[0].waits and self.submitted:
                return False
            name, run, _ = self._left.popleft()
            try:
                value = self._context.run(run, self.value)
            except Exception as error:
                _name(error, name)
                raise
            self._context.run(chained.set, True)
            match value:
                case _Following():
                    self._left.extendleft(reversed(value))
                case _Branches():
                    self._branches = tuple(self._context.run(_Chain, steps, None, self.submitted) for steps in value)
                    self.value = ()
                case _:
                    self.value = value
        return True

    def settle(self, name: str) -> None:
        """Raises what went wrong with work that was given, which is done."""
        submitted = self.submitted[:]
        self.submitted.clear()
        for stream in dict(submitted):
            try:
                stream.settle({turn for used, turn in submitted if used is stream})
            except Exception as error:
                _name(error, name)
                raise


class _Branches(tuple[tuple[Step, ...], ...]):
    """Steps of several chains that run side by side."""


def _name(error: Exception, name: str) -> None:
    note = f"in the operation {name}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _operation_from(make: Callable[[Any], Operation[Next]], value: Any, name: str) -> Operation[Next]:
    operation = make(value)
    if not isinstance(operation, Operation):
        message = f"what follows {name} is made by a function that gives {type(operation).__name__}, not an operation"
        cure = "return an operation, `kernel.op(...)`; for a function of the host, write `.map(...)`"
        raise LaunchError(Diagnostic(Code.SPENT, message, help=cure))
    return operation


# Kinds of operations.


_places: Final = Memo[list[tuple[tuple[int, str], ...]]](list)
"""Where among the arguments are those that a kernel writes."""


def launch_op(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Operation[Any]:
    """A launch as a value; its own value is what it writes: one tensor, or a tuple of them."""
    return Operation.of(f"`{kernel.name}`", lambda: _launched(kernel, args, named))


def _launched(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    kernel(*args, **named)
    known = _places.of(kernel)
    if not known:
        known.append(_written(kernel))
    (places,) = known
    written = tuple(args[place] if place < len(args) else named[name] for place, name in places)
    for each in written:
        if each is not None:  # an optional one may be
            _watch_gpu(each)
            break
    return written[0] if len(written) == 1 else written


def _written(kernel: Kernel) -> tuple[tuple[int, str], ...]:
    """The places and names of the arguments that a kernel writes."""
    signature = parse(kernel).signature
    written = {tensor.name for tensor in signature.tensors if tensor.access is not Access.IN}
    names = enumerate(parameter.name for parameter in signature.arguments)
    return tuple((place, name) for place, name in names if name in written)


def _watch_gpu(written: Any) -> None:
    """Notes a launch on a GPU that followed an earlier one, past everything that notes launches."""
    submitted = watched.get()
    if submitted is None:
        return
    block = getattr(written, "block", None)
    if block is not None:  # a tensor of ours
        device = block.device
    else:  # of other libraries only torch's tensors are recognised so soon
        device = written.device.index if getattr(written, "is_cuda", None) is True else None
    if device is not None:
        stream = current_stream(device)
        submitted.append((stream, stream.turn))


def host_op(function: Callable[..., Next], *args: Any, **named: Any) -> Operation[Next]:
    """A function of the host as an operation. What comes before it in a chain is done when it is called, on the thread
    or task that runs the chain.

        (load.op(x) >> tp.host_op(print, "loaded")).run()
    """
    name = getattr(function, "__name__", "a function")

    def call(_: Any) -> Next:
        reject_recording(f"{name} is called", "a graph holds launches and copies; call functions between replays")
        return function(*args, **named)

    return Operation(Step(f"host function {name}", call, waits=True))


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
    taken = _Branches(part._taken("all") for part in parts)
    return Operation(Step(name, lambda _: taken))


_LEAST: Final = 1


class StreamPool:
    """Streams that operations take in turn: `with tp.StreamPool(4): await tp.all(a, b)`.

    Which stream work is on never changes what it computes, only what runs side by side.
    """

    def __init__(self, count: int = 4, device: str = "cpu") -> None:
        if count < _LEAST:
            raise ValueError(f"a pool has at least one stream, not {formatted(count)}")
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
