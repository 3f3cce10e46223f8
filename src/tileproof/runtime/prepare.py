"""What a launch passes before it runs, now or in a graph: arguments are bound, the kernel proved, contracts checked."""

from __future__ import annotations

from typing import Any, Final

from tileproof.frontend.parse import parse
from tileproof.frontend.specialisation import Specialisation
from tileproof.language.kernel import Kernel, Memo

from .arguments import Bound, bind
from .contracts import check_compares, check_contents, check_groups
from .leases import Outdated
from .memory import check_memory
from .owned import Knowing, check_own
from .premises import separate
from .proved import Proved, compiled_for, signature_of

_proved: Final = Memo[dict[object, Proved]](dict)


def compile(kernel: Kernel, specialisation: Specialisation) -> Proved:
    """A kernel proved and lowered for some element types and constants; `KernelError` if it is not proved.

    Remembered while what it captured has not changed.
    """
    known, key = _proved.of(kernel), key_of(specialisation)
    found = known.get(key)
    if found is None or not found.is_current:
        found = known[key] = compiled_for(kernel, specialisation)
    return found


def key_of(specialisation: Specialisation) -> object:
    """What tells specialisations apart. By text: 0.0 and -0.0 are equal and differ, NaN is not even equal to itself."""
    return specialisation.dtypes, repr(specialisation.constants)


def check(found: Proved, bound: Bound) -> None:
    """The launch's half of the proof: what its memory, its extents and the contents of its index tensors must be.

    Premises in memory that others can write get memory of the launch's own, which is filled and looked at under the
    leases.
    """
    signature = signature_of(found)
    check_memory(signature, bound)
    check_own(signature, bound)
    check_groups(signature, bound, found.groups)
    check_compares(signature, bound, found.verdict)
    separate(found, signature, bound)
    while not _has_contents(found, bound):
        separate(found, signature, bound, all_of_them=True)


def _has_contents(found: Proved, bound: Bound) -> bool:
    """Looks at the index tensors that are not copied; False if others write them meanwhile."""
    signature, known = signature_of(found), Knowing(bound.own)
    waiting = {copy.tensor.name for copy in bound.copies}
    try:
        check_contents(signature, bound, found.holes, found.verdict.complete, known, but=waiting)
    except Outdated:
        return False
    bound.guards += known.guards
    return True


def prepare(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The compiled kernel and its arguments, every contract of the launch checked, for code that is not run now.

    So no premise is copied: code for a GPU is made for index tensors that lie as these do.
    """
    found, bound = prepare_recorded(kernel, args, named)
    check_own(signature_of(found), bound)
    check_contents(signature_of(found), bound, found.holes, found.verdict.complete)
    return found, bound


def prepare_recorded(kernel: Kernel, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Proved, Bound]:
    """The same for a launch that runs later, again and again: what memory holds is then looked at, and not now."""
    signature = parse(kernel).signature
    bound = bind(signature, args, named)
    found = compile(kernel, bound.specialisation)
    check_memory(signature, bound)
    check_groups(signature, bound, found.groups)
    check_compares(signature, bound, found.verdict)
    return found, bound


