"""tileproof: GPU kernels written in Python, proven memory-safe and race-free before they launch.

    import tileproof as tp
    from tileproof import In, Out, T

    @tp.kernel
    def add(c: Out[T, "N"], a: In[T, "N"], b: In[T, "N"], *, BN: int = 1024) -> None:
        for n in tp.parallel(N=BN):
            c[n] = a[n] + b[n]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .language.dtypes import (
    T,
    U,
    bf16,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    tf32,
    u8,
    u16,
    u32,
    u64,
)
from .language.kernel import Kernel, kernel
from .language.parameters import In, Index, InOut, Max, Min, Offsets, Out, Sum, Unique
from .language.schedule import Schedule
from .language.spaces import dim, each, group, join, parallel, require, segments, split, split_at, tiles
from .language.tiles import (
    abs,
    all,
    any,
    arange,
    argmax,
    argmin,
    bitcast,
    cat,
    cdiv,
    ceil,
    clip,
    cos,
    cumsum,
    erf,
    exp,
    exp2,
    floor,
    full,
    inf,
    isnan,
    log,
    log2,
    lowest,
    max,
    maximum,
    mean,
    min,
    minimum,
    mma,
    print,
    random,
    reduce,
    round,
    rsqrt,
    scan,
    sigmoid,
    sin,
    sqrt,
    sum,
    tanh,
    update,
    where,
    zeros,
)
from .language.unsafe import raw, unsafe
from .language.values import Tile, Walker

if TYPE_CHECKING:
    from .diagnostics.errors import (
        KernelError,
        LaunchError,
        OutOfBounds,
        Race,
        SanitizerError,
        TileproofError,
        Unwritten,
    )
    from .runtime.bundles import load_bundle
    from .runtime.check import check
    from .runtime.choice import backend
    from .runtime.launch import interpret
else:
    # What a program that only defines kernels does not use is loaded on demand, so that `import tileproof` is quick.
    _ERRORS = ("TileproofError", "KernelError", "LaunchError", "SanitizerError", "OutOfBounds", "Race", "Unwritten")
    _PARTS = {
        "check": ".runtime.check",
        "interpret": ".runtime.launch",
        "backend": ".runtime.choice",
        "load_bundle": ".runtime.bundles",
        **dict.fromkeys(_ERRORS, ".diagnostics.errors"),
    }

    def __getattr__(name: str) -> Any:
        """A public name that nobody asked for yet."""
        if name not in _PARTS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_PARTS[name], __name__), name)
        return value

    def __dir__() -> list[str]:
        """All names, also those that are not loaded yet."""
        return sorted({*globals(), *_PARTS})


def _launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """The first launch: loads the runtime, which takes over, and numpy with it."""
    from .runtime.launch import launch

    Kernel.launcher = launch
    launch(kernel, args, named)


Kernel.launcher = _launch

# In the order a reader meets them.
__all__ = [  # noqa: RUF022
    # Kernels and their signatures.
    "kernel", "Kernel", "Schedule", "In", "Out", "InOut", "Sum", "Max", "Min", "Index", "Unique", "Offsets", "T", "U",
    "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    "f16", "bf16", "tf32", "f32", "f64", "f8e4m3", "f8e5m2",
    # Spaces, loops, dimensions.
    "parallel", "tiles", "each", "split", "join", "segments", "split_at", "group", "dim", "require", "Walker",
    # Tiles.
    "Tile", "zeros", "full", "arange", "inf", "lowest", "mma", "where", "maximum", "minimum", "clip",
    "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "cos", "erf",
    "floor", "ceil", "round", "abs", "isnan", "cdiv", "cat", "bitcast", "update",
    "sum", "mean", "max", "min", "argmax", "argmin", "any", "all", "cumsum",
    "reduce", "scan", "random", "print", "unsafe", "raw",
    # Checking and running.
    "check", "interpret", "backend", "load_bundle",
    # What goes wrong.
    "TileproofError", "KernelError", "LaunchError", "SanitizerError", "OutOfBounds", "Race", "Unwritten",
]  # fmt: skip
