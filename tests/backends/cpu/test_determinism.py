"""The same arguments give the same bits, however many threads share the work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Sum, f32
from tileproof.backends.cpu.device.pool import JOB, Arena, Pool

TESTS = Path(__file__).resolve().parents[2]
CODE = """
import hashlib
import sys
import numpy as np
import tileproof as tp
from corpus import SAFE
from corpus.safe_examples import MODULES

examples = [(getattr(module, name), module) for name, module in MODULES.items()]
launches = [(kernel, *module.arguments(seed=seed)) for kernel, module in examples for seed in (0, 1)]
launches += [(case.kernel, *launch) for case in SAFE if case.kernel.name not in MODULES for launch in case.launches()]
launches = launches[:: int(sys.argv[1])]
for kernel, arguments, constants in launches:
    with tp.backend("cpu"):
        kernel(*arguments, **constants)
    held = b"".join(np.asarray(argument).tobytes() for argument in arguments if argument is not None)
    print(kernel.name, hashlib.sha256(held).hexdigest())
x = np.random.default_rng(0).standard_normal((3, 40_001)).astype(np.float32)

@tp.kernel
def sums(s: tp.Sum[tp.f32, "R"], x: tp.In[tp.f32, "R N"]) -> None:
    for r, i in tp.parallel(R=tp.each, N=64):
        s[r] += x[r, i].sum()

total = np.zeros(3, np.float32)
with tp.backend("cpu"):
    sums(total, x)
print("sums", total.tobytes().hex())
"""


def digests(threads: int, step: int, folder: Path) -> list[str]:
    """What every `step`-th launch of the examples and of the corpus leaves, on that many threads."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    script = folder / "digests.py"
    script.write_text(CODE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": path, "TILEPROOF_THREADS": str(threads)}
    done = subprocess.run([sys.executable, str(script), str(step)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_results_do_not_depend_on_the_number_of_threads(tmp_path: Path, step: int) -> None:
    one = digests(1, step, tmp_path)
    assert len(one) > 200 // step
    assert digests(5, step, tmp_path) == one


@tp.kernel
def sums_of_joins(s: Sum[f32, "1"], x: In[f32, "M N"]) -> None:
    for m, z in tp.parallel(M=tp.each, N=tp.split(2)):
        s[0] += tp.join(x[m, z].sum(), over=z)


def test_what_follows_a_join_adds_to_copies_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As threads would: whoever is first, no item adds to what another adds to."""

    def backwards(_: Pool, code: int, args: int, total: int, chunk: int, amount: int, arena: Arena) -> None:
        for item in reversed(range(total)):
            JOB(code)(args, arena.address, item, item + 1)

    x = np.random.default_rng(0).standard_normal((99, 5)).astype(np.float32)
    one, other = np.zeros(1, np.float32), np.zeros(1, np.float32)
    with tp.backend("cpu"):
        sums_of_joins(one, x)
        monkeypatch.setattr(Pool, "run", backwards)
        sums_of_joins(other, x)
    np.testing.assert_allclose(one, x.sum(), rtol=1e-4)
    assert one == other
