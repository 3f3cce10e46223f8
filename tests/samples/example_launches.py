"""Launches of the examples: at their own sizes, at odd ones in other layouts and types, and at whole tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np

from fuzz.random_launches import laid_out
from samples.launch import Made, Make
from support.source_files import load_file

FOLDER: Final = Path(__file__).resolve().parents[2] / "examples"
NAMES: Final = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("demo")))
F16, BF16, F32, F64 = (np.dtype(kind) for kind in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64))
I32, I64 = np.dtype(np.int32), np.dtype(np.int64)


@dataclass(frozen=True)
class Sized:
    """What an example is launched with instead of its own sizes."""

    dtype: np.dtype[Any]
    layout: str
    extents: Mapping[str, int] = field(default_factory=dict)
    tiles: Mapping[str, int] = field(default_factory=dict)


def ragged(dtype: np.dtype[Any], layout: str, tiles: Mapping[str, int] | None = None, **extents: int) -> Sized:
    """Extents that tiles do not divide."""
    return Sized(dtype, layout, extents, tiles or {})


def whole(dtype: np.dtype[Any], tiles: Mapping[str, int] | None = None, **extents: int) -> Sized:
    """Extents that tiles divide, row by row and aligned: where code takes every short cut."""
    return Sized(dtype, "plain", extents, tiles or {})


OTHERS: Final[Mapping[str, tuple[Sized, Sized]]] = {
    "add": (ragged(BF16, "late", {"BN": 96}, N=1003), whole(F16, {"BN": 256}, N=2048)),
    "append_attention": (
        ragged(F16, "sparse", {"BN": 3, "BT": 8}, G=1, R=2, C=21, N=5, D=7, pos=6),
        whole(BF16, {"BN": 8, "BT": 16}, G=1, R=1, C=32, N=8, D=16, pos=16),
    ),
    "argmax": (ragged(F16, "backward", {"BV": 20}, R=5, V=99), whole(BF16, {"BV": 64}, R=4, V=256)),
    "argmax_two_stage": (
        ragged(BF16, "turned", {"SV": 30, "BV": 12}, R=5, V=99),
        whole(F64, {"SV": 64, "BV": 32}, R=4, V=256),
    ),
    "attention": (
        ragged(BF16, "late", {"BS": 6, "BT": 9}, G=1, heads=3, S=11, C=25, D=7, past=-2),
        whole(BF16, {"BS": 64, "BT": 32}, G=1, heads=2, S=64, C=96, D=32, past=32),
    ),
    "conv2d": (
        ragged(F16, "sparse", {"BW": 3, "BC": 4, "BF": 6}, N=1, H=4, W=5, C=3, F=7, R=2, STRIDE=1, PAD=1),
        whole(BF16, {"BW": 8, "BC": 16, "BF": 16}, N=1, H=4, W=8, C=16, F=16, STRIDE=1),
    ),
    "cumsum": (ragged(I64, "turned", {"BN": 12}, R=3, N=55), whole(F16, {"BN": 32}, R=8, N=64)),
    "decode_attention": (
        ragged(F16, "backward", {"SC": 9, "BC": 6}, G=1, R=5, C=41, D=9, used=40),
        whole(BF16, {"SC": 64, "BC": 32}, G=2, R=4, C=128, D=64, used=100),
    ),
    "dropout": (
        ragged(F64, "sparse", {"BN": 24}, N=77, percent=60, key=2**63 - 1, offset=-3),
        whole(BF16, {"BN": 128}, N=512),
    ),
    "embedding": (ragged(I32, "late", {"BD": 12}, N=7, V=5, D=33), whole(BF16, {"BD": 64}, N=8, V=16, D=128)),
    "embedding_backward": (
        ragged(F64, "sparse", {"BN": 5, "BD": 6}, N=19, V=4, D=15),
        whole(BF16, {"BN": 8, "BD": 32}, N=64, V=8, D=64),
    ),
    "gram": (ragged(F16, "turned", {"B": 12, "BK": 6}, N=21, K=17), whole(BF16, {"B": 32, "BK": 32}, N=64, K=96)),
    "grouped_matmul": (
        ragged(BF16, "backward", {"BN": 3, "BF": 12, "BK": 7}, seed=3, E=5, N=29, K=15, F=17),
        whole(BF16, {"BN": 16, "BF": 32, "BK": 16}, seed=1, E=3, N=64, K=32, F=64),
    ),
    "histogram": (ragged(I64, "sparse", {"BN": 24}, N=99, B=3), whole(I32, {"BN": 64}, N=512, B=16)),
    "int4_matvec": (
        ragged(F16, "late", {"BN": 3, "BG": 3}, N=11, G=4, S=5),
        whole(BF16, {"BN": 8, "BG": 2}, N=32, G=4, S=32),
    ),
    "int8_matvec": (
        ragged(BF16, "turned", {"BN": 6, "BG": 3}, N=11, G=4, S=9),
        whole(F16, {"BN": 8, "BG": 2}, N=32, G=4, S=32),
    ),
    "kv_append": (ragged(I32, "sparse", G=3, C=11, N=4, D=7, pos=7), whole(BF16, G=2, C=32, N=8, D=64, pos=8)),
    "layer_norm": (ragged(F16, "backward", N=5, D=27), whole(BF16, N=8, D=128)),
    "layer_norm_backward": (
        ragged(F64, "late", {"BN": 3}, N=10, D=27),
        whole(BF16, {"BN": 8}, N=32, D=64),
    ),
    "matmul": (
        ragged(BF16, "turned", {"BM": 24, "BN": 20, "BK": 12}, M=45, N=33, K=31),
        whole(BF16, {"BM": 64, "BN": 64, "BK": 32}, M=128, N=128, K=96),
    ),
    "matmul_split": (
        ragged(F16, "late", {"BM": 12, "BN": 10, "SK": 30, "BK": 9}, M=17, N=23, K=70),
        whole(F16, {"BM": 64, "BN": 32, "SK": 64, "BK": 32}, M=64, N=64, K=256),
    ),
    "paged_append": (
        ragged(F64, "backward", seed=5, P=5, G=1, S=2, D=9, N=11),
        whole(BF16, seed=2, P=8, G=2, S=16, D=64, N=16),
    ),
    "paged_attention": (
        ragged(F16, "sparse", {"BS": 3}, seed=7, B=4, G=1, R=3, D=7, P=5, S=7, L=3),
        whole(BF16, {"BS": 16}, seed=1, B=2, G=2, R=4, D=64, P=8, S=16, L=4),
    ),
    "qkv": (
        ragged(F16, "late", {"BK": 6}, H=3, G=1, C=7, E=3, K=17, pos=6),
        whole(BF16, {"BK": 32}, H=4, G=2, C=16, E=16, K=64, pos=8),
    ),
    "ragged_attention": (
        ragged(BF16, "turned", {"BN": 3, "BT": 6}, seed=4, B=5, N=31, G=1, heads=3, D=7),
        whole(F16, {"BN": 16, "BT": 16}, seed=1, B=3, N=64, G=2, heads=1, D=32),
    ),
    "rms_norm": (ragged(F64, "turned", N=5, D=27), whole(BF16, N=16, D=128)),
    "rope": (ragged(F16, "sparse", N=3, H=2, D=5), whole(BF16, N=8, H=4, D=32)),
    "scatter_rows": (
        ragged(I32, "turned", {"BN": 3, "BD": 6}, seed=3, V=13, N=9, D=17),
        whole(BF16, {"BN": 8, "BD": 32}, seed=1, V=32, N=16, D=64),
    ),
    "silu_mul": (
        ragged(F16, "backward", {"BN": 6, "BI": 10, "BK": 7}, N=13, I=23, K=25),
        whole(BF16, {"BN": 64, "BI": 32, "BK": 32}, N=64, I=64, K=64),
    ),
    "softmax": (ragged(BF16, "sparse", {"BC": 24}, R=3, C=61), whole(F16, {"BC": 64}, R=4, C=256)),
    "top_k": (ragged(F16, "late", {"BV": 12}, seed=3, R=3, V=41, k=-1), whole(BF16, {"BV": 32}, R=4, V=64, k=17)),
    "transpose": (
        ragged(F16, "backward", {"BM": 12, "BN": 7}, M=25, N=19),
        whole(BF16, {"BM": 32, "BN": 32}, M=64, N=96),
    ),
}  # fmt: skip


@cache
def example(name: str) -> Any:
    """An example as a module."""
    return load_file(FOLDER / f"{name}.py", f"gpu_example_{name}")


def own(name: str) -> Made:
    """An example as it comes."""
    arguments, constants = example(name).arguments()
    return getattr(example(name), name), arguments, constants


def other(name: str, sized: Sized) -> Made:
    """An example at other sizes."""
    arguments, constants = example(name).arguments(dtype=sized.dtype, **sized.extents)
    laid = [laid_out(one, sized.layout) if isinstance(one, np.ndarray) else one for one in arguments]
    return getattr(example(name), name), laid, {**constants, **sized.tiles}


def examples() -> dict[str, Make]:
    """All of them, by name."""
    results: dict[str, Make] = {}
    for name in NAMES:
        odd, even = OTHERS[name]
        results[name] = partial(own, name)
        results[f"{name}-{odd.dtype}-{odd.layout}"] = partial(other, name, odd)
        results[f"{name}-{even.dtype}-whole"] = partial(other, name, even)
    return results
