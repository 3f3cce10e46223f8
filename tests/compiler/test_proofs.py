"""Proofs on disk: one is found only for the kernel it was made of, and nothing that lies in the cache can do harm."""

from __future__ import annotations

import linecache
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from support.source_files import load_file, load_text
from tileproof import In, Index, Out, f32, i32
from tileproof.compiler import proofs, proved
from tileproof.compiler.cache import Cache, default
from tileproof.frontend.signature import parse
from tileproof.ir.ops import BinaryFn
from tileproof.runtime.launch.binding import bind

HEAD = """import tileproof as tp
from tileproof import In, Index, InOut, Out, T, Unique, f16, f32, f64, i32
"""
SCALED = """
@tp.kernel
def k(y: Out[f32, "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = {}
"""
GATHER = """
@tp.kernel
def k(y: Out[f32, "N"], x: In[f32, "V"], at: In[i32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = x[at[n]]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache."""
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path / "cache"))
    recall = proved.recall

    def noted(kernel: tp.Kernel, *args: Any) -> Any:
        result = recall(kernel, *args)
        _recalled.setdefault(kernel, []).append(result is not None)
        return result

    monkeypatch.setattr(proved, "recall", noted)
    with tp.backend("cpu"):
        yield tmp_path / "cache"


def launched(module: ModuleType) -> str:
    """The result of a kernel that takes y and x, as text: of its bits, so that every NaN and zero counts."""
    y, x = np.full(3, 77, np.float32), np.array([1, -2, 3], np.float32)
    try:
        module.k(y, x)
    except tp.TileproofError as error:
        return " ".join(result.code.id for result in error.diagnostics)
    return bits(*y)


def bits(*values: float) -> str:
    return str(np.array(values, np.float32).view(np.uint32).tolist())


def was_found(kernel: tp.Kernel) -> list[bool]:
    """Of each form of a kernel, whether its proof was on disk."""
    return _recalled[kernel]


_recalled: dict[tp.Kernel, list[bool]] = {}


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.tpk"))


def refilled(folder: Path, data: bytes) -> None:
    """Puts other bytes under every key, with all that the cache checks right."""
    for path in entries(folder):
        Cache(folder).put(path.parent.name + path.stem, data)


def failure(module: ModuleType) -> tuple[str, int, str]:
    """File, line and message of what a failed check reports."""
    with pytest.raises(tp.OutOfBounds) as caught:
        module.k(np.zeros(4, np.float32), np.ones(4, np.float32), np.array([0, 1, 9, 2], np.int32))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    return diagnostic.span.source.name, diagnostic.span.line, diagnostic.message


# One key, one kernel.

