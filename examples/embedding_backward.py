"""The gradient of an embedding: rows that took the same entry of the table add up, and -1 took none."""

from typing import Any

import numpy as np

import tileproof as tp
from tileproof import In, Index, Sum, T, f32


@tp.kernel
def embedding_backward(
    dtable: Sum[f32, "V D"], dy: In[T, "N D"], ids: In[Index["V"], "N"], *, BN: int = 16, BD: int = 128
) -> None:
    """Adds row n of dy to row ids[n] of dtable, where there is one."""
    for n, d in tp.parallel(N=BN, D=BD):
        dtable[ids[n], d] += dy[n, d].to(f32)


OUTPUTS = (0,)


def arguments(
    seed: int = 0, dtype: Any = np.float32, N: int = 23, V: int = 6, D: int = 21
) -> tuple[list[Any], dict[str, int]]:
    """Arguments of a launch, some ids -1, and tile sizes that make several programs."""
    rng = np.random.default_rng(seed)
    dy = rng.uniform(-8, 8, (N, D)).astype(dtype)
    ids = rng.integers(-1, V, N, dtype=np.int32)
    return [np.empty((V, D), np.float32), dy, ids], {"BN": 4, "BD": 8}


def reference(dtable: Any, dy: Any, ids: Any) -> tuple[Any, ...]:
    """What the outputs should hold."""
    expected = np.zeros(dtable.shape)
    np.add.at(expected, ids[ids >= 0], dy[ids >= 0].astype(np.float64))
    return (expected.astype(dtable.dtype),)


if __name__ == "__main__":
    args, constants = arguments()
    (expected,) = reference(*args)
    embedding_backward(*args, **constants)
    np.testing.assert_allclose(args[0], expected, rtol=1e-5, atol=1e-5)
    print(f"embedding_backward: {args[0].shape} agrees with numpy, {(args[2] == -1).sum()} rows skipped")
