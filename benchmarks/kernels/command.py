"""Library functions against peers and against what the hardware can do at most, on the CPU or on a GPU.

Every row is one library function at one size, called as users call it. Each result, ours and a peer's, is compared with
one of float64 on fresh random numbers before it is timed; one that is wrong is reported and not timed. All contestants
work on the same memory and take turns. What was found is on disk after every row.

    python -m benchmarks cpu|gpu                            all rows
    python -m benchmarks cpu|gpu --rows matmul softmax      rows of these groups, or with these words in their names
    python -m benchmarks cpu|gpu --quick                    few rounds, and no torch.compile: a look, no result
    python -m benchmarks cpu|gpu --save benchmarks/results  write <device>/cpu.json or gpu.json there
    python -m benchmarks cpu|gpu --list                     the names of all rows
    python -m benchmarks gpu --check                        prove and assemble every launch: needs no GPU
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module, util
from pathlib import Path
from typing import Any, Final

from tileproof.backends.cpu.device.pool import cores

from ..harness.device import cpu_slug, slug_of
from ..harness.gpu_clock import ROUNDS
from ..harness.page import Section, terminal
from ..harness.row import Place
from .bench import Bench, Cpu, Gpu, run_rows
from .peers import COLUMNS, Tools
from .rows import names, rows

GROUPS: Final = {
    "matmul": "GEMM",
    "linear": "Linear layers of Qwen3-4B and Qwen3-32B",
    "experts": "Mixture of experts",
    "attention": "Attention, prefill",
    "decode": "Attention, decode",
    "rows": "Softmax and norms",
    "elementwise": "Elementwise",
    "reductions": "Reductions",
    "tables": "Embedding and rotation",
    "sampling": "Sampling",
    "quantized": "Quantized weights, one row",
    "matvec": "GEMV",
    "chain": "All GEMVs of a decode step",
    "launch": "Launch",
}
_CHECKED: Final = (
    "Every row is a call of a library function as users write it. Results were compared with those of float64 on "
    "fresh random numbers before they were timed. A ratio above 1 is in our favor. "
)
CPU: Final = Section(
    "cpu.json", "Kernels on the CPU",
    _CHECKED + "Times are of the best call, in brackets of the median one. On one thread they are by its processor "
    "time, on several by the time on the wall. A turn during which other processes used more than a "
    "tenth of a core does not count; a figure without a quiet turn is marked loaded. The limit is a loop "
    "of the same run that only moves the same bytes, or only multiplies and adds in registers. Compile "
    "times are with nothing kept; load is from the cache on disk. Of several ways of torch the fastest "
    "counts.",
    GROUPS, pictures=(("Against torch, numpy and the limit", "cpu.png", "ratios", ()),),
)  # fmt: skip
_SHAPES: Final = ("TFLOP/s over rows of x", "matmul.png", "curves", ("linear",))
_RATIOS: Final = tuple(group for group in GROUPS if group != "linear")
GPU: Final = Section(
    "gpu.json", "Kernels on the GPU",
    _CHECKED + "Times are of one call, by CUDA events around replays of a graph of many: the median of rounds in "
    "which all take turns. Arguments are several times as large as the cache, in turn. The spread is how "
    "far our rounds lie apart. The limit is the datasheet of an H200: 4.8 TB/s, and 989 TFLOP/s of "
    "bf16.",
    GROUPS,
    {
        "linear": "By the number of rows of x: our time, and how many times as fast as cuBLAS. Bold misses its goal.",
        "decode": "`read` only reads as many bytes, in the same run. Caches are in no cache of the GPU's.",
        "rows": "`copy` is `torch.copy_` of as many bytes, in the same run.",
        "quantized": "cuBLAS has the same weights in bf16: two to four times the bytes.",
        "chain": "Every product reads what the one before wrote; weights are distinct, and all are in one CUDA "
        "graph. The time is of the better of two forms: plain launches, and dependent ones.",
        "launch": "What the host needs to call `add`, the clock stopped before the wait.",
    },
    ("linear",), {"matmul linear": "cuBLAS"},
    (("Roofline", "roofline.png", "roofline", ()), ("Against peers", "peers.png", "ratios", _RATIOS), _SHAPES),
)  # fmt: skip


def options(device: str, values: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {device}", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--rows", nargs="*", default=[], metavar="WORD", help="groups, or words of names")
    add("--quick", action="store_true", help="few rounds, and without torch.compile")
    add("--save", type=Path, metavar="FOLDER", help="write data into <device> there, after every row")
    add("--without", nargs="*", default=[], choices=COLUMNS[device], help="peers to leave out")
    add("--minutes", type=float, metavar="N", help="begin no row after so many minutes")
    add("--small", action="store_true", help="tiny sizes: only to see that everything works")
    add("--list", action="store_true", help="print the names of rows")
    if device == "cpu":
        default = sorted({1, cores()})
        add("--seconds", type=float, default=5.0, help="of each row (default 5); thrice that if loaded")
        add("--threads", type=int, nargs="*", default=default, help=f"default {default}")
    else:
        add("--cutile", type=Path, metavar="FOLDER", help="where cuda-tile and its assembler are")
        add("--check", action="store_true", help="prove and assemble all launches; needs no GPU")
    return parser.parse_args(values)


def main(device: Any, arguments: Sequence[str]) -> int:
    """Prints the table; 1 if a result is wrong. A missed goal is printed, and is no failure."""
    values = options(device, arguments)
    at = Place(device, values.small)
    wanted = names(values.rows, at)
    if values.list:
        print("\n".join(wanted))
        return 0
    if device == "gpu" and values.check:
        from .launches import check

        return check(wanted)
    # Compile times on the CPU are of an empty cache.
    with tempfile.TemporaryDirectory() if device == "cpu" else nullcontext() as folder:
        if folder is not None:
            os.environ["TILEPROOF_CACHE_DIR"] = folder
        bench, slug = _bench(device, values)
        file = None if values.save is None else values.save / slug / f"{device}.json"
        lines = run_rows({name: rows(at)[name] for name in wanted}, bench, file, values.minutes)
    print(terminal(lines))
    if file is not None:
        print(f"written: {file}")
    return 1 if any(line.problem for line in lines) else 0


def _bench(device: str, values: argparse.Namespace) -> tuple[Bench, str]:
    if device == "cpu":
        torch = _torch_or_none()
        tools = Tools(torch, None, values.without, "cpu")
        return Cpu(tools, values.threads, 0.5 if values.quick else values.seconds), cpu_slug()
    torch = import_module("torch")
    torch.manual_seed(int(time.time()))
    slug = slug_of(torch.cuda.get_device_name(0))
    tools = Tools(torch, values.cutile, ["torch.compile"] if values.quick else values.without)
    return Gpu(torch, tools, 2 if values.quick else ROUNDS, slug == "h200"), slug


def _torch_or_none() -> Any:
    if util.find_spec("torch") is None:
        return None
    try:
        return import_module("torch")
    except ImportError:
        return None