APART = {
    "constants": (["C = 2.0", "C = 3.0"], "x[n] * C"),
    "kinds of numbers": (["C = 2", "C = 2.5", "C = True"], "x[n] * C"),
    "zeros": (["C = 0.0", "C = -0.0"], "1.0 / (x[n] * C)"),
    "not a number": (["C = 1.0", "C = float('nan')", "C = float('inf')"], "x[n] * C"),
    "large numbers": (["C = 2**31", "C = 2**31 + 1"], "(x[n] * (C % 3))"),
    "tuples": (["C = (1.0, (2.0, 3.0))", "C = (1.0, (2.0, 4.0))"], "x[n] * C[1][1]"),
    "element types": (["C = f16", "C = f32"], "(x[n] * 0.1).to(C).to(f32)"),
    "flags": (["C = True", "C = False"], "x[n] if C else -x[n]"),
    "attributes": ([f"C = type(tp)('c'); C.D = {d}" for d in (2.0, 3.0)], "x[n] * C.D"),
    "functions of the language": (["C = tp.exp", "C = tp.exp2"], "C(x[n])"),
    "builtins": (["C = min", "C = max"], "C(x[n], 0.0)"),
    "bodies": (["def h(t): return t * 2.0", "def h(t): return t * 3.0"], "h(x[n])"),
    "captures of a helper": (["C = 2.0\ndef h(t): return t * C", "C = 3.0\ndef h(t): return t * C"], "h(x[n])"),
    "defaults": (["C = 2.0\ndef h(t, c=C): return t * c", "C = 3.0\ndef h(t, c=C): return t * c"], "h(x[n])"),
    "named defaults": ([f"C = {c}\ndef h(t, *, c=C): return t * c" for c in (2.0, 3.0)], "h(x[n])"),
    "nested helpers": (
        ["def g(t): return t * 2.0\ndef h(t): return g(t)", "def g(t): return t * 3.0\ndef h(t): return g(t)"],
        "h(x[n])",
    ),
    "tuples of helpers": (
        [f"def g(t): return t * 2.0\ndef h(t): return t * 3.0\nC = ({a}, {b})" for a, b in ("gh", "hg")], "C[0](x[n])"
    ),
    "closures": (
        [f"def made(c):\n    def h(t):\n        return t * c\n    return h\nh = made({c})" for c in (2.0, 3.0)],
        "h(x[n])",
    ),
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("what", APART)
def test_kernels_of_one_text_that_differ_in_what_they_captured(what: str) -> None:
    preludes, value = APART[what]
    texts = [f"{HEAD}{prelude}\n{SCALED.format(value)}" for prelude in preludes]
    with pytest.MonkeyPatch.context() as patch, tp.backend("interpreter"):
        patch.setenv("TILEPROOF_CACHE_DIR", "off")
        expected = [launched(load_text(text)) for text in texts]
    assert len(set(expected)) == len(texts)
    assert [launched(load_text(text)) for text in texts] == expected
    assert [launched(load_text(text)) for text in reversed(texts)] == expected[::-1]


def test_a_kernel_is_found_again() -> None:
    """Without this the tests of differences would show nothing."""
    text = HEAD + "def h(t, c=2.0): return t * min(c, 4.0)\n" + SCALED.format("h(x[n])")
    one, two = load_text(text), load_text(text)
    assert launched(one) == launched(two)
    assert (was_found(one.k), was_found(two.k)) == ([False], [True])


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i32", "T"])
def test_an_element_type_by_another_name(element: str) -> None:
    """The first kernel to be proved is of f32; the others have its text."""
    for name in ("f32", element):
        text = SCALED.replace("f32", "D").format("x[n]")
        module = load_text(f"{HEAD}D = {name}\n{text}")
        x = np.arange(5, dtype=np.float32 if name == "T" else name.replace("f", "float").replace("i", "int"))
        y = np.zeros_like(x)
        module.k(y, x)
        np.testing.assert_array_equal(y, x)


def test_an_access_by_another_name() -> None:
    guarded = "        if x[n] > 0.0:\n            y[n]"
    text = SCALED.replace("y: Out", "y: O").format("x[n]").replace("        y[n]", guarded)
    assert launched(load_text(f"{HEAD}O = InOut\n{text}")).startswith("[")
    assert launched(load_text(f"{HEAD}O = Out\n{text}")) == "TP0821"


def test_an_index_by_another_name() -> None:
    text = """
@tp.kernel
def k(y: InOut[f32, "V"], to: In[I["V"], "N"], x: In[f32, "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[to[n]] = x[n]
"""
    args = np.zeros(4, np.float32), np.array([0, 2, 1], np.int32), np.ones(3, np.float32)
    load_text(f"{HEAD}I = Unique\n{text}").k(*args)
    with pytest.raises(tp.KernelError, match="TP0801"):
        load_text(f"{HEAD}I = Index\n{text}").k(*args)


def test_captures_that_depend_on_captures() -> None:
    """Which names a kernel takes depends on the values of others: equal values under other names are no match."""
    chosen = "if FLAG:\n            y[n] = x[n] * A\n        else:\n            y[n] = x[n] * B"
    text = SCALED.replace("y[n] = {}", chosen)
    values = ("False, 0.0, 5.0", "True, 5.0, 0.0", "False, 5.0, 7.0")
    results = [launched(load_text(f"{HEAD}FLAG, A, B = {each}\n{text}")) for each in values]
    assert results == [bits(5, -10, 15), bits(5, -10, 15), bits(7, -14, 21)]


def test_options_of_the_decorator() -> None:
    text = GATHER.replace("@tp.kernel", "@tp.kernel(deny_checks=DENY)")
    args = np.zeros(2, np.float32), np.ones(2, np.float32), np.zeros(2, np.int32)
    load_text(f"{HEAD}DENY = False\n{text}").k(*args)
    with pytest.raises(tp.KernelError):
        load_text(f"{HEAD}DENY = True\n{text}").k(*args)


@pytest.mark.parametrize(("before", "after"), [(2.0, 3.0), (0.0, -0.0), (1.0, float("nan"))])
def test_a_default_that_is_replaced(before: float, after: float) -> None:
    module = load_text(f"{HEAD}def h(t, c={before}): return t / c\n{SCALED.format('h(x[n])')}")
    first = launched(module)
    module.h.__defaults__ = (after,)
    second = launched(module)
    with tp.backend("interpreter"):
        assert launched(module) == second
    module.h.__defaults__ = (before,)
    assert (launched(module), second != first) == (first, True)


def test_code_that_is_replaced() -> None:
    module = load_text(f"{HEAD}def h(t): return t * 2.0\ndef g(t): return t * 3.0\n{SCALED.format('h(x[n])')}")
    first = launched(module)
    module.h.__code__ = module.g.__code__
    with tp.backend("interpreter"):
        expected = launched(module)
    assert launched(module) == expected != first


# Where it was written.


def test_errors_point_into_the_file_that_was_launched() -> None:
    """One text in two files, and further down in a third."""
    modules = [load_text(text) for text in (HEAD + GATHER, HEAD + GATHER, HEAD + "\n\n" + GATHER)]
    results = [failure(module) for module in modules]
    lines = HEAD.count("\n") + GATHER.count("\n")
    assert [file for file, _, _ in results] == [module.__file__ for module in modules]
    assert [line for _, line, _ in results] == [lines, lines, lines + 2]
    assert {message for _, _, message in results} == {"program n=2: the index of axis 0 of x is 9, and 0:4 is allowed"}
    assert [was_found(module.k) for module in modules] == [[False], [True], [False]]


def test_errors_in_helpers_point_into_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper at one line of the kernel's file, and at the same line of another."""
    helper = "\n\n\n\ndef taken(x, p):\n    return x[p]\n"
    kernel = "\n" * 9 + GATHER.replace("x[at[n]]", "taken(x, at[n])")
    imports = HEAD.strip().replace("\n", "; ")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "of_one.py").write_text(imports + helper + kernel)
    (tmp_path / "taken_elsewhere.py").write_text(helper)
    (tmp_path / "of_two.py").write_text(f"{imports}; from taken_elsewhere import taken" + "\n" * 6 + kernel)
    for name, file in (("of_one", "of_one.py"), ("of_two", "taken_elsewhere.py")):
        for _ in range(2):
            assert failure(load_file(tmp_path / f"{name}.py"))[:2] == (str(tmp_path / file), 6)


