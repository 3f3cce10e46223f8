"""Fills a folder with all that the GPU tests and the GPU benchmark launch, proved and compiled.

    python tools/gpu_bundle.py

A machine with a GPU, but without assembler and prover, then runs both:

    TILEPROOF_CACHE_DIR=build/gpu-cache TILEPROOF_GPU_CACHE=build/gpu-cache python -m pytest -m gpu
    TILEPROOF_CACHE_DIR=build/gpu-cache python -m benchmarks gpu

What is launched is given by `launches()` in `tests/gpu/launches.py` and `benchmarks/kernels/launches.py`: the name,
kernel, arguments and constants of each launch. Arguments are arrays of the host that lie as those of the GPU will:
strides count, and addresses up to 16 bytes. What is there already is kept, what nobody needs any more is removed. What
the assembler made is kept by bytecode too, in a folder that stays here: a change of tileproof asks for all keys anew,
but seldom for other code.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "tests" / "gpu", ROOT / "tests", ROOT):
    sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402

from tileproof.backends.cuda.assembler import toolchain  # noqa: E402
from tileproof.backends.cuda.assembler.assemble import Assembled, Job, assemble_each  # noqa: E402
from tileproof.backends.cuda.device.loaded_code import Code  # noqa: E402
from tileproof.cli.command_line import Progress  # noqa: E402
from tileproof.compiler.cache import Cache, default, digest, recorded  # noqa: E402
from tileproof.compiler.proofs import fingerprint, read_entry, write_entry  # noqa: E402
from tileproof.diagnostics.errors import TileproofError, render_all  # noqa: E402
from tileproof.diagnostics.values import in_words  # noqa: E402
from tileproof.runtime.launch.ahead_of_time import (  # noqa: E402
    Assemble,
    CompiledVariant,
    Launch,
    Plan,
    compile_all,
    plan_launch,
    stand_in,
)
from tileproof.runtime.tensor.tensors import Tensor  # noqa: E402

BENCHMARK = "benchmarks.kernels.launches"
"""Runs kernels against themselves without checks too."""
SOURCES = {"launches": "tests/gpu/launches.py", BENCHMARK: "benchmarks/kernels/launches.py"}
"""The modules that tell of launches, and their files."""
STEP = 25
"""Of so many one is told where there is no terminal."""


@dataclass
class Work:
    """All that is planned: each kernel once, however often it is launched in the same way."""

    arch: str
    plans: list[Plan] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    launches: int = 0
    _keys: set[str] = field(default_factory=set)

    def add(self, launch: Launch, *, twin: bool) -> None:
        """Proves a launch, and plans the code it needs; with `twin` also that without checks, where there are some."""
        self.launches += 1
        try:
            result = plan_launch(launch, [self.arch])
            plans = [result]
            if twin and result.found.ir is not result.found.ready:
                plans.append(plan_launch(launch, [self.arch], checked=False))
        except TileproofError as error:
            self.failed.append(f"{launch.name}\n{render_all(error.diagnostics)}")
            return
        for plan in plans:
            key = plan.variants[0].key
            if not key:
                self.failed.append(f"{launch.name}\nit has no key, so it cannot be kept")
            elif key not in self._keys:
                self._keys.add(key)
                self.plans.append(plan)


def main() -> int:
    """Plans, compiles and tells; gives the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", metavar="DIR", default=str(ROOT / "build" / "gpu-cache"), help="the folder")
    parser.add_argument("--arch", default="sm_90", help="for which GPU (default: sm_90)")
    parser.add_argument("--jobs", metavar="N", type=int, help="how many to assemble at a time")
    parser.add_argument("--sweep", action="store_true", help="every candidate of the benchmark, not only the chosen")
    options = parser.parse_args()
    os.environ["TILEPROOF_CACHE_DIR"] = options.into
    assembled = Cache(Path(f"{options.into}-assembled"))
    started = time.perf_counter()
    work = Work(options.arch)
    with recorded() as used:
        for module, file in SOURCES.items():
            _plan(work, module, file, options.sweep)
        done = _compile(work, options.jobs, assembled)
    removed = (0, 0) if work.failed else default().clear(keep=used)
    _tell(work, done, removed, time.perf_counter() - started)
    if fingerprint() != fingerprint.__wrapped__():
        print("the source of tileproof changed meanwhile, and nothing of this will be found: run it again")
        return 1
    return 1 if work.failed else 0


