"""The launch cache: the plans of a kernel, by its constants and by what it was compiled for.

What decides whether a plan may be followed is in `fast`; what follows it is asked natively from `Kernel.__call__`, and
here where that could not be done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from tileproof.backends.cpu.target import ENCODED, Target, this_machine
from tileproof.compiler.proved import Proved, signature_of
from tileproof.diagnostics.quick_dataclasses import dataclass
from tileproof.frontend.captures import split
from tileproof.frontend.signature import Signature, TensorParameter
from tileproof.ir.types import Access
from tileproof.language.dtypes import DType
from tileproof.language.kernel import Kernel, Memo
from tileproof.runtime.memory.recorder import recording
from tileproof.runtime.native import Plan, Plans, ScalarArgument, readers, register_buffer
from tileproof.runtime.native.repeated_launch import PlannedForm, RepeatedLaunch, repeated_launch
from tileproof.runtime.native.structures import LaunchContext
from tileproof.runtime.stream import streams
from tileproof.runtime.tensor.tensors import Tensor

from . import backend_choice as choice

_SCALARS: Final = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")
"""The types of scalars that a launch like an earlier one may have."""
_MOST: Final = 64
"""How many sets of constants of a kernel are remembered."""
_FORMS: Final = 8
"""How many forms of a kernel with the same constants: for other element types, or for extents that are constants."""

_context: Final = LaunchContext(
    (recording, choice._chosen), choice._variables, choice._ENCODED, streams._chosen, ENCODED
)
register_buffer(Tensor, "_record")


Look: TypeAlias = tuple[int, bytes | None, int, int]
"""A place among the arguments, the record of a tensor there, the version of its memory, and the extent that its entries
point into. The record is compared by identity: it is kept here, so no other tensor has it, whatever lies where."""


@dataclass(frozen=True, slots=True)
class Form:
    """A kernel compiled for one device, and the launches of it that others can follow."""

    proved: Proved
    target: Target | None
    """The processor that its code is for; None on a GPU."""
    plans: Plans = field(default_factory=Plans)
    tensors: tuple[tuple[int, bool, bool], ...] = ()
    """Of each tensor: its place among the arguments, whether it is read, and whether it is written."""
    premises: tuple[tuple[int, TensorParameter], ...] = ()
    """The tensors whose contents the proof depends on, and their places among the arguments."""
    looked_at: dict[int, Look] = field(default_factory=dict)
    """By place, the index tensor of our own that was as wanted in the last launch."""

    @staticmethod
    def of(proved: Proved, target: Target | None) -> Form:
        """A form that nothing is remembered of yet."""
        signature = signature_of(proved)
        places = {parameter.name: place for place, parameter in enumerate(signature.arguments)}
        tensors = tuple((places[t.name], t.is_read, t.access is not Access.IN) for t in signature.tensors)
        premises = tuple((places[t.name], t) for t in signature.tensors if t.name in proved.premises)
        return Form(proved, target, Plans(), tensors, premises)

    def has_looked_at(self, look: Look) -> bool:
        """Whether an index tensor is the one of the last launch, in the same version, for the same extent."""
        last = self.looked_at.get(look[0])
        return last is not None and last[1] is look[1] is not None and last[2:] == look[2:]

    @property
    def backend(self) -> str:
        """The name of the backend whose code it is."""
        return "cuda" if self.target is None else "cpu"

    def launch(self, args: tuple[Any, ...]) -> bool:
        """Launches by a plan; False if none fits, and nothing was done. `Outdated` if memory was written meanwhile."""
        return _launchers[self.backend](self, args)

    def add(self, plan: Plan) -> None:
        """Remembers a launch, unless one like it is remembered: not all that could follow a plan may."""
        if not any(_are_alike(plan, other) for other in self.plans.kept):
            self.plans.add(plan)


FORMS: Final = Memo[dict[tuple[tuple[str, Any], ...], tuple[Form, ...]]](dict)
"""By constants."""


def _are_alike(one: Plan, other: Plan) -> bool:
    names: tuple[str, ...] = ("arguments", "words", "function", "grid", "device", "context", "join")
    if one.cpu is not None and other.cpu is not None and one.cpu.is_open and other.cpu.is_open:
        names = ("arguments", "function")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def remember(proved: Proved, constants: Mapping[str, Any], plan: Plan, target: Target | None = None) -> None:
    """Has launches like one that went the full way follow its plan, on the CPU while the code is to be for `target`."""
    _form_of(proved.kernel, tuple(constants.items()), proved, target).add(plan)


def _form_of(kernel: Kernel, key: tuple[tuple[str, Any], ...], proved: Proved, target: Target | None) -> Form:
    """What is remembered of one form of a kernel. Forms that are out of date are forgotten."""
    known = FORMS.of(kernel)
    forms = known.get(key, ())
    for form in forms:
        if form.proved is proved and form.target == target:
            return form
    if key not in known and len(known) >= _MOST:
        known.clear()
        kernel.launch_cache.clear()
    new = Form.of(proved, target)
    known[key] = (new, *(form for form in forms if form.proved.is_current))[:_FORMS]
    kernel.launch_cache[key] = kernel.recent = _repeated_launch(key, known[key])
    return new


def forms_of(kernel: Kernel, constants: Mapping[str, Any]) -> Sequence[Form]:
    """The forms that a launch with some constants may follow."""
    for value in constants.values():
        if type(value) is not int:
            return ()  # True and 1.0 are equal to 1, and differ
    return FORMS.of(kernel).get(tuple(constants.items()), ())


Launcher: TypeAlias = Callable[[Form, tuple[Any, ...]], bool]
_launchers: dict[str, Launcher] = {}
"""What launches by a plan, for each backend whose launches are remembered."""


def launch_with(backend: str, launcher: Launcher) -> None:
    """Sets what launches by the plans of a backend."""
    _launchers[backend] = launcher


def _repeated_launch(key: tuple[tuple[str, int], ...], forms: Sequence[Form]) -> RepeatedLaunch:
    """What follows launches with the same constants, unless something is unusual."""
    usual = (None, this_machine())
    ways = [PlannedForm(*split(form.proved.elaborated.captures), form.plans) for form in forms if form.target in usual]
    return repeated_launch(dict(key), ways, _context)


def are_recognized(signature: Signature, args: tuple[Any, ...]) -> bool:
    """Whether tensors of these types can be recognised: those of cupy, say, cannot."""
    readers.refresh()
    types = {reader.type for reader in readers.known()}
    pairs = zip(signature.arguments, args, strict=True)
    for parameter, value in pairs:
        if isinstance(parameter, TensorParameter):
            if type(value) not in types:
                return False
            if type(value) is Tensor:
                value.make_record()
    return True


def scalar_argument(dtype: DType, value: Any, word: int | None) -> ScalarArgument | None:
    """A scalar of a plan; None if it is of an unusual type."""
    if type(value) not in (bool, int, float) or dtype.name not in _SCALARS:
        return None
    return ScalarArgument(dtype, type(value), word)
