"""Schedules: how a kernel's programs are laid over the hardware. None of it changes what the kernel means."""

from __future__ import annotations

from typing import Final

from tileproof.diagnostics.values import shown

_CHOICES: Final = {
    "group": "a whole number of at least 1", "cluster": "1, 2, 4, 8 or 16", "occupancy": "a whole number from 1 to 32",
    "warps": "4 or 8", "latency": "a whole number from 1 to 10",
}  # fmt: skip


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
        given = {"group": group, "cluster": cluster, "occupancy": occupancy, "warps": warps, "latency": latency}
        for name, value in given.items():
            if value is None and name != "group":
                continue
            if type(value) is not int or not _is_choice(name, value):
                raise ValueError(f"{name} of a schedule is {_CHOICES[name]}, not {shown(value)}")
        for name, truth in (("persistent", persistent), ("reverse", reverse), ("tma", tma), ("dependent", dependent)):
            if type(truth) is not bool:
                raise ValueError(f"{name} of a schedule is True or False, not {shown(truth)}")
        truths = {"persistent": persistent, "reverse": reverse, "tma": tma, "dependent": dependent}
        for name, value in {**given, **truths}.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a schedule does not change: make another with {name}={value!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a schedule does not change: make another without {name}")

    @property
    def key(self) -> tuple[tuple[str, int | bool | None], ...]:
        """What it says, by name."""
        return tuple((name, getattr(self, name)) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        plain = dict(_PLAIN.key)
        said = ", ".join(f"{name}={value!r}" for name, value in self.key if value != plain[name])
        return f"Schedule({said})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.key,)


def _made(key: tuple[tuple[str, int | bool | None], ...]) -> Schedule:
    return Schedule(**dict(key))  # type: ignore[arg-type]


def _is_choice(name: str, value: int) -> bool:
    match name:
        case "group":
            return value >= 1
        case "cluster":
            return value in (1, 2, 4, 8, 16)
        case "occupancy":
            return 1 <= value <= 32
        case "warps":
            return value in (4, 8)
        case _:
            return 1 <= value <= 10


_PLAIN: Final = Schedule()
