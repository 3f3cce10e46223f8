"""Where the time of a step goes: a line for each operation, and a picture."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from .pictures import GREY, HOW_TO_DRAW, OURS, can_draw, drawn, plain
from .terminal import format_bytes, table

if TYPE_CHECKING:
    from tileproof.llm.evaluation import Profile, Timed

HEADS = ("operation", "calls", "us", "%", "us each", "moves", "GB/s", "kernels")


def lines(profile: Profile) -> list[str]:
    """A table of the operations, the slowest first."""
    total = _total(profile)
    rows = [
        (
            part.name, str(part.calls), f"{1e6 * part.seconds:.0f}", f"{100 * part.seconds / total:.1f}",
            f"{1e6 * part.seconds / part.calls:.1f}", format_bytes(part.bytes), f"{_rate(part):.1f}",
            ", ".join(part.kernels),
        )
        for part in profile.parts
    ]  # fmt: skip
    whole = f"one step of {_rows(profile)} takes {1e3 * profile.seconds:.2f} ms"
    alone = f"its operations one by one, {1e3 * total:.2f} ms together:"
    return [f"{whole}; {alone}", *table(HEADS, rows, right=frozenset(range(1, 7)))]


def draw(model: str, profile: Profile, path: Path) -> str:
    """Draws the operations as bars; gives the line that says where, or why not."""
    if not can_draw():
        return HOW_TO_DRAW
    total, parts = _total(profile), profile.parts
    with drawn(path, 9, 0.42 * len(parts) + 1.4) as (figure, axis):
        bars = axis.barh(range(len(parts)), [1e3 * part.seconds for part in parts], 0.66, color=OURS)
        labels = [f"{100 * part.seconds / total:.1f} %, {_rate(part):.1f} GB/s" for part in parts]
        axis.bar_label(bars, labels, padding=4, fontsize=8, color=GREY)
        axis.set_yticks(range(len(parts)), [f"{part.calls} x {part.name}" for part in parts], fontsize=9)
        axis.invert_yaxis()
        axis.margins(x=0.22)
        axis.set_xlabel("milliseconds in a step")
        title = f"{model}: a step of {_rows(profile)}, {1e3 * profile.seconds:.2f} ms"
        axis.set_title(title, loc="left", fontweight="bold", fontsize=11)
        plain(axis, "x")
        figure.tight_layout()
    return f"{path} is written"


def free_name(path: Path) -> Path:
    """The path, or with the first number after its name that makes it one that is not there."""
    if not path.exists():
        return path
    return next(candidate for number in count(2) if not (candidate := path.with_stem(f"{path.stem}-{number}")).exists())


def _total(profile: Profile) -> float:
    return sum(part.seconds for part in profile.parts) or 1e-9


def _rate(part: Timed) -> float:
    """Of memory, in GB/s."""
    return part.bytes / part.seconds / 1e9 if part.seconds > 0 else 0.0


def _rows(profile: Profile) -> str:
    rows = "one token" if profile.rows == 1 else f"{profile.rows} tokens"
    return f"{rows} at context {profile.context}"
