"""Scalar arguments of a launch: as words for compiled code, and in the contracts of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tileproof.ir import ops
from tileproof.ir.types import TileType
from tileproof.ir.walk import uses
from tileproof.language.dtypes import DType
from tileproof.lowering.split_join import recomputed


def scalar_word(dtype: DType, number: Any) -> int:
    """A scalar as a word of 64 bits."""
    from .interpreter import semantics  # most kernels take no scalars

    value = semantics.constant(np.asarray(number).item(), dtype)
    return int.from_bytes(value.tobytes().ljust(8, b"\0"), "little")


def requires_scalars(kernel: ops.KernelIR) -> bool:
    """Whether a contract of a kernel looks at scalars: then it may hold for one launch and not for the next."""
    conditions = [ops.Block((), (op.condition,)) for op in kernel.body.ops if isinstance(op, ops.Require)]
    if not conditions:
        return False
    outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
    seen = uses(recomputed(outer, *conditions)).union(*map(uses, conditions))
    return any(parameter.value in seen for parameter in kernel.parameters)


def require(kernel: ops.KernelIR, scalars: Mapping[str, Any], dimensions: Mapping[str, int]) -> None:
    """Tests the contracts of a kernel, which look at dimensions and scalars alone."""
    required = [op for op in kernel.body.ops if isinstance(op, ops.Require)]
    if not required:
        return
    from .interpreter import semantics
    from .interpreter.machine import Machine
    from .interpreter.reports import Reporter
    from .parallel_space import Space

    outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
    needed = recomputed(outer, *(ops.Block((), (op.condition,)) for op in required))
    values = {
        parameter.value: semantics.constant(np.asarray(scalars[parameter.name]).item(), parameter.value.type.dtype)
        for parameter in kernel.parameters
        if isinstance(parameter.value.type, TileType)
    }
    space = Space()
    report = Reporter(kernel, space, dimensions)
    machine = Machine({}, values, dimensions, space, "forward", report, None)
    machine.block(needed)
    for op in required:
        machine.execute(op)
