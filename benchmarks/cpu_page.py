"""The part of a machine's page that tells of its CPU kernels."""

from __future__ import annotations

from collections.abc import Sequence

from .cpu_report import HEADS, Found, summary
from .measuring import QUIET
from .tables import markdown


def part(found: Found, tried: str, pictures: Sequence[tuple[str, str]]) -> str:
    """All that the CPU book has to say of a machine."""
    lines = found.lines
    outside = [line.tileproof.outside_most for line in lines if line.tileproof is not None]
    how = dict.fromkeys((line.kernel, "; ".join(f"`{each}`" for each in line.how)) for line in lines)
    return "\n".join([
        "## Kernels on the CPU", "",
        "Rates are of the best call, in brackets of the median one; ratios are of the best. On one thread they are by",
        "its processor time, on several by the time on the wall. The limit is a loop of the same run that only moves",
        "the same bytes, or only multiplies and adds in registers. Compile times are front end + proof + lowering +",
        "LLVM with nothing kept; load is from the cache on disk.", "",
        *(line for title, file in pictures for line in (f"![{title}]({file})", "")),
        markdown(HEADS, [line.cells for line in lines]), "",
        summary(lines).replace("\n", "  \n"), "",
        "### Launching almost nothing", "",
        markdown(("launch", "thr", "tileproof", "torch", "note"), [each.cells for each in found.launches]), "",
        *(["### What was tried on the CPU", "", tried, ""] if tried else []),
        "### Kernels and tile sizes", "", '<details markdown="1"><summary>What each row launches</summary>', "",
        markdown(("row", "launches"), [*how]), "", "</details>", "",
        "### The machine of the CPU's figures", "",
        markdown(("what", "here"), [*found.machine.items()]), "",
        f"Other processes used up to {max(outside, default=0.0):.2f} cores during a turn of tileproof. Turns with more"
        f" than {QUIET:.2f} do not count; a figure without a quiet turn is said to be loaded.", "",
        "Where torch has several ways to do the work, the fastest counts; cpu.json names it.", "",
    ])  # fmt: skip
