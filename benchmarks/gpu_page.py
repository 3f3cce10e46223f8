"""The part of a device's page that tells of its GPU kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from .gpu_peers import COLUMNS
from .gpu_report import HEADS, Found, Line, geometric_mean, summary
from .gpu_row import BANDWIDTH, PRODUCTS, Goal
from .gpu_rows_products import MODELS, ROWS_AT
from .tables import markdown

GROUPS: Final = {
    "matmul": "Products of matrices",
    "linear": "Linear layers of Qwen3-4B and Qwen3-32B",
    "experts": "A mixture of experts",
    "attention": "Attention of many queries",
    "decode": "Attention of one token to its cache",
    "rows": "Softmax and norms",
    "elementwise": "Elementwise work",
    "reductions": "Reductions",
    "tables": "Tables and positions",
    "sampling": "The next token",
    "quantised": "Weights of few bits, for one row",
    "matvec": "A matrix and a vector",
    "chain": "All products of a token",
    "launch": "The host",
}
"""Groups of rows in the order of the page, and what they are called."""
_ABOUT: Final = {
    "linear": "How many times as fast as cuBLAS, by the number of rows of x. Every figure is in the table below it.",
    "decode": "The yardstick `read` only reads as many bytes, in the same run. Caches are in no cache of the GPU's.",
    "rows": "The yardstick `copy` is `torch.copy_` of as many bytes, in the same run.",
    "quantised": "cuBLAS has the same weights in bf16: two to four times the bytes.",
    "chain": "Every product reads what the one before wrote; weights are distinct, and all are in one CUDA graph. The "
    "time is that of the better of two forms: launches that wait their turn, and dependent ones.",
    "launch": "What the host needs to call `add` on 2^20 elements, the clock stopped before the wait.",
}


def part(found: Found, tried: Mapping[str, str], pictures: Sequence[tuple[str, str]]) -> str:
    """All that the GPU book has to say of a device."""
    lines = found.lines
    told = [
        "## Kernels on the GPU", "",
        "Every row is a call of a library function as users write it. Times are of one call, by CUDA events around",
        "replays of a graph of many: the median of rounds in which all take turns. Arguments are several times as",
        "large as the cache, in turn. The spread is how far our rounds lie apart. Results were compared with those of",
        "float64 on fresh random numbers before they were timed. A ratio above 1 is in our favour.", "",
    ]  # fmt: skip
    if any(line.limit is not None for line in lines):
        limits = f"{BANDWIDTH / 1e12:g} TB/s and {PRODUCTS / 1e12:g} TFLOP/s of bf16"
        told += [f"The datasheet of an H200 says {limits}.", ""]
    told += ["### Goals", "", *_goals(lines), ""]
    for title, file in pictures:
        told += [f"![{title}]({file})", ""]
    for group, title in GROUPS.items():
        of = [line for line in lines if line.group == group]
        if of:
            told += [f"### {title}", "", *([_ABOUT[group], ""] if group in _ABOUT else [])]
            if group == "linear":
                told += [_grid(of), "", '<details markdown="1"><summary>Every product</summary>', "", *_table(of), "",
                         "</details>", ""]  # fmt: skip
            else:
                told += [*_table(of), ""]
    told += _twins(lines) + _tried(lines, tried) + _notes(lines) + _how(lines)
    for number, run in enumerate(found.runs):
        title = "### The machine" if len(found.runs) == 1 else f"### The machine, run {number + 1} of {len(found.runs)}"
        mine = [line for line in lines if line.run == number]
        rows = [*run.items(), *([("rows", str(len(mine)))] if len(found.runs) > 1 else [])]
        told += [title, "", markdown(("what", "here"), rows), ""]
    return "\n".join(told)


def _goals(lines: Sequence[Line]) -> list[str]:
    first, *others = summary(lines).splitlines()
    return [f"**{first}.**", "", *(f"- {each}" for each in others)]


def _table(lines: Sequence[Line]) -> list[str]:
    cells = [line.cells for line in lines]
    absent = {column: line.absent[column] for line in lines for column in COLUMNS if column in line.absent}
    gone = [f"{column}: {why}" for column, why in absent.items()
            if not any(line.peers.get(column) for line in lines)]  # fmt: skip
    return [markdown(HEADS, cells), *(["", f"Not there: {'; '.join(gone)}."] if gone else [])]


def _grid(lines: Sequence[Line]) -> str:
    """Ratios to cuBLAS: a row for each matrix, a column for each number of rows."""
    goal = Goal(0.9, "cuBLAS")
    by_name = {line.name: line for line in lines}

    def cell(model: str, what: str, m: int) -> str:
        line = by_name.get(f"linear {model} {what} {m}")
        reached = None if line is None else line.reached(goal)
        if reached is None:
            return "-"
        return f"**{reached:.2f}**" if reached < goal.ratio else f"{reached:.2f}"

    rows = [
        (f"{model} {what}", f"{n} x {k}", *(cell(model, what, m) for m in ROWS_AT))
        for model, matrices in MODELS.items()
        for what, (n, k) in matrices.items()
    ]
    mean = geometric_mean(lines)
    below = "" if mean is None else f"\n\nThe geometric mean is {mean:.3f}. Under 0.90 is in bold."
    return markdown(("matrix", "N x K", *(f"M {m}" for m in ROWS_AT)), rows) + below


def _twins(lines: Sequence[Line]) -> list[str]:
    twins = [line for line in lines if line.twin is not None]
    if not twins:
        return []
    cells = [
        (line.name, line.tileproof.text, line.twin.figure.text, line.twin_text)
        for line in twins
        if line.twin is not None and line.tileproof is not None
    ]
    return [
        "### Safe against unsafe", "",
        "The unsafe twin is the same work without its checks. Where everything was proved there is nothing to leave",
        "out, and the code is the same: the figure, our time over the twin's, is then noise.", "",
        markdown(("row", "safe", "unsafe twin", "ratio"), cells), "",
    ]  # fmt: skip


def tried_of(line: Line, tried: Mapping[str, str]) -> str:
    """What people wrote of a row: by its name, or else by the longest beginning of it."""
    fitting = [name for name in tried if line.name == name or line.name.startswith(f"{name} ") or line.group == name]
    return tried[max(fitting, key=len)] if fitting else ""


def _tried(lines: Sequence[Line], tried: Mapping[str, str]) -> list[str]:
    told: dict[str, list[str]] = {}
    for line in lines:
        if line.missed or line.problem:
            told.setdefault(tried_of(line, tried), []).append(line.name)
    if not told:
        return []
    said = [f"- **{', '.join(names)}**: {words}" for words, names in told.items() if words]
    if "" in told:
        said.append(f"- nothing was written yet of: {', '.join(told[''])}")
    return ["### Where a goal is missed, and what was tried", "", *said, ""]


def _notes(lines: Sequence[Line]) -> list[str]:
    told: dict[str, list[str]] = {}
    for line in lines:
        for note in line.notes:
            told.setdefault(note, []).append(line.name)
    forms = [
        f"- **{line.name}**: {', '.join(f'{each.name} {each.text}' for each in line.forms)}"
        for line in lines
        if line.forms
    ]
    noted = [f"- **{', '.join(names)}**: {note}" for note, names in told.items()]
    return ["### Notes", "", *forms, *noted, ""] if noted or forms else []


def _how(lines: Sequence[Line]) -> list[str]:
    rows = [(line.name, "; ".join(f"`{each}`" for each in line.how)) for line in lines if line.how]
    if not rows:
        return []
    return [
        "### Kernels and schedules", "", '<details markdown="1"><summary>What each row launches</summary>', "",
        markdown(("row", "launches"), rows), "", "</details>", "",
    ]  # fmt: skip