def test_members_of_enumerations_are_kept_by_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some versions of Python name them by `getattr`, which is not read again."""
    monkeypatch.setattr(BinaryFn, "__reduce_ex__", lambda self, _: (getattr, (type(self), self.name)))
    text = HEAD + SCALED.format("x[n] * 2")
    one, two = load_text(text), load_text(text)
    assert launched(one) == launched(two)
    assert (was_found(one.k), was_found(two.k)) == ([False], [True])


def test_texts_without_a_file() -> None:
    def cell(name: str) -> ModuleType:
        text = HEAD + GATHER
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        module = ModuleType(name)
        exec(compile(text, name, "exec"), vars(module))
        return module

    one, two = cell("<cell 1>"), cell("<cell 2>")
    assert (failure(one)[0], failure(two)[0]) == ("<cell 1>", "<cell 2>")
    assert was_found(two.k) == [True]
    nowhere: dict[str, Any] = {}
    exec(compile(HEAD + GATHER, "<nowhere>", "exec"), nowhere)
    with pytest.raises(tp.KernelError, match="TP0001"):
        nowhere["k"](np.zeros(1, np.float32), np.ones(1, np.float32), np.zeros(1, np.int32))


@pytest.mark.parametrize("is_apart", [False, True])
def test_a_helper_edited_on_disk_after_its_import(
    is_apart: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs is what was imported, or nothing; and it is not taken for what is on disk now."""
    helper = "def h(t): return t * {}\n"
    kernel = SCALED.format("other.h(x[n])" if is_apart else "h(x[n])")
    file = tmp_path / "other.py" if is_apart else tmp_path / "edited.py"
    text = helper + ("" if is_apart else kernel)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "edited.py").write_text(HEAD + ("import other\n" if is_apart else "") + kernel)

    def loaded(factor: float) -> ModuleType:
        file.write_text((HEAD if not is_apart else "") + text.format(factor))
        if is_apart:
            monkeypatch.setitem(sys.modules, "other", load_file(file))
        return load_file(tmp_path / "edited.py")

    old = loaded(2.0)
    file.write_text(file.read_text().replace("2.0", "4.0"))
    linecache.checkcache()
    seen = launched(old)
    assert seen == ("TP0001" if is_apart else bits(2, -4, 6))
    assert launched(loaded(4.0)) == bits(4, -8, 12)


# What lies in the cache.


def test_a_proof_of_another_version_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + SCALED.format("x[n] * 2.0")
    launched(load_text(text))
    monkeypatch.setattr(proofs, "fingerprint", lambda: "another")
    again = load_text(text)
    launched(again)
    assert was_found(again.k) == [False]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "one byte missing": lambda data: data[:-1],
    "one byte more": lambda data: data + b"x",
    "a bit of the header": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "a bit of the body": lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_entries_are_made_anew(what: str, folder: Path) -> None:
    text = HEAD + SCALED.format("x[n] * 2.0")
    expected = launched(load_text(text))
    whole = {path: path.read_bytes() for path in entries(folder)}
    for path, data in whole.items():
        path.write_bytes(DAMAGE[what](data))
    again, third = load_text(text), load_text(text)
    assert (launched(again), was_found(again.k)) == (expected, [False])
    assert (launched(third), was_found(third.k)) == (expected, [True])


