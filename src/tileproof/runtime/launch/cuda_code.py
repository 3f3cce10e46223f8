"""Code for launches on a GPU: the machine code of a kernel, found in memory, found on disk, or made."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from functools import cache
from typing import Final

from tileproof.backends.cuda.codegen.layout_specialization import Specialization
from tileproof.backends.cuda.codegen.memory_order import Dependent
from tileproof.backends.cuda.codegen.program import Request
from tileproof.backends.cuda.codegen.state import Target
from tileproof.backends.cuda.device import loaded_code as running
from tileproof.backends.cuda.device.driver import Device
from tileproof.backends.scalars import require
from tileproof.compiler.bundles import without_assembler
from tileproof.compiler.cache import default, digest
from tileproof.compiler.pipeline import Cuda, lower
from tileproof.compiler.proofs import fingerprint, read_entry, write_entry
from tileproof.compiler.proved import Proved
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import LaunchError
from tileproof.ir.ops import KernelIR
from tileproof.ir.types import Access, TensorType
from tileproof.language.kernel import Memo, Schedule
from tileproof.runtime.interop.describe import address_of

from .binding import Bound
from .cuda_launches import entries_of

_making = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_loaded: dict[tuple[str, int], running.Loaded] = {}
"""By key and GPU: code is loaded once, whoever asks for it."""
_lowered_ones: Final = Memo[dict[bool, KernelIR]](dict)
"""By whether they have checks."""
_ready_ones: Final = Memo[dict[object, running.Loaded]](dict)
_early_ones: Final = Memo[dict[object, running.Loaded | None]](dict)
_PLAIN: Final = Schedule()


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of a proved kernel: for a specialization, an architecture and a schedule."""

    kernel: KernelIR
    specialization: Specialization
    target: Target
    schedule: Schedule
    serial: bool
    proof: str
    """The key of the proof; "" if it cannot be kept."""
    checked: bool = True
    dependent: Dependent | None = None
    """Whether it may begin before the kernel ahead of it has ended."""

    @property
    def key(self) -> str:
        """What its code is kept under; "" if it cannot be kept.

        Neither the Python version nor that of the assembler is part of it: code that was made elsewhere serves here.
        """
        if not self.proof:
            return ""
        return digest(
            "cuda", fingerprint(), self.proof, astuple(self.specialization), self.target.arch, self.target.version,
            self.schedule.key, self.serial, self.checked, None if self.dependent is None else self.dependent.key,
        )  # fmt: skip

    def request(self) -> Request:
        """What is to be compiled."""
        name = _symbol(self.kernel.name)
        return Request(self.kernel, self.specialization, self.target, self.schedule, name, self.serial, self.dependent)


