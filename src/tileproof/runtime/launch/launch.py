"""A launch: bind, compile, check, run. The public ways to start one are here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileproof.backends.base import device_of
from tileproof.compiler.proved import Proved, compiled_for, groups_of, signature_of
from tileproof.diagnostics.errors import KernelError
from tileproof.diagnostics.values import formatted
from tileproof.frontend.optional import present
from tileproof.frontend.signature import Elaborated, parse
from tileproof.frontend.specialization import Specialization
from tileproof.language.kernel import Kernel, Memo
from tileproof.runtime.memory.ledger import Outdated
from tileproof.runtime.memory.recorder import recording

from . import backend_choice as choice
from .binding import Bound, bind
from .contracts import check_compares, check_contents, check_groups, check_memory
from .launch_cache import forms_of
from .owned import Knowing, check_own
from .premises import separate

if TYPE_CHECKING:
    from tileproof.backends.interpreter import Order

_proved: Final = Memo[dict[object, Proved]](dict)


def compile(kernel: Kernel, specialization: Specialization) -> Proved:
    """A kernel proved and lowered for some element types and constants; `KernelError` if it is not proved.

    Remembered while what it captured has not changed.
    """
    known, key = _proved.of(kernel), key_of(specialization)
    proved = known.get(key)
    if proved is None or not proved.is_current:
        proved = known[key] = compiled_for(kernel, specialization)
    return proved


def compiled(kernel: Kernel, bound: Bound) -> Proved:
    """The kernel for the types and constants of a launch, unless a contract of it rules these constants out."""
    try:
        return compile(kernel, bound.specialization)
    except KernelError as error:
        if any(finding.code.id >= "TP08" for finding in error.diagnostics):
            raise  # it is not proved, whatever its contracts are
        from tileproof.backends.scalars import require
        from tileproof.frontend.elaborate import accepted

        try:
            ir = accepted(kernel, {}).ir
        except KernelError:
            raise error from None
        require(ir, bound.scalars, bound.dimensions)
        raise


def key_of(specialization: Specialization) -> object:
    """What tells specializations apart. By text: 0.0 and -0.0 are equal and differ, NaN is not even equal to itself."""
    return specialization.dtypes, repr(specialization.constants)


def check(proved: Proved, bound: Bound) -> None:
    """The launch's half of the proof: what its memory, its extents and the contents of its index tensors must be.

    Premises in memory that others can write get memory of the launch's own, which is filled and looked at under the
    leases.
    """
    signature = signature_of(proved)
    check_memory(signature, bound)
    check_own(signature, bound)
    check_groups(signature, bound, proved.groups)
    check_compares(signature, bound, proved.verdict)
    separate(proved, signature, bound)
    while not _has_contents(proved, bound):
        separate(proved, signature, bound, all_of_them=True)


def _has_contents(proved: Proved, bound: Bound) -> bool:
    """Looks at the index tensors that are not copied; False if others write them meanwhile."""
    signature, known = signature_of(proved), Knowing(bound.own)
    waiting = {copy.tensor.name for copy in bound.copies}
    try:
        check_contents(signature, bound, proved.holes, proved.verdict.complete, known, but=waiting)
    except Outdated:
        return False
    bound.guards += known.guards
    return True


def prepare(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The compiled kernel and its arguments, every contract of the launch checked, for code that is not run now.

    So no premise is copied: code for a GPU is made for index tensors that lie as these do.
    """
    proved, bound = prepare_recorded(*present(kernel, args, named))
    check_own(signature_of(proved), bound)
    check_contents(signature_of(proved), bound, proved.holes, proved.verdict.complete)
    return proved, bound


def prepare_recorded(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The same for a launch that runs later, again and again: what memory holds is then looked at, and not now."""
    signature = parse(kernel).signature
    bound = bind(signature, args, named)
    proved = compiled(kernel, bound)
    check_memory(signature, bound)
    check_groups(signature, bound, proved.groups)
    check_compares(signature, bound, proved.verdict)
    return proved, bound


_elaborated_ones: Final = Memo[dict[object, Elaborated]](dict)


def launch(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """What a call of a kernel does."""
    kernel, args, named = present(kernel, args, named)
    graph = recording.get()
    if graph is not None:
        graph.record(kernel, args, named)
        return
    backend = choice.current()
    if is_like_an_earlier(kernel, args, named, backend):
        return
    bound = bind(parse(kernel).signature, args, named)  # types, ranks, dimensions, devices; or LaunchError
    proved = compiled(kernel, bound)  # parse, prove, *raise if not proved*, lower
    check(proved, bound)  # aliasing, contracts, contents: the launch's half of the proof
    chosen = choice.backend_for(backend, kernel.name, bound.device)
    device_of(bound.device).launch(chosen, proved, bound)  # leases, code


def is_like_an_earlier(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any], backend: str) -> bool:
    """Launches by the plan of an earlier launch; False if none is like it, and nothing was done."""
    for form in forms_of(kernel, named):
        try:
            if backend in (choice.DEFAULT, form.backend) and form.proved.is_current and form.launch(args):
                return True
        except Outdated:
            pass  # another thread wrote what this one had looked at
    return False


def interpret(
    kernel: Kernel, *args: Any, order: Order = "forward", sanitize: bool = True, **constants: Any
) -> None:
    """Runs a kernel on the interpreter, its programs one after another, also one that is not proved.

    `order` is "forward", "reverse", or a number that seeds a shuffle. With `sanitize` it raises at the first race, at
    an element of an `Out` nobody wrote, and always at an access outside a tensor. A run that raises changes nothing.
    """
    from tileproof.analysis.index_entries import loaded_through
    from tileproof.backends import interpreter

    if not isinstance(kernel, Kernel):
        raise TypeError(f"tp.interpret takes a kernel, not {type(kernel).__name__}: decorate it with @tp.kernel")
    if order not in ("forward", "reverse") and not (isinstance(order, int) and order >= 0):
        raise ValueError(f'order is "forward", "reverse" or a seed of at least 0, not {formatted(order)}')
    kernel, args, constants = present(kernel, args, constants)
    signature = parse(kernel).signature
    bound = bind(signature, args, constants)
    elaborated = _elaborated(kernel, bound.specialization)
    check_memory(signature, bound)
    check_own(signature, bound)
    check_contents(signature, bound, loaded_through(elaborated.ir), known=Knowing(bound.own))
    check_groups(signature, bound, groups_of(elaborated.ir))
    choice.backend_for("interpreter", kernel.name, bound.device)
    interpreter.run(elaborated.ir, {**bound.tensors, **bound.scalars}, bound.dimensions, order=order, sanitize=sanitize)


def _elaborated(kernel: Kernel, specialization: Specialization) -> Elaborated:
    """The IR of a kernel, proved or not, from its cache while what it captured has not changed."""
    known, key = _elaborated_ones.of(kernel), key_of(specialization)
    elaborated = known.get(key)
    if elaborated is None or not elaborated.is_current:
        from tileproof.compiler.pipeline import compile_for

        elaborated = known[key] = compile_for(kernel, specialization)
    return elaborated
