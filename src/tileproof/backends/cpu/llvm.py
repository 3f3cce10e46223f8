"""LLVM: text in, machine code out, machine code into memory. The only file that knows llvmlite.

llvmlite is a large library, so it is imported when it is first needed. Everything here may be called from any thread.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

VERIFY = "TILEPROOF_VERIFY"
"""The variable that makes every module be verified before it is compiled."""
_lock = threading.RLock()
"""Held while llvmlite works, which has a lock of its own: a process forked meanwhile could never take that again.
So everything of llvmlite is also closed while this is held, not whenever Python collects it."""


class Processor(Hashable, Protocol):
    """What code is made for, in LLVM's words. `target` describes those there are."""

    @property
    def name(self) -> str: ...
    @property
    def features(self) -> str: ...
    @property
    def triple(self) -> str: ...


class MalformedText(Exception):
    """An internal error: LLVM does not take text that was written here."""

    def __init__(self, complaint: str, text: str) -> None:
        details = f"{complaint.rstrip()}\n{_excerpt(complaint, text)}"
        super().__init__(f"internal error, please report it: LLVM rejects the code of a kernel\n{details}")


def _excerpt(complaint: str, text: str) -> str:
    """The lines of the text around the one a complaint names, that one marked."""
    named = re.search(r"<string>:(\d+):\d+", complaint)
    if named is None:
        return ""
    wrong, lines = int(named[1]), text.splitlines()
    first = max(wrong - 3, 1)
    excerpt = enumerate(lines[first - 1 : wrong + 2], start=first)
    return "\n".join(f"{'>' if number == wrong else ' '} {number:5} {line}" for number, line in excerpt)


def version() -> str:
    """The versions of llvmlite and of LLVM, which decide what a text compiles to."""
    import llvmlite

    with _lock:
        return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, _binding().llvm_version_info))}"


def host_triple() -> str:
    """The architecture and system of this process, as LLVM names them."""
    with _lock:
        return str(_binding().get_process_triple())


def host_cpu() -> str:
    """LLVM's name for this machine's processor."""
    with _lock:
        return str(_binding().get_host_cpu_name())


def host_features() -> str:
    """What this machine's processor has (`+avx2`) and has not (`-sse4a`); empty where LLVM does not know."""
    with _lock:
        try:
            return str(_binding().get_host_cpu_features().flatten())
        except RuntimeError:
            return ""


def compile_object(text: str, target: Processor) -> bytes:
    """Machine code for a module, as the bytes of an object file. The target may be another machine's."""
    with _optimised(text, target) as (module, machine):
        return bytes(machine.emit_object(module))


def load_object(code: bytes, names: Sequence[str]) -> dict[str, int]:
    """Loads an object file for good; gives the addresses of functions in it. No two objects may define one name."""
    with _lock:
        engine = _engine()
        with _binding().ObjectFileRef.from_data(code) as file:
            engine.add_object_file(file)
        engine.finalize_object()
        addresses = {name: int(engine.get_function_address(name)) for name in names}
    missing = [name for name, address in addresses.items() if address == 0]
    if missing:
        raise KeyError(f"an object file does not define {', '.join(missing)}")
    return addresses


@contextmanager
def _optimised(text: str, target: Processor) -> Iterator[tuple[Any, Any]]:
    """A module made of the text, ready for code generation, and the machine to generate it with.

    The text is already vectorised and unrolled: two cheap passes tidy it, and the usual pipelines only cost time.
    """
    with _lock:
        llvm, machine = _binding(), _machine(target)
        # A context of its own: types and constants of the global one would never be freed.
        with llvm.create_context() as context, _parsed(text, context) as module:
            with machine.target_data as layout:
                module.triple, module.data_layout = target.triple, str(layout)
            _tidy(module, target)
            with _without_strength_reduction():
                yield module, machine


@contextmanager
def _without_strength_reduction() -> Iterator[None]:
    """Leaves out a pass that takes half of the time for small kernels and makes none faster. The switch is the whole
    process's, and others may compile with LLVM too, so it is set back."""
    llvm = _binding()
    llvm.set_option("", "-disable-lsr=true")
    try:
        yield
    finally:
        llvm.set_option("", "-disable-lsr=false")


@contextmanager
def _parsed(text: str, context: Any) -> Iterator[Any]:
    """The text as a module, which is gone before its context is."""
    try:
        module = _binding().parse_assembly(text, context)
    except RuntimeError as error:
        raise MalformedText(str(error), text) from None
    with module:
        if os.environ.get(VERIFY):
            try:
                module.verify()
            except RuntimeError as error:
                raise MalformedText(str(error), text) from None
        yield module


def _tidy(module: Any, target: Processor) -> None:
    passes, builder = _passes(target)
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


@cache
def _passes(target: Processor) -> tuple[Any, Any]:
    """The passes and what they know of the target. They are made once: llvmlite never frees all of them."""
    llvm = _binding()
    passes = llvm.create_new_function_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    return passes, llvm.create_pass_builder(_machine(target), options)


@cache
def _binding() -> Any:
    """llvmlite, able to generate code for all its processors."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@cache
def _machine(target: Processor) -> Any:
    return _new_machine(target.triple, target.name, target.features)


def _new_machine(triple: str, cpu: str, features: str) -> Any:
    known = _binding().Target.from_triple(triple)
    return known.create_target_machine(cpu=cpu, features=features, opt=1, jit=True)


@cache
def _engine() -> Any:
    """The one engine that holds all loaded code. It owns its machine, which is therefore no other's."""
    llvm = _binding()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(host_triple(), "", ""))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
