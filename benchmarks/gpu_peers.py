"""What the kernels of the GPU benchmark are measured against, and what their results are compared with.

torch stands for the libraries it calls: cuBLAS for products, cuDNN for attention. Triton and cuTile take part where
they can be imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

from .gpu_kernels import Candidate
from .gpu_rows import Row

Call: TypeAlias = Callable[[], Any]
"""Launches the work; gives the result, or None if it was written into the first argument."""
Way: TypeAlias = Callable[..., Any]
"""The same for any arguments."""
_ROTATED: Final = 512 << 20
"""Bytes of buffers that rows limited by memory go through: ten times the cache."""
TOLERANCE: Final = {"f32": 1e-6, "bf16": 1e-2, "i32": 0.0}
"""How far a result may be from the right one, both as long vectors."""


@dataclass(frozen=True)
class Peer:
    """One way of somebody else to do the work of a row; `start` makes a call for some arguments."""

    column: str
    name: str
    start: Callable[[list[Any]], Call]


class Peers:
    """Everybody else that is here."""

    def __init__(self, torch: Any, cutile: Path | None) -> None:
        self.torch = torch
        self.absent: dict[str, str] = {}
        """By column, why there is nobody."""
        self.notes: list[str] = []
        """What was special about the last row."""
        self._triton = self._imported("Triton", "gpu_triton", "not installed")
        self._cutile: ModuleType | None = None
        if cutile is None:
            self.absent["cuTile"] = "not carried"
        else:
            _carry(cutile)
            self._cutile = self._imported("cuTile", "gpu_cutile", "not usable")

    def _imported(self, column: str, module: str, otherwise: str) -> ModuleType | None:
        try:
            return import_module(f"{__package__}.{module}")
        except Exception as error:  # whatever is wrong with a peer, the others can still be measured
            said = "" if isinstance(error, ModuleNotFoundError) else f": {str(error).splitlines()[0][:60]}"
            self.absent[column] = f"{otherwise}{said}"
            return None

    def of(self, row: Row) -> list[Peer]:
        """Who takes part in a row."""
        self.notes = []
        found = [Peer("torch", name, start) for name, start in self._of_torch(row).items()]
        return found + self._others(row.kind, row.chosen)

    def launching(self, candidate: Candidate) -> list[Peer]:
        """Adds, for the time of a launch."""
        return [Peer("torch", "torch", self._called(self._add)), *self._others("add", candidate)]

    def _others(self, kind: str, candidate: Candidate) -> list[Peer]:
        """Triton's own tiles, and in cuTile the same tiles and hints as ours."""
        found = []
        way = getattr(self._triton, kind, None)
        if way is not None:
            found.append(Peer("Triton", "Triton", self._called(way)))
        if self._cutile is not None and kind in self._cutile.KINDS:
            launched = self._cutile.launched
            found.append(
                Peer("cuTile", "cuTile", lambda args: launched(kind, args, candidate.tiles, candidate.schedule))
            )
        return found

    @staticmethod
    def _called(way: Way) -> Callable[[list[Any]], Call]:
        return lambda args: lambda: way(*args)

    def _add(self, z: Any, x: Any, y: Any) -> Any:
        return self.torch.add(x, y, out=z)

    def _of_torch(self, row: Row) -> Mapping[str, Callable[[list[Any]], Call]]:
        torch = self.torch
        functional = torch.nn.functional
        ways: dict[str, Way]
        match row.kind:
            case "add":
                ways = {"torch": self._add}
            case "softmax":
                ways = {"torch": lambda y, x: functional.softmax(x, -1)}
            case "rms_norm":
                ways = {"torch": lambda y, x, w, eps: functional.rms_norm(x, (x.shape[1],), w, eps)}
            case "gather":
                ways = {"torch": lambda y, table, ids: torch.index_select(table, 0, ids, out=y)}
            case "matmul":
                ways = {"cuBLAS": lambda c, a, b: torch.mm(a, b, out=c)}
            case "matmul_nt":
                ways = {"cuBLAS": lambda c, a, b: torch.mm(a, b.t(), out=c)}
            case "matvec":
                ways = {
                    "cuBLAS mv": lambda y, w, x: torch.mv(w, x, out=y),
                    "cuBLAS linear": lambda y, w, x: functional.linear(x[None], w)[0],
                }
            case _:
                backends = torch.nn.attention.SDPBackend
                chosen = {"cuDNN": backends.CUDNN_ATTENTION, "flash": backends.FLASH_ATTENTION}
                is_causal = row.kind == "attention"
                return {name: self._attention(name, each, is_causal) for name, each in chosen.items()}
        return {name: self._called(way) for name, way in ways.items()}

    def _attention(self, name: str, backend: Any, is_causal: bool) -> Callable[[list[Any]], Call]:
        """Attention by one backend of torch; keys are repeated beforehand where it cannot share them."""
        torch = self.torch

        def attend(q: Any, k: Any, v: Any, shares: bool) -> Any:
            with torch.nn.attention.sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=is_causal, enable_gqa=shares
                )

        def start(args: list[Any]) -> Call:
            q, k, v = batched(*args[1:4])
            shares = True
            try:
                attend(q, k, v, shares)
            except RuntimeError:
                share = q.shape[1] // k.shape[1]
                k, v = (each.repeat_interleave(share, 1) for each in (k, v))
                shares = False
                self.notes.append(f"{name} does not share keys: they were repeated beforehand")
            return lambda: attend(q, k, v, shares).flatten(0, 1)

        return start


