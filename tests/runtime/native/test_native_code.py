"""The native code: what it is made of, that it is tried before it is trusted, that it loses and keeps nothing."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import struct
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from oracles.recording_driver import Driver, buffer_of, entries, plan_of, plans_of
from tileproof.backends.cpu import llvm, target
from tileproof.language.dtypes import I64
from tileproof.runtime import native as fast
from tileproof.runtime.native import Plans, loader, matcher, readers, structures

NATIVE = Path(fast.__file__).parent


def native() -> loader.Native:
    result = loader.loaded()
    assert isinstance(result, loader.Native), result
    return result


def arrays(count: int = 3) -> tuple[Any, ...]:
    return tuple(np.zeros((4, 8), np.float32) for _ in range(count))


# What it is made of.


def test_the_text_is_made_of_the_source() -> None:
    digest = hashlib.sha256((NATIVE / "fast.c").read_bytes()).hexdigest()
    first = (NATIVE / "fast.ll").read_text(encoding="utf-8").splitlines()[0]
    assert first.endswith(f" {digest}"), "fast.c has changed: run tools/build_native.py"


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["sse2", "avx512", "neon"])
def test_it_compiles_for_every_processor_and_calls_nothing_by_name(name: str) -> None:
    text = (NATIVE / "fast.ll").read_text(encoding="utf-8")
    defined, undefined = symbols(llvm.compile_object(text, target.named(name)))
    assert {"tileproof_fast_launch", "tileproof_fast_follow", "tileproof_fast_match"} <= defined
    assert undefined == set()


def test_a_call_by_name_would_be_seen() -> None:
    text = "declare void @elsewhere()\ndefine void @here() {\n  call void @elsewhere()\n  ret void\n}\n"
    for name in ("sse2", "neon"):
        assert symbols(llvm.compile_object(text, target.named(name))) == ({"here"}, {"elsewhere"})


def symbols(code: bytes) -> tuple[set[str], set[str]]:
    """The names that an object file of ELF defines, and those that it wants from others."""
    assert code[:6] == b"\x7fELF\x02\x01"
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<2H", code, 58)
    sections = [struct.unpack_from("<2I4Q2I2Q", code, start + size * place) for place in range(count)]
    (table,) = [each for each in sections if each[1] == 2]
    names = code[sections[table[6]][4] :][: sections[table[6]][5]]
    defined, undefined = set(), set()
    for place in range(table[4], table[4] + table[5], table[9]):
        name, kind, _, section = struct.unpack_from("<I2BH", code, place)
        text = names[name : names.index(b"\0", name)].decode()
        if not section:
            undefined.update([text] if text else [])
        elif kind & 15 in (1, 2):  # data and functions
            defined.add(text)
    return defined, undefined


def test_the_limits_are_those_of_the_source() -> None:
    source = (NATIVE / "fast.c").read_text(encoding="utf-8")
    for name in ("MOST_ARGUMENTS", "MOST_WORDS", "MOST_AXES", "MOST_TYPES"):
        assert f"{name} = {getattr(structures, name)}" in source
    assert structures.LOWEST == 1 << 16
    assert "LOWEST = 1 << 16" in source


def test_launch_is_native_here() -> None:
    assert type(fast.launch).__name__ == "builtin_function_or_method"
    assert fast.available().startswith("native")


# That it is tried before it is trusted.


@pytest.mark.parametrize(
    ("name", "value"), [("name", "pypy"), ("abiflags", "t"), ("byteorder", "big"), ("HEADER", 24)]
)
def test_a_python_that_was_never_tried_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    loader._check_python()
    match name:
        case "name":
            monkeypatch.setattr(sys.implementation, "name", value)
        case "abiflags" | "byteorder":
            monkeypatch.setattr(sys, name, value)
        case _:
            monkeypatch.setattr(loader, name, value)
    with pytest.raises(loader.Unusable):
        loader._check_python()


def test_arrays_that_are_seen_wrongly_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, right = readers.known()[0], readers.see
    samples = list(loader._samples(reader))
    assert all(native()._sees_rightly(reader, sample) for sample in samples)
    changes: list[Callable[[Any], dict[str, Any]]] = [
        lambda seen: {"address": seen.address + 8},
        lambda seen: {"element": np.dtype(np.complex64)},
        lambda seen: {"shape": seen.shape[::-1], "strides": seen.strides[::-1]},
        lambda seen: {"strides": tuple(step + 4 for step in seen.strides)},
        lambda seen: {"device": (2, 0)},
        lambda seen: {"is_writable": not seen.is_writable},
    ]
    for change in changes:

        def wrong(values: Any, change: Callable[[Any], dict[str, Any]] = change) -> Any:
            seen = right(values)
            assert seen is not None
            return seen._replace(**change(seen))

        monkeypatch.setattr(readers, "see", wrong)
        assert not all(native()._sees_rightly(reader, sample) for sample in samples)


@pytest.mark.parametrize("what", ["the compiler", "the text"])
def test_without_native_code_launches_are_matched_in_python(what: str) -> None:
    """In a process of its own: code is loaded once."""
    broken = {"the compiler": 'sys.modules["llvmlite"] = None', "the text": 'loader._TEXT = pathlib.Path("nowhere")'}
    script = dedent(f"""
        import os, pathlib, sys, tempfile
        os.environ["TILEPROOF_CACHE_DIR"] = tempfile.mkdtemp()
        from tileproof.runtime import native as fast
        from tileproof.runtime.native import loader, matcher
        {broken[what]}
        print(fast.available())
        assert fast.match is matcher.match
        assert fast.launch(fast.Plans(), ()) is False
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("in Python: ")
    assert len(done.stdout.splitlines()) == 1