def _plan(work: Work, module: str, file: str, sweep: bool) -> None:
    if not (ROOT / file).is_file():
        print(f"{file}: not there")
        return
    before, started = work.launches, time.perf_counter()
    progress = Progress()
    launches = list(_launches(importlib.import_module(module).launches, sweep=sweep))
    for number, launch in enumerate(launches, 1):
        work.add(launch, twin=module == BENCHMARK)
        progress.step(f"launches of {file} proved", number, len(launches))
    progress.clear()
    print(f"{file}: {work.launches - before} launches proved ({time.perf_counter() - started:.0f} s)", flush=True)


def _launches(function: Any, **wanted: bool) -> Iterator[Launch]:
    known = {name: value for name, value in wanted.items() if name in inspect.signature(function).parameters}
    for name, kernel, args, constants in function(**known):
        yield Launch(name, kernel, [_standing(arg) for arg in args], constants)


def _standing(argument: Any) -> Any:
    """An argument as binding takes it: what only looks like an array becomes one without memory."""
    if isinstance(argument, np.ndarray | np.generic) or not hasattr(argument, "shape"):
        return argument
    dtype = argument.storage if isinstance(argument, Tensor) else np.dtype(argument.dtype)
    return stand_in(argument.shape, dtype, getattr(argument, "strides", None))


def _compile(work: Work, jobs: int | None, assembled: Cache) -> list[CompiledVariant]:
    progress = Progress()
    done: list[CompiledVariant] = []
    for result in compile_all(work.plans, workers=jobs, assemble=kept_in(assembled)):
        done.append(result)
        progress.step("compiled", len(done), len(work.plans))
        if isinstance(result.outcome, TileproofError):
            work.failed.append(f"{result.plan.launch.name}\n{render_all(result.outcome.diagnostics)}")
        if not result.is_kept and len(done) % STEP == 0 and not sys.stderr.isatty():
            print(f"{len(done)} of {len(work.plans)} compiled", flush=True)
    progress.clear()
    return done


def kept_in(store: Cache) -> Assemble:
    """The assembler, with what it made of the same bytecode before."""

    def assemble(
        jobs: Sequence[Job], workers: int | None = None, *, verbose: bool | None = None
    ) -> Iterator[tuple[Job, Assembled | TileproofError]]:
        if not jobs:
            return
        version = toolchain.find().version
        keys = {job: digest("assembled", version, job.arch, job.bytecode) for job in jobs}
        missing = []
        for job, key in keys.items():
            known = read_entry(store, key, ())
            if isinstance(known, Assembled):
                yield job, known
            else:
                missing.append(job)
        for job, outcome in assemble_each(missing, workers, verbose=verbose):
            if isinstance(outcome, Assembled):
                plain = replace(outcome, remarks=tuple(replace(remark, span=None) for remark in outcome.remarks))
                store.put(keys[job], write_entry(plain, ()))
            yield job, outcome

    return assemble


def _tell(work: Work, done: Sequence[CompiledVariant], removed: tuple[int, int], seconds: float) -> None:
    for text in work.failed:
        print(f"\nfailed: {text}")
    codes = [result.outcome for result in done if isinstance(result.outcome, Code)]
    kept = sum(result.is_kept for result in done)
    info = default().info()
    print(f"{work.launches} launches for {work.arch} come to {len(done)} kernels: {kept} kept, {len(done) - kept} made")
    if work.failed:
        print(f"{len(work.failed)} FAILED; nothing was removed")
    print(f"code {in_words(sum(len(code.cubin) for code in codes))}, all {in_words(info.bytes)} in {info.path}")
    print(f"removed {removed[0]} entries, {in_words(removed[1])}; took {seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
