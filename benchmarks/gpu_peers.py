"""Everybody else who is on the machine: torch with the libraries it calls, torch.compile, Triton and cuTile.

torch stands for cuBLAS in products and for cuDNN in attention. Triton and cuTile take part where they can be imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from .gpu_row import Args, Peer, Row

COLUMNS: Final = ("torch", "torch.compile", "Triton", "cuTile")
_MODE: Final = "max-autotune-no-cudagraphs"
"""Graphs are captured here, by the same hands for all."""


class Tools:
    """What peers call: modules by name, and functions that were compiled. Whoever is missing is in `absent`."""

    def __init__(self, torch: Any, cutile: Path | None = None, without: Sequence[str] = ()) -> None:
        self.torch = torch
        self.absent: dict[str, str] = {}
        """By column, why there is nobody."""
        self.notes: list[str] = []
        """What was special about the last row."""
        self.triton = self._imported("Triton", "gpu_triton", "not installed")
        self.cutile: ModuleType | None = None
        if cutile is None:
            self.absent["cuTile"] = "not carried"
        else:
            _carry(cutile)
            self.cutile = self._imported("cuTile", "gpu_cutile", "not usable")
        if self.triton is None:
            self.absent["torch.compile"] = "it needs Triton"
        self.absent |= dict.fromkeys(without, "left out")
        self._compiled: dict[Any, Any] = {}
        self._kept: dict[tuple[str, int], Any] = {}

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
        self.forget()
        return [peer for peer in row.peers if peer.column not in self.absent]

    def compiled(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """What torch.compile makes of a function that gets torch and tensors; compiled when it is first called."""
        if work not in self._compiled:
            torch = self.torch
            self._compiled[work] = torch.compile(lambda *tensors: work(torch, *tensors), mode=_MODE, dynamic=False)
        return self._compiled[work]

    def kept(self, what: str, args: Args, make: Callable[[], Any]) -> Any:
        """Something that a peer made of the arguments beforehand, once for each set of them."""
        key = (what, id(args))
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def forget(self) -> None:
        """Gives back what was kept for the arguments of a row."""
        self._kept.clear()
        self._compiled.clear()
        compiler = sys.modules.get("torch._dynamo")
        if compiler is not None:
            compiler.reset()  # a cache of many forms would refuse the next

    def attention(self, backend: str, q: Any, k: Any, v: Any, *, is_causal: bool) -> Any:
        """Attention by one backend of torch, "CUDNN" or "FLASH"; heads of keys are shared where it can."""
        torch = self.torch
        named = getattr(torch.nn.attention.SDPBackend, f"{backend}_ATTENTION")
        with torch.nn.attention.sdpa_kernel(named):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=is_causal, enable_gqa=q.shape[1] != k.shape[1]
            )


def _carry(folder: Path) -> None:
    """Lets cuTile and its assembler be found in a folder, laid out as site-packages are."""
    sys.path.insert(0, str(folder))
    bins = [folder / "nvidia" / "cu13" / "bin", folder / "bin"]
    os.environ["PATH"] = os.pathsep.join([*map(str, bins), os.environ.get("PATH", "")])


# Yardsticks: what only moves as many bytes.


def yardstick(name: str, row: Row, tools: Tools) -> list[Callable[[], Any]]:
    """Calls that only copy or only read as many bytes as a row moves, on memory of their own, taken in turn."""
    torch = tools.torch
    made: list[Callable[[], Any]] = []
    for _ in range(row.sets):
        if name == "copy":
            source = torch.ones(max(row.bytes // 2, 1), dtype=torch.int8, device="cuda")
            target = torch.empty_like(source)
            made.append(lambda target=target, source=source: target.copy_(source))
        else:
            source = torch.ones(max(row.bytes // 4, 1), dtype=torch.int32, device="cuda")
            if tools.triton is None:
                made.append(lambda source=source: source.sum())
            else:
                made.append(tools.triton.reader(source))
    return made
