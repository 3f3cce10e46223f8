"""The seam: a `Backend` compiles proved kernels, a `Device` has the memory and runs them. Nothing above asks for more.

A backend is registered under a name, which `tp.backend` and TILEPROOF_BACKEND take:

    tp.register_backend("mine", MyBackend())

The device of a launch is the one its arguments are on: the host, or a GPU by its number. It hides what memory, streams,
copies and graphs are there. Backends and devices that ship with tileproof are made when they are first used, so that a
program without a GPU loads nothing that is for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import Diagnostic, LaunchError
from tileproof.diagnostics.values import formatted

Proved: TypeAlias = Any
"""A proved kernel, `compiler.proved.Proved`: `ready` is the IR to run; code compiled from it is kept in a `Memo`."""
Bound: TypeAlias = Any
"""The arguments of a launch, `runtime.launch.binding.Bound`: `tensors`, `scalars` and `dimensions` by name."""
Tensor: TypeAlias = Any
"""A `tp.Tensor`."""
Work: TypeAlias = Any
"""What is given to a stream, `runtime.memory.ledger.Work`."""


@runtime_checkable
class Backend(Protocol):
    """What makes code of proved kernels."""

    @property
    def on_gpu(self) -> bool:
        """Whether arguments of its launches are on a GPU, and not on the host."""

    def compile(self, proved: Proved, bound: Bound) -> Any:
        """Code for a launch, and for others like it if it is remembered in a `Memo` of `proved`.

        The device decides what code is. On the host it is a function of the arguments, which are arrays of numpy and
        numbers by name, and of the dimensions, which runs every point of the kernel; on a GPU a
        `runtime.launch.cuda_code.Compiled`.
        """


class Device(Protocol):
    """Where memory is: what runs code there, moves elements, and keeps work in order."""

    # Launches and graphs.

    def launch(self, backend: Backend, proved: Proved, bound: Bound) -> None:
        """Runs a launch that was bound and checked, with the code that a backend makes for it."""

    def part_of(
        self, backend: Backend, args: tuple[Any, ...], named: dict[str, Any], proved: Proved, bound: Bound, ahead: Any
    ) -> tuple[Work, Any]:
        """A launch for a graph: the work, and what `player_of` takes of it. `ahead` is the part before it."""

    def copy_part(self, to: Tensor, source: Tensor) -> tuple[Work, Any]:
        """A copy within the device for a graph."""

    def player_of(self, recorded: Sequence[Any], edges: Sequence[tuple[int, int]], watches: Sequence[Any]) -> Any:
        """What replays a graph of such parts."""

    # Streams and memory.

    @property
    def others_write(self) -> bool:
        """Whether others, numpy for instance, can write memory here while a kernel runs: then a launch has copies of
        what its proof depends on."""

    @property
    def streams(self) -> Any:
        """The class of its streams."""

    def account(self) -> Any:
        """What gives memory and gets it back; made once."""

    # Elements.

    def look(self, tensor: Tensor, use: Callable[[Any], Any]) -> Any:
        """What a function makes of the elements, called while no kernel writes them. It must not keep them."""

    def write(self, tensor: Tensor, values: Any) -> None:
        """The host writes elements, one for each."""

    def send(self, tensor: Tensor, values: Any) -> None:
        """Has the current stream write elements, in order with all other work."""

    def fill(self, tensor: Tensor, value: Any) -> None:
        """Writes one value to all elements of a tensor that was just made."""

    def copy(self, to: Tensor, source: Tensor) -> None:
        """Has the current stream copy elements within the device, to a tensor of the same shape and type."""

    def fetch(self, tensor: Tensor) -> Callable[[], Any]:
        """Has the current stream copy the elements to the host; gives what waits for that."""

    def lend(self, tensor: Tensor, stream: int) -> None:
        """Has work of another library on a stream begin when ours on the tensor is done."""


AUTO: Final = "auto"
"""The name under which a launch runs where its arguments are."""
_backends: dict[str, Backend | Callable[[], Backend]] = {}
"""By name; what ships with tileproof as a function that loads it."""
_devices: dict[int | None, Device] = {}
_makers: dict[bool, Callable[[int | None], Device]] = {}
"""What makes the device of the host, and that of a GPU."""
_NUMBERS: Final[dict[str, int | None]] = {"cpu": None, "cuda": 0, "cuda:0": 0}
_DIGITS: Final = 10
"""No machine has GPUs with numbers of so many digits."""


def register(name: str, backend: Backend | Callable[[], Backend]) -> None:
    """Lets `tp.backend(name)` and TILEPROOF_BACKEND choose a backend; or what a function makes when it is first used.

    Example:
        tp.register_backend("mine", MyBackend())
    """
    if not isinstance(name, str) or not name or name == AUTO:
        raise ValueError(f"a backend is registered under a name of its own, not {name!r}")
    if not (callable(backend) or isinstance(backend, Backend)):
        raise TypeError(f"the backend {name!r} has no `compile` and `on_gpu`: see tileproof.backends.base.Backend")
    _backends[name] = backend


def names() -> tuple[str, ...]:
    """The names that a launch can run on."""
    return (AUTO, *_backends)


def backend_of(name: str, device: int | None) -> Backend:
    """The backend of a name for arguments on a device."""
    if name == AUTO:
        name = "cpu" if device is None else "cuda"
    backend = _backends[name]
    if not hasattr(backend, "compile"):  # `isinstance` with a protocol takes as long as the rest of a launch
        backend = _backends[name] = backend()
    return cast(Backend, backend)


def register_devices(host: Callable[[int | None], Device], gpu: Callable[[int | None], Device]) -> None:
    """Says what makes the device of the host, and that of a GPU, when one is first used."""
    _makers.update({False: host, True: gpu})


def device_number(device: str) -> int | None:
    """The number of the GPU that is named, None for the CPU."""
    known = _NUMBERS.get(device, -1) if type(device) is str else -1
    if known != -1:
        return known
    kind, colon, number = device.partition(":") if isinstance(device, str) else ("", "", "")
    if kind == "cpu" and (not colon or number == "0"):
        return None
    if kind == "cuda" and (not colon or (number.isascii() and number.isdecimal() and len(number) < _DIGITS)):
        return int(number or 0)
    raise LaunchError(
        Diagnostic(Code.NO_DEVICE, f"there is no device {formatted(device)}", help='write "cpu", "cuda", or "cuda:1"')
    )


def device_name(number: int | None) -> str:
    """The name of a device, as users write it."""
    return "cpu" if number is None else f"cuda:{number}"


def device_of(number: int | None) -> Device:
    """The GPU with a number; the host for None."""
    device = _devices.get(number)
    if device is None:
        device = _devices.setdefault(number, _makers[number is not None](number))
    return device


class Memory(Enum):
    """Who can touch some memory."""

    DEVICE = "memory of the GPU"
    MANAGED = "managed memory, which the host and the GPU share"
    HOST = "memory of the host that is mapped into the GPU"
    UNKNOWN = "memory that CUDA does not know"