def _symbol(name: str) -> str:
    """A kernel's name as a symbol."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name) or "kernel"


def variant(proved: Proved, bound: Bound, space: running.LaunchSpace, arch: str, *, checked: bool = True,
            addresses: Mapping[str, int] | None = None) -> Variant:  # fmt: skip
    """The form of a kernel that a launch needs. `checked=False` gives its unsafe twin, for tests."""
    kernel = _lowered(proved, checked)
    where = addresses or {name: address_of(array) for name, array in bound.tensors.items()}
    specialization = running.specialization_for(kernel, bound.tensors, where, bound.dimensions, space.programs)
    schedule, target = getattr(proved.kernel, "schedule", None) or _PLAIN, target_for(arch)
    # Code that can begin early runs in any launch.
    dependent = Dependent() if schedule.dependent and target.can_wait else None
    return Variant(kernel, specialization, target, schedule, is_serial(proved), proved.key, checked, dependent)


def _lowered(proved: Proved, checked: bool) -> KernelIR:
    """The kernel as the backend takes it."""
    known = _lowered_ones.of(proved)
    if checked not in known:
        known[checked] = lower(proved.ready if checked else proved.ir, Cuda())
    return known[checked]


def is_serial(proved: Proved) -> bool:
    """Whether programs must run one after another, for sums of floats that come out the same every time."""
    if not proved.kernel.deterministic:
        return False
    tensors = (p.value.type for p in proved.ir.parameters if isinstance(p.value.type, TensorType))
    return any(of.access is Access.SUM and of.stored_as.is_float for of in tensors)


@cache
def target_for(arch: str) -> Target:
    """What code is made for on an architecture."""
    return Target(arch)


def space_of(proved: Proved, bound: Bound) -> running.LaunchSpace:
    """The programs of a launch."""
    return running.launch_space(proved.ready, bound.dimensions, lambda name: entries_of(bound, name))


def code_of(wanted: Variant) -> running.Code:
    """The machine code of a variant, from disk if it is there."""
    key = wanted.key
    if not key:
        return running.compile_kernel(wanted.request())
    stored = default()
    code = read_entry(stored, key, ())
    if not isinstance(code, running.Code):
        try:
            code = running.compile_kernel(wanted.request())
        except LaunchError as error:
            if error.diagnostics[0].code is not Code.NO_ASSEMBLER:
                raise
            raise without_assembler(wanted.kernel.name, wanted.proof, wanted.target.arch, error) from None
        stored.put(key, write_entry(code, ()))
    return code


@cache
def _device(ordinal: int) -> Device:
    return Device(ordinal)


@cache
def arch_of(ordinal: int) -> str:
    return _device(ordinal).arch


def early(proved: Proved, wanted: Variant, unwritten: frozenset[str], ordinal: int) -> running.Loaded | None:
    """Code of a form that reads tensors early, of which the launch ahead writes none.

    None if it would read nothing early, or there is no way to make it: what was compiled elsewhere waits first.
    """
    known = _early_ones.of(proved)
    key = (wanted.specialization, wanted.target, wanted.schedule, wanted.checked, unwritten, ordinal)
    if key not in known:
        dependent = Dependent(unwritten, first_programs(wanted.schedule, ordinal))
        names = replace(wanted, dependent=dependent).request().read_first()
        known[key] = None
        if names:
            with suppress(LaunchError):
                known[key] = ready(proved, replace(wanted, dependent=replace(dependent, frozen=names)), ordinal)
    return known[key]


def first_programs(schedule: Schedule, ordinal: int) -> int:
    """How many programs of a launch may read before the kernel ahead has ended.

    Three of eight of those that a GPU holds at once: others would be in the way of what that kernel still reads.
    """
    return max(_device(ordinal).sm_count * (schedule.occupancy or 1) // (schedule.cluster or 1) * 3 // 8, 1)


@dataclass(frozen=True, slots=True)
class Compiled:
    """Code for a launch on a GPU, what it relies on, and the programs of the launch."""

    loaded: running.Loaded
    specialization: Specialization
    space: running.LaunchSpace


class CudaBackend:
    """The backend that makes code for GPUs."""

    on_gpu = True

    def compile(self, proved: Proved, bound: Bound) -> Compiled:
        """Machine code for a launch: in memory, on disk, or made now."""
        assert bound.device is not None
        require(proved.ready, bound.scalars, bound.dimensions)
        space = space_of(proved, bound)
        wanted = variant(proved, bound, space, arch_of(bound.device))
        return Compiled(ready(proved, wanted, bound.device), wanted.specialization, space)


def ready(proved: Proved, wanted: Variant, ordinal: int) -> running.Loaded:
    known = _ready_ones.of(proved)
    local_key = (wanted.specialization, wanted.target, wanted.schedule, wanted.checked, wanted.dependent, ordinal)
    loaded = known.get(local_key)
    if loaded is None:
        with _making:
            loaded = known.get(local_key)
            if loaded is None:
                key = (wanted.key, ordinal)
                if not wanted.key or key not in _loaded:
                    built = running.Loaded(wanted.kernel, code_of(wanted), _device(ordinal))
                    if not wanted.key:
                        known[local_key] = built
                        return built
                    _loaded[key] = built
                # The code is shared by kernels of one text, but not where they were written.
                loaded = known[local_key] = _loaded[key].for_kernel(wanted.kernel)
    return loaded
