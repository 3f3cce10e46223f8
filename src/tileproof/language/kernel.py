"""`@tp.kernel`: holds a function and its source as they were when it was defined.

Every program that uses tileproof loads this file, so what few of them need is imported where it is needed.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, Final, Generic, NoReturn, Protocol, TypeAlias, TypeVar, overload

from tileproof.diagnostics.values import formatted

_CHOICES: Final = {
    "group": (range(1, 1 << 64), "a whole number of at least 1"),
    "cluster": ((1, 2, 4, 8, 16), "1, 2, 4, 8 or 16"),
    "occupancy": (range(1, 33), "a whole number from 1 to 32"),
    "warps": ((4, 8), "4 or 8"),
    "latency": (range(1, 11), "a whole number from 1 to 10"),
}
"""The numbers that each hint of a schedule may be, and how a message lists them."""


class Schedule:
    """Hints for one kernel on a GPU; the CPU and the interpreter pay no attention to them.

        @tp.kernel(schedule=tp.Schedule(persistent=True, group=8, warps=8))
    """

    __slots__ = ("cluster", "dependent", "group", "latency", "occupancy", "persistent", "reverse", "tma", "warps")
    persistent: bool
    reverse: bool
    group: int
    cluster: int | None
    occupancy: int | None
    warps: int | None
    latency: int | None
    tma: bool
    dependent: bool

    def __init__(
        self,
        *,
        persistent: bool = False,
        reverse: bool = False,
        group: int = 1,
        cluster: int | None = None,
        occupancy: int | None = None,
        warps: int | None = None,
        latency: int | None = None,
        tma: bool = True,
        dependent: bool = False,
    ) -> None:
        """`persistent`: as many programs as the GPU holds at once, each taking one point after another. `reverse`: the
        last point first, for kernels whose last points have the most to do. `group`: so many rows of the last two
        walkers are taken together, so that they share what they read. `cluster`: blocks that work on one tile together.
        `occupancy`: how many programs a multiprocessor should hold. `warps`: 8 for large accumulators. `latency`: how
        far ahead loads are issued. `tma`: whether the copy engine may be used. `dependent`: in `a >> b` and in graphs,
        if both kernels say so, the second is brought to the GPU while the first still runs, and waits there; it pays
        for short kernels.
        """
        numbers = {"group": group, "cluster": cluster, "occupancy": occupancy, "warps": warps, "latency": latency}
        for name, value in numbers.items():
            choices, listed = _CHOICES[name]
            if (value is not None or name == "group") and (type(value) is not int or value not in choices):
                raise ValueError(f"{name} of a schedule is {listed}, not {formatted(value)}")
        flags = {"persistent": persistent, "reverse": reverse, "tma": tma, "dependent": dependent}
        for name, flag in flags.items():
            if type(flag) is not bool:
                raise ValueError(f"{name} of a schedule is True or False, not {formatted(flag)}")
        for name, value in {**numbers, **flags}.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a schedule does not change: make another with {name}={value!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a schedule does not change: make another without {name}")

    @property
    def key(self) -> tuple[tuple[str, int | bool | None], ...]:
        """Its hints, by name."""
        return tuple((name, getattr(self, name)) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        plain = dict(_PLAIN.key)
        changes = ", ".join(f"{name}={value!r}" for name, value in self.key if value != plain[name])
        return f"Schedule({changes})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.key,)


def _made(key: tuple[tuple[str, int | bool | None], ...]) -> Schedule:
    return Schedule(**dict(key))  # type: ignore[arg-type]


_PLAIN: Final = Schedule()


V = TypeVar("V")


class Remembered(Protocol):
    """A kernel, or a proved one."""

    @property
    def memos(self) -> dict[Any, Any]: ...


class Memo(Generic[V]):
    """A cache that each object has one of: `_parsed = Memo[list[Parsed]](list)`, then `_parsed.of(kernel)`."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], V]) -> None:
        self._make = make

    def of(self, owner: Remembered) -> V:
        """The cache of an object, created on first use."""
        memo: V | None = owner.memos.get(self)
        if memo is None:
            memo = owner.memos.setdefault(self, self._make())
            assert memo is not None
        return memo


