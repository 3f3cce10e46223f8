"""A launch: bind, compile, check, run. The public ways to start one are here."""

from __future__ import annotations

from typing import Any, NoReturn

from tileproof.backends import interpreter
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.diagnostic import Diagnostic
from tileproof.diagnostics.errors import LaunchError
from tileproof.diagnostics.values import shown
from tileproof.frontend.elaborate import parse
from tileproof.language.kernel import Kernel

from . import choice, native
from .arguments import Bound, bind
from .check import Proved, compiled_for
from .contracts import check_compares, check_complete, check_contents, check_groups
from .cpu_streams import caller
from .leases import Outdated
from .memory import check_memory
from .owned import Knowing, check_own, note_writes, work_of
from .streams import recording


def on_interpreter(found: Proved, bound: Bound) -> None:
    """Runs a compiled kernel on the interpreter, unwatched."""
    interpreter.run(found.ready, {**bound.tensors, **bound.scalars}, bound.dimensions, sanitize=False)


def launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """What a call of a kernel does: runs it where its arguments are, or on the backend that was chosen."""
    graph = recording.get()
    if graph is not None:
        graph.record(kernel, args, named)
        return
    if kernel.remembered:
        from . import following  # it is loaded: there was a launch on a GPU

        if following.follow_beside(kernel, args, named):
            return
    while True:
        try:
            _launch(kernel, args, named)
            return
        except Outdated:
            continue  # another thread wrote what this one had looked at


def _launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    name = choice.current()
    if name in ("auto", "cpu") and native.repeat(kernel, args, named):
        return
    found, bound = prepare(kernel, args, named)
    match name:
        case "interpreter":
            _demand_host(kernel, bound, name)
            signature = parse(kernel).signature
            note_writes(signature, bound, found)
            with caller().doing(work_of(signature, bound, args)):
                on_interpreter(found, bound)
        case "cuda" | "auto" if bound.device is not None:
            from . import following  # what compiles for a GPU is loaded when there is one

            following.launch(kernel, args, named, found, bound)
        case "cuda":
            _refuse(kernel, name, "the CPU", "copy them to a GPU, as torch and cupy do")
        case _:
            _demand_host(kernel, bound, name)
            native.launch(kernel, args, named, found, bound)


def _demand_host(kernel: Kernel, bound: Bound, backend: str) -> None:
    if bound.device is not None:
        _refuse(kernel, backend, f"GPU {bound.device}", "copy them to the host, or leave the choice of a backend out")


def _refuse(kernel: Kernel, backend: str, where: str, cure: str) -> NoReturn:
    message = f"the backend {backend} was chosen, and the arguments of `{kernel.name}` are on {where}"
    raise LaunchError(Diagnostic(Code.DEVICES_DIFFER, message, help=cure, kernel=kernel.name))


def interpret(
    kernel: Kernel, *args: Any, order: interpreter.Order = "forward", sanitize: bool = True, **constants: Any
) -> None:
    """Runs a kernel on the interpreter, its programs one after another, also one that is not proved.

    `order` is "forward", "reverse", or a number that seeds a shuffle. With `sanitize` it raises at the first race, at
    an element of an `Out` nobody wrote, and always at an access outside a tensor. A run that raises changes nothing.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"tp.interpret takes a kernel, not {type(kernel).__name__}: decorate it with @tp.kernel")
    if order not in ("forward", "reverse") and not (isinstance(order, int) and order >= 0):
        raise ValueError(f'order is "forward", "reverse" or a seed of at least 0, not {shown(order)}')
    found, bound = _bound(kernel, args, constants)
    _demand_host(kernel, bound, "interpreter")
    interpreter.run(found.ir, {**bound.tensors, **bound.scalars}, bound.dimensions, order=order, sanitize=sanitize)


def prepare(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The compiled kernel and its arguments, every contract of the launch checked, cached or not."""
    found, bound = _bound(kernel, args, named)
    signature = parse(kernel).signature
    known = Knowing(bound.own)
    check_complete(signature, bound, found.verdict.complete, known)
    bound.guards += known.guards
    check_compares(signature, bound, found.verdict)
    return found, bound


def prepare_recorded(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The same for a launch that runs later, again and again: what memory holds is then looked at, and not now."""
    signature = parse(kernel).signature
    found, bound = _judged(kernel, args, named)
    check_groups(signature, bound, found.groups)
    check_compares(signature, bound, found.verdict)
    return found, bound


def _judged(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The compiled kernel and its arguments, which are the right ones by kind, shape and place."""
    signature = parse(kernel).signature
    bound = bind(signature, args, named)
    check_memory(signature, bound)
    return compiled(kernel, bound), bound


def _bound(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The same without what only the proof demands."""
    signature = parse(kernel).signature
    found, bound = _judged(kernel, args, named)
    check_own(signature, bound)
    known = Knowing(bound.own)
    check_contents(signature, bound, found.holes, known)
    bound.guards += known.guards
    check_groups(signature, bound, found.groups)
    return found, bound


def compiled(kernel: Kernel, bound: Bound) -> Proved:
    """The kernel for these arguments, from its cache while what it captured has not changed."""
    specialisation = bound.specialisation
    # By text: 0.0 and -0.0 are equal and differ, NaN is not even equal to itself.
    key = (specialisation.dtypes, repr(specialisation.constants))
    found = kernel.cache.get(key)
    if not isinstance(found, Proved) or not found.is_current:
        found = kernel.cache[key] = compiled_for(kernel, specialisation)
    return found
