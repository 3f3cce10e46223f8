"""The checker always answers: index arithmetic that is repeated takes it little work, and a limit ends what takes more.

No test asks a clock: work is counted. `tests/fuzz/index_arithmetic.py` measures seconds and memory.
"""

from __future__ import annotations

import pytest

import tileproof as tp
from fuzz import index_arithmetic
from fuzz.random_kernels import HEAD
from support.source_files import load_text
from tileproof.analysis.prover import Prover
from tileproof.compiler.compile import verdict


def repeated(start: str, *steps: str, times: int, parameters: str = "", end: str = "y[n] = x[p]") -> tp.Kernel:
    """A kernel whose index p is computed by some steps, again and again."""
    lines = ['N, M = tp.dim("N"), tp.dim("M")', f"p = {start}", *(times * steps), end]
    body = "".join(f"        {line}\n" for line in lines)
    signature = f'y: InOut[f32, "N"], x: In[f32, "N"], m: In[f32, "M"]{parameters}'
    text = f"{HEAD}@tp.kernel\ndef k({signature}) -> None:\n    for n in tp.parallel(N=tp.each):\n{body}"
    kernel: tp.Kernel = load_text(text).k
    return kernel


RIGHT = {
    "remainders by an extent": repeated("n", "p = (p * n + 7) % N", times=8),
    "remainders of sums with a scalar": repeated("n", "p = (p * n + c) % N", times=6, parameters=", c: i32"),
    "reflections": repeated("n", "p = abs(p - 1)", "p = tp.minimum(p, 2 * N - 2 - p)", times=6),
    "clips": repeated("n", "p = tp.clip(p + 1, 0, N - 1)", "p = tp.clip(p - 1, 0, N - 1)", times=8),
    "minima": repeated("n", *(f"p = tp.minimum(p, n + {k})" for k in range(20)), times=1),
    "minima of scalars": repeated(
        "n", *(f"p = tp.minimum(p, s{k})" for k in range(20)), times=1,
        parameters="".join(f", s{k}: i32" for k in range(20)), end="y[n] = x[tp.maximum(p, 0)]",
    ),
    "squares": repeated("n", "p = p * p % M", times=5, end="y[n] = x.get(p, 0.0)"),
    "many lines": repeated("n", "p = (p * 3 + 1) % N", times=20),
    "many choices": repeated("n", "p = tp.where(p > 5, p - 5, p)", times=40, end="y[n] = x.get(p, 0.0)"),
}  # fmt: skip
WRONG = {
    "a remainder and one more": (repeated("n", "p = (p * n + 7) % N", times=6, end="y[n] = x[p + 1]"), "TP0811"),
    "a sum squared until it leaves 64 bits": (
        repeated("n + N + M", "p = p * p", times=4, end="y[n] = x.get(p, 0)"),
        "TP0813",
    ),
    "powers that leave 64 bits": (
        repeated("tp.clip(n, 0, 1)", "p = abs(p * p * p * p - 16)", times=24, end="y[n] = x.get(p, 0)"),
        "TP0813",
    ),
    "a store at a remainder": (repeated("n", "p = (p * n + 7) % N", times=6, end="y[p] = 1.0"), "TP0801"),
    "more than a launch looks at": (repeated("n", "p = p * N // N", times=130), "TP0816"),
}


def work(kernel: tp.Kernel, monkeypatch: pytest.MonkeyPatch) -> int:
    """What the prover counts."""
    provers: list[Prover] = []
    formulas = Prover.formulas

    def noted(self: Prover, *args: object, **named: object) -> object:
        provers.append(self)
        return formulas(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Prover, "formulas", noted)
    verdict(kernel)
    return sum(prover.work for prover in {id(prover): prover for prover in provers}.values())


@pytest.mark.parametrize("name", RIGHT)
def test_repeated_arithmetic_is_accepted_with_little_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [finding.message for finding in verdict(RIGHT[name]).findings] == []
    assert work(RIGHT[name], monkeypatch) < 400_000


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arithmetic_is_rejected_for_what_is_wrong(name: str) -> None:
    kernel, code = WRONG[name]
    assert {finding.code.id for finding in verdict(kernel).findings} == {code}


def test_texts_of_the_fuzzer_take_no_more_than_the_limit() -> None:
    """`python tests/fuzz/index_arithmetic.py` checks ten thousand, and measures time and memory too."""
    results = [index_arithmetic.checked(seed) for seed in (*range(15), 105666)]
    assert [one for one in results if one.work > index_arithmetic.MOST_WORK or one.outcome.startswith("raised")] == []
    assert sum(one.outcome == "accepted" for one in results) > 5