Launcher: TypeAlias = "Callable[[Kernel, tuple[Any, ...], dict[str, Any]], None]"


class Kernel:
    """A function that is read, proved and compiled, never executed. Calling it launches it.

    Tensors and scalars are passed by position, constants by name:

        matmul(c, a, b, BM=64)
    """

    launcher: ClassVar[Launcher | None] = None
    """Launches a kernel. `import tileproof` sets it, because this package imports no runtime."""

    operator: ClassVar[Callable[[Kernel, tuple[Any, ...], dict[str, Any]], Any] | None] = None
    """Implements `op`, likewise."""

    def __init__(
        self,
        function: Callable[..., None],
        *,
        deny_checks: bool = False,
        deterministic: bool = False,
        schedule: Schedule | None = None,
    ) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"@tp.kernel decorates a function, not {type(function).__name__}: {function!r}")
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__
        self.filename = function.__code__.co_filename
        self.source_lines = lines_around(function)
        """The whole file, kept from the moment of definition; empty if it cannot be read."""
        self.first_line = function.__code__.co_firstlineno
        """The line of the topmost decorator."""
        self.deny_checks = deny_checks
        self.deterministic = deterministic
        if schedule is not None and not isinstance(schedule, Schedule):
            raise TypeError(f"a schedule is made by tp.Schedule(...), not {formatted(schedule)}")
        self.schedule = schedule
        """How programs are mapped to a GPU, if given."""
        self.absent: frozenset[str] = frozenset()
        """The optional parameters that this form of the kernel does without: see `without`."""
        self.leading = 1
        """How many axes `M...` stands for in this form: see `with_leading`."""
        self._forms: dict[tuple[frozenset[str], int], Kernel] = {}
        """Those that were asked for, by what they do without. All forms share it, so that each is compiled once."""
        self.forms: dict[tuple[int, ...], Kernel] = {}
        """By how many axes `M...` was and the places where None was: the form that a launch called with the rest."""
        self.ranked: tuple[int, int] | None = None
        """The place of the argument that says how many axes `M...` is, and how many others it has."""
        self.memos: dict[Any, Any] = {}
        """Its parsed, proved and compiled forms: see `Memo`."""
        self.launch_cache: dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], bool | None]] = {}
        """By constants, what launches again as an earlier launch did; it returns a false value if it cannot."""
        self.recent: Callable[[tuple[Any, ...], dict[str, Any]], bool | None] | None = None
        """The one used last: trying it costs less than a lookup."""

    def __call__(self, *args: Any, **constants: Any) -> None:
        """Launches the kernel on `args`."""
        if self.forms:
            form = self.forms.get(self.form_key(args))
            if form is not None and form is not self:
                form(*[each for each in args if each is not None], **constants)
                return
        if self.launch_cache:
            # Nothing here may reject a launch: every unusual one takes the full path.
            recent = self.recent
            if recent is not None and recent(args, constants):
                return
            try:
                cached = self.launch_cache.get(tuple(constants.items()) if constants else ())
            except TypeError:  # a constant without a hash, such as a list
                cached = None
            if cached is not None and cached is not recent and cached(args, constants):
                self.recent = cached
                return
        launcher = Kernel.launcher
        if launcher is None:
            raise RuntimeError(f"kernel {self.name} cannot be launched: import tileproof, not a part of it")
        launcher(self, args, constants)

    def __getitem__(self, grid: object) -> NoReturn:
        """Elsewhere a launch names its grid."""
        from tileproof.diagnostics.codes import Code
        from tileproof.diagnostics.errors import Diagnostic, LaunchError

        message = f"`{self.name}` is launched without a grid: it follows from tp.parallel and the arguments"
        raise LaunchError(Diagnostic(Code.ARGUMENT_COUNT, message, help=f"call it: `{self.name}(...)`"))

    def op(self, *args: Any, **constants: Any) -> Any:
        """The launch as a value: an operation that runs once, later, alone or as a part of others.

            (matmul.op(h, x, w) >> relu.op(y, h)).run()
        """
        operator = Kernel.operator
        if operator is None:
            raise RuntimeError(f"kernel {self.name} cannot be launched: import tileproof, not a part of it")
        return operator(self, args, constants)

    def with_schedule(self, schedule: Schedule | None) -> Kernel:
        """The same kernel with another schedule.

            fast = matmul.with_schedule(tp.Schedule(persistent=True, group=8))
        """
        kernel = Kernel(
            self.function, deny_checks=self.deny_checks, deterministic=self.deterministic, schedule=schedule
        )
        kernel.source_lines, kernel.absent, kernel.leading = self.source_lines, self.absent, self.leading
        return kernel

    def without(self, *names: str) -> Kernel:
        """The kernel without some optional parameters: it takes the others, as if None were passed for these.

            plain = linear.without("bias")
            plain(y, x, w)
        """
        return self._form(self.absent | frozenset(names), self.leading)

    def with_leading(self, count: int) -> Kernel:
        """The kernel where `M...`, the leading axes of its tensors, is so many of them.

            vectors = add.with_leading(0)
        """
        if type(count) is not int or count < 0:
            raise ValueError(f"a kernel has 0 leading axes or more, not {formatted(count)}")
        return self._form(self.absent, count)

    def _form(self, absent: frozenset[str], leading: int) -> Kernel:
        if (absent, leading) == (self.absent, self.leading):
            return self
        form = self._forms.get((absent, leading))
        if form is None:
            form = self.with_schedule(self.schedule)
            form.absent, form.leading, form._forms = absent, leading, self._forms
            form = self._forms.setdefault((absent, leading), form)
        return form

    def form_key(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        """What tells the forms of launches apart."""
        places = [place for place, each in enumerate(args) if each is None]
        if self.ranked is None:
            return tuple(places)
        place, others = self.ranked
        shape = getattr(args[place], "shape", None) if place < len(args) else None
        return (1 if shape is None else len(shape) - others, *places)

    def forget(self) -> None:
        """Drops everything parsed, proved and compiled, and the plans of repeated launches."""
        self.memos.clear()
        self.launch_cache.clear()
        self.forms.clear()
        self.recent = None
        self.ranked = None
        if not self.absent and self.leading == 1:
            for form in self._forms.values():
                form.forget()

    def __repr__(self) -> str:
        from tileproof.diagnostics.errors import display_path

        return f"<kernel {self.name} at {display_path(self.filename)}:{self.first_line}>"


def lines_around(function: FunctionType) -> tuple[str, ...]:
    """The text of the file, notebook cell or prompt entry that holds a function; empty if Python kept none."""
    filename = function.__code__.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if not lines and filename.startswith("<"):
        # Some prompts keep their source by function, not by file name; `inspect` finds it.
        import inspect

        with contextlib.suppress(OSError, TypeError):
            lines, _ = inspect.findsource(function)
    return tuple(lines)


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(
    *, deny_checks: bool = False, deterministic: bool = False, schedule: Schedule | None = None
) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(
    function: Callable[..., None] | None = None,
    /,
    *,
    deny_checks: bool = False,
    deterministic: bool = False,
    schedule: Schedule | None = None,
) -> Kernel | Callable[[Callable[..., None]], Kernel]:
    """Makes a kernel of a function.

    `deny_checks` turns every check that would be left for run time into an error. `deterministic` makes float
    `Sum` results independent of the order in which programs run. `schedule` says how programs are laid over a GPU,
    which changes nothing but the time they take.

        @tp.kernel
        def double(y: Out[f32, "N"], x: In[f32, "N"], *, B: int = 1024) -> None:
            for i in tp.parallel(N=B):
                y[i] = x[i] * 2
    """

    def decorate(function: Callable[..., None]) -> Kernel:
        return Kernel(function, deny_checks=deny_checks, deterministic=deterministic, schedule=schedule)

    return decorate if function is None else decorate(function)


__all__ = ["Kernel", "kernel"]