def batched(q: Any, k: Any, v: Any) -> list[Any]:
    """Heads of all batches one after another, as torch wants them: with an axis for the batch, of 32 query heads."""
    batch = max(q.shape[0] // 32, 1)
    return [each.unflatten(0, (batch, each.shape[0] // batch)) for each in (q, k, v)]


def _carry(folder: Path) -> None:
    """Lets cuTile and its assembler be found in a folder, laid out as site-packages are."""
    sys.path.insert(0, str(folder))
    bins = [folder / "nvidia" / "cu13" / "bin", folder / "bin"]
    os.environ["PATH"] = os.pathsep.join([*map(str, bins), os.environ.get("PATH", "")])


# Arguments and launches.


def started(each: Candidate, args: list[Any]) -> Call:
    """A launch of a candidate as users write it."""
    kernel, tiles = each.scheduled, dict(each.tiles)
    return lambda: kernel(*args, **tiles)


def made_sets(row: Row, torch: Any) -> list[list[Any]]:
    """Arguments to take in turn: where memory is the limit, more than the cache holds."""
    return [made_args(row, torch) for _ in range(-(-_ROTATED // row.bytes) if row.is_streaming else 1)]


def made_args(row: Row, torch: Any) -> list[Any]:
    """Arguments of a row on the GPU: fresh random numbers, and an output full of NaN."""
    dtypes = {"f32": torch.float32, "bf16": torch.bfloat16, "i32": torch.int32}
    made: list[Any] = []
    for place, argument in enumerate(row.arguments):
        if isinstance(argument, float):
            made.append(argument)
            continue
        dtype = dtypes[argument.element]
        if place == 0:
            made.append(torch.full(argument.shape, float("nan"), dtype=dtype, device="cuda"))
        elif argument.below:
            made.append(torch.randint(0, argument.below, argument.shape, dtype=dtype, device="cuda"))
        else:
            made.append(torch.randn(argument.shape, dtype=dtype, device="cuda"))
    return made


# Right results.


def problem_of(row: Row, call: Call, args: list[Any], torch: Any) -> str:
    """What is wrong with the result of a call; empty if nothing is."""
    out = args[0]
    out.fill_(float("nan"))
    made = call()
    torch.cuda.synchronize()
    got = out if made is None else made
    if not bool(torch.isfinite(got).all()):
        missing = int((~torch.isfinite(got)).sum())
        return f"WRONG: {missing} of {got.numel()} elements are not finite or were not written"
    error = max(_distances(row, got, args, torch))
    return "" if error <= TOLERANCE[row.arrays[0].element] else f"WRONG: relative error {error:.1e}"


def _distances(row: Row, got: Any, args: list[Any], torch: Any) -> list[float]:
    """How far a result is from what it should be: parts of it, in float64, and all of it by another way."""
    rest = args[1:]
    match row.kind:
        case "add":
            return [_apart(got, rest[0].double() + rest[1].double())]
        case "softmax":
            return [_apart(got, torch.softmax(rest[0].double(), -1))]
        case "rms_norm":
            x, w, eps = rest[0].double(), rest[1].double(), rest[2]
            return [_apart(got, x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w)]
        case "gather":
            return [_apart(got, rest[0][rest[1].long()])]
        case "matvec":
            parts = zip(got.split(8192), rest[0].split(8192), strict=True)
            return [_apart(some, weights.double() @ rest[1].double()) for some, weights in parts]
        case "matmul" | "matmul_nt":
            a, b = rest[0], rest[1] if row.kind == "matmul" else rest[1].t()
            rows = torch.randint(0, a.shape[0], (256,), device=a.device)
            return [_apart(got[rows], a[rows].double() @ b.double()), _apart(got, torch.mm(a, b))]
        case _:
            q, k, v, _ = rest
            return _attention_distances(got, q, k, v, row.kind == "attention", torch)


def _attention_distances(got: Any, q: Any, k: Any, v: Any, is_causal: bool, torch: Any) -> list[float]:
    heads, share = q.shape[0], q.shape[0] // k.shape[0]
    found = []
    for head in {0, int(torch.randint(0, heads, ())), heads - 1}:
        scores = q[head].double() @ k[head // share].double().t() * q.shape[2] ** -0.5
        if is_causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), -float("inf"))
        found.append(_apart(got[head], torch.softmax(scores, -1) @ v[head // share].double()))
    repeated = batched(q, k.repeat_interleave(share, 0), v.repeat_interleave(share, 0))
    all_ = torch.nn.functional.scaled_dot_product_attention(*repeated, is_causal=is_causal)
    return [*found, _apart(got, all_.flatten(0, 1))]


def _apart(got: Any, expected: Any) -> float:
    """The length of the difference over that of what is right, a part at a time: they may be large."""
    difference = length = 0.0
    for some, right in zip(got.flatten().split(1 << 26), expected.flatten().split(1 << 26), strict=True):
        difference += float((some.double() - right.double()).square().sum())
        length += float(right.double().square().sum())
    return (difference / length) ** 0.5 if length else float("inf")