def test_an_entry_in_the_place_of_another(folder: Path) -> None:
    texts = [HEAD + SCALED.format(f"x[n] * {factor}") for factor in (2.0, 3.0)]
    expected = [launched(load_text(text)) for text in texts]
    paths = entries(folder)
    contents = [path.read_bytes() for path in paths]
    for path, data in zip(paths, contents[1:] + contents[:1], strict=True):
        path.write_bytes(data)
    assert [launched(load_text(text)) for text in texts] == expected


class Runs:
    """What a pickle does that is not one of ours: it touches a file."""

    def __init__(self, function: Any, path: Path) -> None:
        self.made = function, (str(path),)

    def __reduce__(self) -> Any:
        return self.made


def through_our_modules(path: Path) -> bytes:
    """A pickle that reaches `os.mkdir` as something of `tileproof.compiler.cache`."""
    parts = [b"tileproof.compiler.cache", b"os.mkdir", str(path).encode()]
    words = [b"\x8c" + bytes([len(part)]) + part for part in parts]
    return b"\x80\x05" + words[0] + words[1] + b"\x93" + words[2] + b"\x85R."


def test_nothing_foreign_is_run(folder: Path, tmp_path: Path) -> None:
    text, mark = HEAD + SCALED.format("x[n] * 2.0"), tmp_path / "mark"
    expected = launched(load_text(text))
    reaching = through_our_modules(mark)
    pickle.loads(reaching)
    assert mark.is_dir()
    mark.rmdir()
    assert default().directory == folder
    for data in (
        b"", b"garbage", pickle.dumps(None), pickle.dumps(()), pickle.dumps(((0, ("x",)),)), pickle.dumps((1, 2, 3)),
        pickle.dumps(((-1, ("x",)),)), pickle.dumps(((7, ()),)), pickle.dumps((("a", 1),)),
        pickle.dumps(Runs(os.mkdir, mark)), reaching,
        pickle.dumps(proofs.digest("a function of ours, not a class")), pickle.dumps(proofs.digest),
    ):  # fmt: skip
        refilled(folder, data)
        again = load_text(text)
        assert (launched(again), was_found(again.k), mark.exists()) == (expected, [False], False)


def test_a_stored_proof_still_refuses_a_load_at_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must hold no -1 is found in the kernel again, whose element types were made anew when it was read."""
    monkeypatch.setenv("TILEPROOF_CACHE_DIR", str(tmp_path))

    @tp.kernel
    def rows(y: Out[f32, "N D"], x: In[f32, "V D"], ids: In[Index["V"], "N"]) -> None:
        for n, d in tp.parallel(N=tp.each, D=4):
            y[n, d] = x[ids[n], d]

    y, x = np.zeros((2, 4), np.float32), np.ones((3, 4), np.float32)
    rows(y, x, np.array([0, 1]))
    again = rows.with_schedule(tp.Schedule())
    with pytest.raises(tp.LaunchError, match="-1"):
        again(y, x, np.array([-1, 0]))


@tp.kernel(deny_checks=True)
def fits_when_launched(y: Out[f32, "Z C"], x: In[f32, "C"], used: In[i32, "Z"], *, B: int = 64) -> None:
    """A product of a number that is read and an extent: whether it fits 64 bits is compared at launch."""
    for z, c in tp.parallel(Z=tp.each, C=B):
        first = tp.clip(used[z], 0, tp.dim("C")) * tp.dim("Z")
        y[z, c] = tp.where(c.elements < first, x[c], 0)


def test_a_proof_with_compares_of_ranges_is_found_again() -> None:
    args = np.zeros((4, 8), np.float32), np.ones(8, np.float32), np.full(4, 2, np.int32)
    bound = bind(parse(fits_when_launched).signature, args, {})
    result = proved.compiled_for(fits_when_launched, bound.specialization)
    assert result.key
    assert result.verdict.compares
    again = proved.compiled_for(fits_when_launched, bound.specialization)
    assert _recalled[fits_when_launched] == [False, True]
    assert again.verdict.compares == result.verdict.compares


def test_what_only_uses_the_compiler_is_no_part_of_the_fingerprint(tmp_path: Path, monkeypatch: Any) -> None:
    root = tmp_path / "tileproof"
    for folder in ("runtime", "kernels", "cli", "ir"):
        (root / folder).mkdir(parents=True)
        (root / folder / "file.py").write_text("one")
    monkeypatch.setattr(proofs, "__file__", str(root / "runtime" / "proofs.py"))
    before = proofs.fingerprint.__wrapped__()
    for folder in ("kernels", "cli"):
        (root / folder / "file.py").write_text("another")
    assert proofs.fingerprint.__wrapped__() == before
    (root / "ir" / "file.py").write_text("another")
    assert proofs.fingerprint.__wrapped__() != before
