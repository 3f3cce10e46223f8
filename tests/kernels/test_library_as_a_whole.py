"""The kernel library as a whole: safe without exception, complete, quick to import, and tuned within its means."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Final

import pytest

import tileproof as tp
import tileproof.kernels as tk
from tileproof.analysis.prove import prove
from tileproof.analysis.verdict import Verdict
from tileproof.backends.interpreter.replay import replay
from tileproof.cli.audit import examine
from tileproof.compiler.pipeline import compile_for
from tileproof.diagnostics.errors import KernelError
from tileproof.frontend.optional import forms, label
from tileproof.frontend.signature import ContentOf, TensorParameter, parse
from tileproof.frontend.source import RuledOut
from tileproof.frontend.specialization import generic
from tileproof.ir.ops import KernelIR
from tileproof.tuning import Choice, Tunable

FUNCTIONS: Final = [(family, name) for family, names in tk.FAMILIES.items() for name in names.split()]

CHECKED: Final[dict[str, str]] = {}
"""Kernels that keep checks for run time, and why. Every other kernel denies them."""

INDEXED: Final = {
    "append_layers_kernel": {"positions": 'Index["C"]', "slots": 'Unique["P*S"]'},
    "fused_decode_attention_kernel": {"positions": 'Index["C"]', "table": 'Index["P"]'},
    "prefill_attention_kernel": {"table": 'Index["P"]'},
    "ragged_attention_kernel": {"table": 'Index["P"]', "rows": 'Unique["T"]', "sequence": 'Index["N"]'},
    "count_tokens_kernel": {"tokens": 'Index["V"]'},
    "count_tokens_slots_kernel": {"tokens": 'Index["V"]', "slots": 'Unique["S"]'},
    "cross_entropy_backward_kernel": {"labels": 'Index["V"]'},
    "cross_entropy_kernel": {"labels": 'Index["V"]'},
    "cross_entropy_lanes_kernel": {"labels": 'Index["V"]'},
    "embedding_backward_kernel": {"ids": 'Index["V"]'},
    "embedding_kernel": {"ids": 'Index["V"]'},
    "embedding_whole_kernel": {"ids": 'Index["V"]'},
    "gather_rows_kernel": {"ids": 'Index["V"]'},
    "gather_rows_whole_kernel": {"ids": 'Index["V"]'},
    "grouped_matmul_kernel": {"offsets": 'Offsets["N"]'},
    "histogram_kernel": {"x": 'Index["B"]'},
    "mask_logits_kernel": {"rows": 'Index["S"]'},
    "norm_rope_append_kernel": {"positions": 'Index["C"]', "slots": 'Unique["P*S"]'},
    "paged_append_kernel": {"slots": 'Unique["P*S"]'},
    "paged_attention_far_kernel": {"table": 'Index["P"]'},
    "paged_attention_kernel": {"table": 'Index["P"]'},
    "paged_attention_near_kernel": {"table": 'Index["P"]'},
    "penalized_slots_kernel": {"slots": 'Index["S"]'},
    "rope_kernel": {"positions": 'Index["P"]'},
    "scatter_rows_kernel": {"ids": 'Unique["V"]'},
    "scatter_rows_whole_kernel": {"ids": 'Unique["V"]'},
    "token_logprobs_kernel": {"tokens": 'Index["V"]'},
    "varlen_attention_kernel": {"q_offsets": 'Offsets["T"]', "k_offsets": 'Offsets["U"]'},
}
"""Kernels whose indices come from data, and the element types that settle them before a launch."""

SIZES: Final[dict[str, dict[str, int]]] = {
    "one": {},
    "ragged": {"D": 72, "E": 36, "K": 144, "N": 77, "M": 33, "C": 45, "R": 5, "S": 3, "G": 3, "V": 1001, "I": 70},
    "usual": {
        "M": 512, "N": 1024, "K": 2048, "C": 1024, "D": 128, "E": 64, "R": 4, "S": 16, "G": 8, "V": 32000, "I": 3072,
        "B": 4, "H": 32, "W": 32, "T": 512, "P": 128, "L": 64, "O": 64,
    },
    "large": {
        "M": 4096, "N": 8192, "K": 8192, "C": 16384, "D": 256, "E": 128, "R": 8, "S": 64, "G": 8, "V": 151936,
        "I": 25600, "B": 16, "H": 64, "W": 64, "T": 8192, "P": 4096, "L": 512, "O": 256,
    },
}  # fmt: skip
"""Extents by the names that dimensions have in the library; those that are not named are 1."""
FLAGS: Final = ("ACTIVATION", "BACK", "PAD", "SWAPPED")
"""Constants that may be 0."""


def every_kernel() -> Iterator[tp.Kernel]:
    """All kernels of all files of the library, whether or not a family lists them."""
    for each in pkgutil.iter_modules(tk.__path__):
        module = import_module(f"{tk.__name__}.{each.name}")
        kernels = (value for value in vars(module).values() if isinstance(value, tp.Kernel))
        own = {id(kernel): kernel for kernel in kernels if not kernel.absent}
        yield from (kernel for kernel in own.values() if kernel.function.__module__ == module.__name__)


def every_tunable() -> Iterator[Tunable]:
    for family in tk.FAMILIES:
        yield from getattr(import_module(f"{tk.__name__}.{family}"), "TUNABLES", ())


KERNELS: Final = sorted(every_kernel(), key=lambda kernel: kernel.name)
FORMS: Final = [form for kernel in KERNELS for form in forms(kernel)]
"""Those that no launch of the library asks for too, but for those that a contract rules out."""
TUNABLES: Final = list(every_tunable())


@cache
def verdict_on(kernel: tp.Kernel) -> Verdict:
    """How a kernel fares if nothing may be left for run time."""
    return prove(compiled(kernel, ()), replay, deny_checks=kernel.name not in CHECKED)


@cache
def compiled(kernel: tp.Kernel, constants: tuple[tuple[str, int], ...]) -> KernelIR:
    """A kernel for the first element types it takes, with these constants; its dimensions are open."""
    refused: list[KernelError] = []
    for each in generic(parse(kernel).signature, dict(constants)):
        try:
            return compile_for(kernel, each).ir
        except RuledOut:
            raise
        except KernelError as error:
            refused.append(error)
    raise refused[0]


# Safe.


def test_no_file_of_tileproof_has_an_unsafe_block() -> None:
    audit = examine([str(Path(tp.__file__).parent)])
    assert (audit.blocks, audit.problems) == ([], [])
    assert audit.files > 200


@pytest.mark.parametrize("kernel", FORMS, ids=label)
def test_a_kernel_is_proved_with_nothing_left_for_run_time(kernel: tp.Kernel) -> None:
    try:
        found = verdict_on(kernel)
    except RuledOut:
        return
    assert found.findings == ()
    assert bool(found.residuals) == (kernel.name in CHECKED)
    assert kernel.deny_checks == (kernel.name not in CHECKED), "say @tp.kernel(deny_checks=True)"


def test_kernels_that_keep_checks_say_why() -> None:
    by_name = {kernel.name: kernel for kernel in KERNELS}
    for name, reason in CHECKED.items():
        assert reason in (by_name[name].function.__doc__ or "")


def test_kernels_with_indices_from_data_are_those_that_are_known() -> None:
    found = {}
    for kernel in KERNELS:
        tensors = [each for each in parse(kernel).signature.arguments if isinstance(each, TensorParameter)]
        read = [each for each in tensors if each.access.reads]
        contents = {each.name: said(each.element) for each in read if isinstance(each.element, ContentOf)}
        if contents:
            found[kernel.name] = contents
    assert found == INDEXED


def said(element: ContentOf) -> str:
    return f'{element.kind}["{element.dimension}"]'


def test_names_of_kernels_are_their_own() -> None:
    names = [kernel.name for kernel in KERNELS]
    assert len(names) == len(set(names))
    assert [name for name in names if not name.endswith("_kernel")] == []


def test_a_kernel_says_what_it_does() -> None:
    assert [kernel.name for kernel in KERNELS if not kernel.function.__doc__] == []


# Complete.


@pytest.mark.parametrize(("family", "name"), FUNCTIONS, ids=lambda word: word)
def test_a_function_is_there_with_words_an_example_and_types(family: str, name: str) -> None:
    function = getattr(tk, name)
    assert isinstance(function, FunctionType)
    assert function.__module__ == f"{tk.__name__}.{family}"
    doc = function.__doc__ or ""
    assert doc.split("\n", 1)[0].strip()
    assert "Example:" in doc
    assert set(function.__annotations__) == {*function.__code__.co_varnames[: _parameters(function)], "return"}


def _parameters(function: FunctionType) -> int:
    return function.__code__.co_argcount + function.__code__.co_kwonlyargcount


def test_a_kernel_is_reached_by_its_name() -> None:
    assert isinstance(tk.rms_norm_kernel, tp.Kernel)
    assert {"rms_norm", "matmul"} <= set(dir(tk))
    with pytest.raises(AttributeError, match="has no attribute 'matmull'"):
        tk.matmull  # noqa: B018


def test_importing_the_library_loads_no_family_and_no_array_library() -> None:
    heavy = ["numpy", "llvmlite", "z3", *(f"tileproof.kernels.{family}" for family in tk.FAMILIES)]
    program = f"import sys, tileproof.kernels as tk; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# Tuned.


def sizes_for(tunable: Tunable, which: str) -> dict[str, int]:
    """Extents of all that the kernels of a tunable, or its records, know by name."""
    signatures = [parse(kernel).signature for kernel in tunable.kernels]
    names = {*tunable.exact, *(name for each in signatures for name in each.dimensions)}
    names |= {name for each in signatures for name in each.static}
    extents = {name: SIZES[which].get(name, 1) for name in sorted(names)}
    return {**extents, **{name: 0 for name in extents if name == "PAD"}}


def problems_of(choice: Choice, tunable: Tunable) -> Iterator[str]:
    """What would keep a choice from being launched."""
    if all(choice.kernel is not each for each in tunable.kernels):
        yield f"{choice.kernel.name} is no kernel of {tunable.name}"
    signature = parse(choice.kernel).signature
    known = {each.name: each for each in signature.constants}
    yield from (f"{choice.kernel.name} has no constant {name}" for name in choice.constants if name not in known)
    for name, each in known.items():
        if each.default is None and name not in signature.static and name not in choice.constants:
            yield f"{choice.label} leaves {name} open"
    for name, value in choice.constants.items():
        if not (isinstance(value, int) and (value > 0 or (value == 0 and name in FLAGS))):
            yield f"{choice.label}: {name} is {value!r}"


@pytest.mark.sweep(42)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_choices_of_a_tunable_name_kernels_and_constants_that_are_there(tunable: Tunable, target: str) -> None:
    for which in SIZES:
        sizes = sizes_for(tunable, which)
        default, space = tunable.default(sizes, target), list(tunable.space(sizes, target))
        assert [said for each in (default, *space) for said in problems_of(each, tunable)] == [], which
        labels = [each.label for each in space]
        assert len(labels) == len(set(labels)), which
        assert len(space) <= 100, which


@pytest.mark.sweep(42)
@pytest.mark.parametrize("target", ["cpu", "sm_90"])
@pytest.mark.parametrize("tunable", TUNABLES, ids=lambda tunable: tunable.name)
def test_the_default_of_a_tunable_is_a_kernel_that_is_accepted(tunable: Tunable, target: str) -> None:
    choice = tunable.default(sizes_for(tunable, "usual"), target)
    compiled(choice.kernel, tuple(choice.constants.items()))


def test_tunables_are_told_apart_by_name() -> None:
    by_name: dict[str, Tunable] = {}
    for each in TUNABLES:
        assert by_name.setdefault(each.name, each) is each, each.name


def test_every_tunable_has_records_that_are_fresh_or_none() -> None:
    from tileproof.tuning import records

    folder = Path(records.SHIPPED)
    found: Mapping[str, Tunable] = {each.name: each for each in TUNABLES}
    for path in sorted(folder.glob("*.json")):
        name = path.stem.partition(".")[0]
        assert name in found, path.name
        assert records.read(path, found[name].kernels).entries, path.name
