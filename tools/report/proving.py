"""Proving the kernels of a report: several at a time, and none anew that was proved before.

What the checker says is kept in the kernel cache under the kernel as it reads now: its typed form, which holds every
value it captured, the text around it, and the version of tileproof. So a kernel is read each time, and proved once.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final

from tileproof.analysis.prove import prove
from tileproof.analysis.verdict import Verdict
from tileproof.backends.interpreter.replay import replay
from tileproof.cli.check import compared, lines_of
from tileproof.compiler.cache import default, digest
from tileproof.compiler.compile import scope_of, verdict
from tileproof.compiler.pipeline import compile_for
from tileproof.compiler.proofs import fingerprint
from tileproof.diagnostics import TileproofError, render
from tileproof.frontend.signature import ContentOf, TensorParameter, parse
from tileproof.frontend.specialization import Specialization, generic, variables
from tileproof.ir import ops
from tileproof.ir.ops import KernelIR
from tileproof.ir.printer import print_kernel
from tileproof.ir.walk import walk
from tileproof.language.kernel import Kernel

from .facts import FORMAT, Content, Proof, Settled, read, written
from .finding import Place, again

Step = Callable[[str, int, int], None]
_FEW: Final = 8
"""So many are proved sooner than other processes have started."""


def proofs_of(
    kernels: Sequence[tuple[Place, Kernel]], root: Path, *, jobs: int | None = None, step: Step | None = None
) -> list[Proof]:
    """What the checker says about each. Files are named from `root`; `step` is told how far it is."""
    message = step or (lambda what, done, total: None)
    results: dict[int, Proof] = {}
    keys: dict[int, str | None] = {}
    for number, (_, kernel) in enumerate(kernels):
        keys[number] = key = _key(kernel)
        kept = None if key is None else _kept(key)
        if kept is not None:
            results[number] = kept
            message("kernels proved", len(results), len(kernels))
    left = [number for number in range(len(kernels)) if number not in results]
    workers = min(jobs or os.cpu_count() or 1, len(left))
    if workers > 1 and len(left) > _FEW:
        places = {number: kernels[number][0] for number in left}
        for number, proof in _elsewhere(places, root, workers):
            results[number] = proof
            message("kernels proved", len(results), len(kernels))
    for number in left:
        if number not in results:
            results[number] = proof_of(kernels[number][1], root)
            message("kernels proved", len(results), len(kernels))
    for number in left:
        _keep(keys[number], results[number])
    return [results[number] for number in range(len(kernels))]


def _elsewhere(places: dict[int, Place], root: Path, workers: int) -> list[tuple[int, Proof]]:
    """Proofs made by other processes; those that are missing are for this one."""
    results: list[tuple[int, Proof]] = []
    # Not forked: kernels that ran here have left threads behind.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            waiting = {pool.submit(_prove_at, place, root): number for number, place in places.items()}
            results += [(waiting[each], each.result()) for each in as_completed(waiting) if each.exception() is None]
    except (BrokenProcessPool, OSError):
        pass
    return results


def _prove_at(place: Place, root: Path) -> Proof:
    return proof_of(again(place), root)


def proof_of(kernel: Kernel, root: Path) -> Proof:
    """What the checker says about a kernel, as `tileproof check --explain` does."""
    first = _first(kernel)
    try:
        if first is None:
            diagnostic = verdict(kernel)  # which tells what is wrong
        else:
            diagnostic = prove(compile_for(kernel, first).ir, replay, deny_checks=kernel.deny_checks)
        scope = scope_of(kernel, {}, diagnostic)
        contents = tuple(_contents(kernel))
    except TileproofError as error:
        diagnostic, scope, contents = Verdict(None, findings=error.diagnostics), "", ()
    return Proof(
        accepted=diagnostic.accepted,
        scope=scope,
        elements=_elements(kernel, first),
        settled=tuple(
            Settled(
                _shown(line.span.source.name, root), line.span.line, line.span.column, line.what, line.goal,
                int(line.rung), line.rung.label, "; ".join(dict.fromkeys(line.reasons)),
            )
            for line in lines_of(diagnostic.discharged)
        ),
        contracts=() if diagnostic.kernel is None else _contracts(diagnostic.kernel),
        compares=tuple(dict.fromkeys(compared(compare) for compare in diagnostic.compares)),
        contents=contents,
        complete=diagnostic.complete,
        raw=() if diagnostic.kernel is None else _raw(diagnostic.kernel, root),
        findings=tuple(render(finding) for finding in diagnostic.findings),
    )  # fmt: skip


def _contents(kernel: Kernel) -> list[Content]:
    """The index tensors it reads."""
    tensors = [argument for argument in parse(kernel).signature.arguments if isinstance(argument, TensorParameter)]
    return [
        Content(tensor.name, f'{tensor.element.kind}["{tensor.element.dimension}"]')
        for tensor in tensors
        if isinstance(tensor.element, ContentOf) and tensor.access.reads
    ]


def _contracts(kernel: KernelIR) -> tuple[str, ...]:
    """What the kernel demands of its arguments, which a launch compares."""
    lines = []
    for op in walk(kernel.body):
        match op:
            case ops.Require():
                lines.append(f"`{' '.join(op.span.text.split())}`")
            case ops.Group():
                lines.append(f"`{op.dimension}` is a multiple of `{op.into}`")
    return tuple(dict.fromkeys(lines))


def _raw(kernel: KernelIR, root: Path) -> tuple[str, ...]:
    """Operations that nobody proves, because they stand in a `tp.unsafe` block."""
    result = (
        op for op in walk(kernel.body)
        if isinstance(op, ops.Assume) or (isinstance(op, ops.Load | ops.Store) and op.raw)
    )  # fmt: skip
    places = ((op.span, " ".join(op.span.text.split())) for op in result)
    return tuple(dict.fromkeys(f"{_shown(span.source.name, root)}:{span.line}: {text}" for span, text in places))


def _elements(kernel: Kernel, specialization: Specialization | None) -> str:
    """`T = bf16, U = bf16`."""
    if specialization is None:
        return ""
    named = variables(parse(kernel).signature)
    return ", ".join(f"{name} = {dtype}" for name, dtype in specialization.dtypes if name in named)


def _first(kernel: Kernel) -> Specialization | None:
    """The first element types it compiles for, with dimensions open: what `check` looks at."""
    try:
        for each in generic(parse(kernel).signature, {}):
            try:
                compile_for(kernel, each)
            except TileproofError:
                continue
            return each
    except Exception:  # a refusal, which `verdict` tells in full
        pass
    return None


def _shown(file: str, root: Path) -> str:
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


# What is kept.


def _key(kernel: Kernel) -> str | None:
    """What decides all that is said about a kernel; None if it does not compile, and there is nothing to keep."""
    first = _first(kernel)
    if first is None:
        return None
    ir = compile_for(kernel, first).ir
    texts = {op.span.source.name: op.span.source.lines for op in walk(ir.body)}
    return digest(
        "report", FORMAT, fingerprint(), kernel.name, kernel.first_line, kernel.filename, "".join(kernel.source_lines),
        kernel.deny_checks, print_kernel(ir, lines=True), str(first), {name: "".join(texts[name]) for name in texts},
    )  # fmt: skip


def _kept(key: str) -> Proof | None:
    data = default().get(key)
    if data is None:
        return None
    try:
        return read(Proof, json.loads(data))
    except (ValueError, KeyError, TypeError):
        return None


def _keep(key: str | None, proof: Proof) -> None:
    if key is not None and proof.accepted:
        default().put(key, json.dumps(written(proof)).encode())
