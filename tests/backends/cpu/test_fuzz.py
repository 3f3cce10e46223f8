"""Random kernels give on the CPU what they give on the interpreter. Longer: `tests/fuzz/native_fuzz.py`.

The fast tier runs a few kernels of each kind; `make test-all` runs kernels for as long as `TILEPROOF_FUZZ_SECONDS`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fuzz import fuzz_kernels

TESTS = Path(__file__).resolve().parents[2]
FEW = ("--count", "2", "--seconds", "inf")
MANY = ("--seconds", os.environ.get("TILEPROOF_FUZZ_SECONDS", "4"))
FEATURES = {
    "a product": r"tp\.mma\(", "a product that is carried": r"(t\d+) = tp\.mma\(.*, \1\)", "a sum up to each": "cumsum",
    "a scan": r"tp\.scan\(", "a fold": r"tp\.reduce\(", "a fold of two": r"t\d+, t\d+ = tp\.reduce",
    "a shape": "reshape",
    "one after another": r"tp\.cat\(", "a filled tile": r"\.fill\(", "a slice": r"= t\d+\[.*\d:\d", "a turn": r"\.T$",
    "a join": r"tp\.join\(", "segments": r"tp\.segments\(", "a loop of tiles": r"for k in tp\.tiles",
    "a range": r"for q\d+ in range\(", "a while": "while ", "a branch": " if ",
    "an exchange": r"(t\d+), (t\d+) = .*, \1$",
    "a load after a store": r"(y\d+)\[.*\] = .*\n +t\d+ = \1\[", "a Sum": r": Sum\[", "a Max": r": Max\[",
    "entries": r"Index\[", "duplicates": r"y\d+\[x\d+\[i\]\] \+=", "a choice": r"tp\.where\(", "a get": r"\.get\(",
    "positions": r"\.elements", "a conversion": r"\.to\(bf16\)", "an axis of one": "None", "three axes": r"\[:, :, ",
    "an axis without a name": r'"([A-Z\d]+ )*_', "a tile that is moved": r"\.shift\(",
    "smaller tiles": r"[ij]\.tiles\(", "tiles from somewhere on": "start=much",
    "a get at none": r"\.get\(\(x\d+\[.\] // 2", "a part before a cut": r"past\.get",
    "a product behind a guard": r"if tp\.dim\(.*\n +t\d+ = folded\(tp\.mma", "8-bit floats": "f8e4m3",
    "tf32": r"to\(tf32", "a scan of two": r"t\d+, t\d+ = tp\.scan", "parts of a tile": r"tp\.cat\(\(t\d+\[",
    "a range that falls": ", -1",
    "several products": r"tp\.full\(\(\w+, \w+, \w+\), 1", "none": r"tp\.none", "a sum that goes on": '"keep"',
    "a place of a tile": r"= t\d+\[(:, )*much %", "axes in another order": r"\.permute\(",
    "kept axes": "keepdims", "no space": r"-> None:\n(?!(.|\n)*tp\.parallel)", "each": r"tp\.each",
}  # fmt: skip


@cache
def text_of(seed: int) -> str:
    return fuzz_kernels.generate(seed).text.partition("@tp.kernel")[2]


def test_every_feature_occurs() -> None:
    missing = [
        name
        for name, pattern in FEATURES.items()
        if not any(re.search(pattern, text_of(seed), re.MULTILINE) for seed in range(2000))
    ]
    assert missing == []


def test_a_seed_gives_the_same_kernel_and_arguments() -> None:
    one, two = fuzz_kernels.generate(7), fuzz_kernels.generate(7)
    assert one.text == two.text
    for a, b in zip(fuzz_kernels.arguments(one, 3), fuzz_kernels.arguments(two, 3), strict=True):
        assert np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


@pytest.mark.parametrize("kind", ["shaped", "owned"])
@pytest.mark.parametrize("limit", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"])
def test_both_backends_agree(kind: str, limit: tuple[str, ...]) -> None:
    seed = str(time.time_ns() // 1000 % 10**10)
    print(f"{kind} kernels from seed {seed} on")
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    words = [str(TESTS / "fuzz" / "native_fuzz.py"), "--kind", kind, *limit, "--seed", seed]
    done = subprocess.run(
        [sys.executable, *words], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-3000:]}"
    assert "'ran': " in done.stdout
