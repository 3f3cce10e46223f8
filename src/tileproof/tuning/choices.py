"""A choice: one of the kernels that can do a piece of work, with its constants and its schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any, Final, TypeAlias

from tileproof.language.kernel import Kernel, Schedule

PLAIN: Final = Schedule()
Form: TypeAlias = Callable[..., tuple[Any, ...]]
"""Gets constants and the arguments of a tunable, and gives those of a kernel."""
_in_chain: ContextVar[bool] = ContextVar("tileproof_in_chain", default=False)
_forms: Final[dict[Kernel, Form]] = {}
"""For kernels that take other forms of the arguments than their tunable does."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A kernel with the constants and the schedule it is launched with. Calling it launches it."""

    kernel: Kernel
    constants: Mapping[str, int] = field(default_factory=dict)
    schedule: Schedule = PLAIN
    launched: Kernel = field(init=False, repr=False, compare=False)
    """The kernel under its schedule: the same object wherever the same is chosen, so that it is compiled once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "launched", scheduled(self.kernel, self.schedule))

    def __call__(self, *args: Any) -> None:
        kernel = _early(self.kernel, self.schedule) if _in_chain.get() else self.launched
        kernel(*self.arguments(args), **self.constants)

    def arguments(self, args: Sequence[Any]) -> Sequence[Any]:
        """What the kernel is given: the arguments of its tunable, or views of them where it takes another form."""
        form = _forms.get(self.kernel)
        return args if form is None else form(self.constants, *args)

    @property
    def label(self) -> str:
        """`matmul_kernel BM=128 BN=128 BK=64 persistent group=8`: different for each."""
        fields = repr(self.schedule).removeprefix("Schedule(").removesuffix(")").replace("=True", "").replace(",", "")
        sizes = " ".join(f"{name}={value}" for name, value in self.constants.items())
        return " ".join(filter(None, (self.kernel.name, sizes, fields)))


def takes(kernel: Kernel, form: Form) -> None:
    """Says how the arguments of a kernel come from those of its tunable: as views of them, never copies.

    takes(matmul_wide_kernel, lambda constants, c, a, b: (c.reshape(...), a, b.reshape(...)))
    """
    _forms[kernel] = form


@cache
def scheduled(kernel: Kernel, schedule: Schedule) -> Kernel:
    """The kernel under a schedule; itself under its own."""
    return kernel if schedule == (kernel.schedule or PLAIN) else kernel.with_schedule(schedule)


@cache
def _early(kernel: Kernel, schedule: Schedule) -> Kernel:
    """The kernel under a schedule by which it may begin before the one ahead of it has ended."""
    fields = {name: getattr(schedule, name) for name in Schedule.__slots__}
    return scheduled(kernel, Schedule(**fields | {"dependent": True}))


@contextmanager
def in_chain() -> Iterator[None]:
    """Has launches within it begin, on a GPU, while the launch ahead of them ends: for many short ones in a row."""
    token = _in_chain.set(True)
    try:
        yield
    finally:
        _in_chain.reset(token)


def choices(kernel: Kernel, sizes: str, *schedules: Schedule) -> Iterator[Choice]:
    """A choice for every set of constants, as `BM=128,BN=64` with spaces between, under every schedule.

    choices(matmul_kernel, "BM=128,BN=128,BK=64 BM=64,BN=128,BK=64", Schedule(), Schedule(persistent=True))
    """
    for text, schedule in product(sizes.split() or [""], schedules or (PLAIN,)):
        pairs = (part.split("=") for part in text.split(",") if part)
        yield Choice(kernel, {name: int(size) for name, size in pairs}, schedule)