def test_what_is_asked_for_loads_it_and_nothing_else_does() -> None:
    script = """
import sys
from tileproof.runtime import native as fast
plans = fast.Plans()
assert "llvmlite" not in sys.modules
fast.launch
assert "llvmlite" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = fast.nothing_of_the_kind


# Types.


def test_a_slot_is_found_wherever_it_is() -> None:
    class Base:
        __slots__ = ("a", "b")

    class Derived(Base):
        __slots__ = ("__dict__", "c")

    for name in "abc":
        thing, mark = Derived(), object()
        setattr(thing, name, mark)
        assert ctypes.c_size_t.from_address(id(thing) + readers.slot_of(Derived, name)).value == id(mark)


@pytest.mark.parametrize("kind", [int, type("Plain", (), {"a": 1}), type("Open", (), {})])
def test_a_type_without_the_slot_is_refused(kind: type) -> None:
    with pytest.raises(ValueError, match="slot"):
        fast.register_buffer(kind, "a")


def test_a_type_is_registered_once_and_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_readers", [])
    monkeypatch.setattr(readers, "refresh", lambda: None)
    kinds = [type(f"Kind{number}", (), {"__slots__": ("a",)}) for number in range(structures.MOST_TYPES)]
    for kind in kinds[: structures.MOST_TYPES - 2]:
        fast.register_buffer(kind, "a")
        fast.register_buffer(kind, "a")
    assert len(readers.known()) == structures.MOST_TYPES - 2
    with pytest.raises(ValueError, match=f"Kind{structures.MOST_TYPES - 2}"):
        fast.register_buffer(kinds[-2], "a")


# That it loses and keeps nothing.


@pytest.mark.parametrize("goes", [True, False])
def test_no_reference_is_lost_or_kept(goes: bool) -> None:
    args = (*arrays(), buffer_of(np.zeros((4, 8), np.float32)), 123456.5, 10**12)
    plan = plan_of((*arrays(4), 1.0, 1), grid=(1, 1, 1))
    if goes:
        args = (*args[:5], 10**6)
    plans = plans_of(plan)
    assert fast.launch(plans, args) is goes
    kept = plans._table
    watched = [plans, kept, kept[0], plan, args, *args, args[3].record, True, False, None, np.float32, Plans]
    launch = fast.launch
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(100_000):
        launch(plans, args)
    after = [sys.getrefcount(each) for each in watched]
    changes = [two - one for one, two in zip(before, after, strict=True)]
    assert all(abs(change) < 50 for change in changes), changes


def test_no_memory_is_kept() -> None:
    args = (*arrays(), 0.5, 7)
    plans, launch = plans_of(plan_of(args)), fast.launch
    wrong = (*args[:-1], 2**80)
    for _ in range(100):
        launch(plans, args)
        launch(plans, wrong)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(100_000):
            launch(plans, args)
            launch(plans, wrong)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10_000


def test_plans_die_with_their_kernel_and_when_cleared() -> None:
    class Code:
        """What a plan keeps."""

    args = arrays()
    code = Code()
    plans = plans_of(plan_of(args, driver := Driver(), keep=(code, driver)))
    fast.launch(plans, args)
    alive = weakref.ref(code)
    del code
    gc.collect()
    assert alive() is not None
    plans.clear()
    gc.collect()
    assert alive() is None


# Threads.


@pytest.mark.parametrize("releases_gil", [True, False])
def test_threads_never_mix_their_words(releases_gil: bool) -> None:
    """Each thread launches on its own two arrays, which the driver counts in, while plans come and go."""
    turns, launch = 3000, fast.launch

    def plan() -> fast.Plan:
        both = tuple(fast.TensorArgument(I64, (1,), (8,), 8, True, word) for word in (0, 1))
        return plan_of((), arguments=both, words=(0, 0), entry=entries()["counter"], releases_gil=releases_gil)

    plans = plans_of(plan())
    counted: list[tuple[int, int, int]] = []

    def work() -> None:
        one, two = np.zeros(1, np.int64), np.zeros(1, np.int64)
        went = sum(launch(plans, (one, two)) for _ in range(turns))
        counted.append((went, int(one[0]), int(two[0])))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        plans.clear()
        plans.add(plan())
    for thread in threads:
        thread.join()
    assert len(counted) == 4
    assert all(went == one == two for went, one, two in counted)
    assert sum(went for went, _, _ in counted) > 0


def test_types_that_only_python_reads_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    args, driver = arrays(), Driver()
    plans = plans_of(plan_of(args, driver))
    monkeypatch.setattr(native()._runtime.reader[0], "how", structures.How.PYTHON)
    assert fast.launch(plans, args) is False
    assert fast.match(plans, args) is None
    assert matcher.match(plans, args) is not None
    assert driver.calls == 0
