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

from . import interrupts as interrupts  # isort: skip
from .backends import base
from .backends.base import register as register_backend
from .language import host_calls
from .language.annotations import In, Index, InOut, Max, Min, Offsets, Out, Sum, Unique
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
from .language.kernel import Kernel, Schedule, kernel
from .language.spaces import (
    Walker,
    dim,
    each,
    group,
    join,
    parallel,
    require,
    segments,
    split,
    split_at,
    static_range,
    tiles,
)
from .language.tiles import (
    Tile,
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
    none,
    permute,
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

if TYPE_CHECKING:
    from .compiler.bundles import load_bundle
    from .compiler.compile import check
    from .diagnostics.errors import (
        InFlight,
        KernelError,
        LaunchError,
        OutOfBounds,
        OutOfMemory,
        Race,
        SanitizerError,
        TileproofError,
        Unwritten,
    )
    from .runtime.graph.graphs import Graph
    from .runtime.launch.backend_choice import backend
    from .runtime.launch.launch import interpret
    from .runtime.launch.torch_operators import torch_op
    from .runtime.memory.accounting import limit_memory, memory
    from .runtime.stream.operations import Operation, StreamPool, host_op, value_op
    from .runtime.stream.streams import Stream, current_stream
    from .runtime.tensor.copies import copy, copy_op
    from .runtime.tensor.creation import asarray, empty, from_numpy, ones
    from .runtime.tensor.tensors import Tensor
else:
    # What a program that only defines kernels does not use is loaded on demand, so that `import tileproof` is quick.
    _ERRORS = (
        "TileproofError", "KernelError", "LaunchError", "InFlight", "OutOfMemory", "SanitizerError", "OutOfBounds",
        "Race", "Unwritten",
    )  # fmt: skip
    _PARTS = {
        "check": ".compiler.compile",
        "interpret": ".runtime.launch.launch",
        "backend": ".runtime.launch.backend_choice",
        "load_bundle": ".compiler.bundles",
        **dict.fromkeys(("memory", "limit_memory"), ".runtime.memory.accounting"),
        **dict.fromkeys(("copy", "copy_op"), ".runtime.tensor.copies"),
        **dict.fromkeys(("asarray", "empty", "from_numpy", "ones"), ".runtime.tensor.creation"),
        **dict.fromkeys(("Operation", "StreamPool", "host_op", "value_op"), ".runtime.stream.operations"),
        **dict.fromkeys(("Stream", "current_stream"), ".runtime.stream.streams"),
        "Graph": ".runtime.graph.graphs",
        "Tensor": ".runtime.tensor.tensors",
        "torch_op": ".runtime.launch.torch_operators",
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


def _interpreter() -> base.Backend:
    from .backends.interpreter import InterpreterBackend

    return InterpreterBackend()


def _cpu() -> base.Backend:
    from .runtime.device.host_device import CpuBackend

    return CpuBackend()


def _cuda() -> base.Backend:
    from .runtime.launch.cuda_code import CudaBackend

    return CudaBackend()


def _host(_: int | None) -> base.Device:
    from .runtime.device.host_device import HostDevice

    return HostDevice()


def _gpu(number: int | None) -> base.Device:
    """A GPU: what is for one is loaded when it is first used."""
    from .runtime.device.cuda_device import CudaDevice

    return CudaDevice(number)


def _launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """The first launch: loads the runtime, which takes over, and numpy with it."""
    from .runtime.launch.launch import launch

    Kernel.launcher = launch
    launch(kernel, args, named)


def _operation(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The first operation: loads the runtime, which takes over."""
    from .runtime.stream.operations import launch_op

    Kernel.operator = launch_op
    return launch_op(kernel, args, named)


def _on_host(name: str) -> Any:
    """What a word of kernels means on the host."""
    found = _meant.get(name)
    if found is None:
        module = ".runtime.stream.operations" if name == "all_of" else ".runtime.tensor.creation"
        found = _meant[name] = getattr(import_module(module, __name__), name)
    return found


_meant: dict[str, Any] = {}


register_backend("cpu", _cpu)
register_backend("interpreter", _interpreter)
register_backend("cuda", _cuda)
base.register_devices(_host, _gpu)
Kernel.launcher = _launch
Kernel.operator = _operation
host_calls.host_function = _on_host

# In the order a reader meets them.
__version__ = "0.1.0"

__all__ = [  # noqa: RUF022
    # Kernels and their signatures.
    "kernel", "Kernel", "Schedule", "In", "Out", "InOut", "Sum", "Max", "Min", "Index", "Unique", "Offsets", "T", "U",
    "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    "f16", "bf16", "tf32", "f32", "f64", "f8e4m3", "f8e5m2",
    # Spaces, loops, dimensions.
    "parallel", "tiles", "static_range", "each", "split", "join", "segments", "split_at", "group", "dim", "require",
    "Walker",
    # Tiles.
    "Tile", "zeros", "full", "arange", "inf", "lowest", "none", "mma", "where", "maximum", "minimum", "clip",
    "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "tanh", "sigmoid", "sin", "cos", "erf",
    "floor", "ceil", "round", "abs", "isnan", "cdiv", "cat", "permute", "bitcast", "update",
    "sum", "mean", "max", "min", "argmax", "argmin", "any", "all", "cumsum",
    "reduce", "scan", "random", "print", "unsafe", "raw",
    # Checking and running.
    "check", "interpret", "backend", "register_backend", "load_bundle",
    # On the host: tensors, streams, operations, graphs.
    "Tensor", "empty", "ones", "from_numpy", "asarray", "memory", "limit_memory", "Stream", "current_stream",
    "StreamPool", "Operation", "host_op", "value_op", "copy", "copy_op", "Graph", "torch_op",
    # What goes wrong.
    "TileproofError", "KernelError", "LaunchError", "InFlight", "OutOfMemory", "SanitizerError", "OutOfBounds", "Race",
    "Unwritten",
]  # fmt: skip
