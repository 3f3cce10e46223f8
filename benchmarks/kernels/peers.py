"""Everybody else who is on the machine: torch with the libraries it calls, torch.compile, Triton, cuTile and numpy.

On a GPU torch stands for cuBLAS in GEMM and for cuDNN in attention. Triton and cuTile take part where they can be
imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy

from ..harness.row import Args, Peer, Row

COLUMNS: Final = {"gpu": ("torch", "torch.compile", "Triton", "cuTile"), "cpu": ("torch", "numpy")}
"""Who takes part on which device."""
_MODE: Final = "max-autotune-no-cudagraphs"
"""Graphs are captured here, by the same hands for all."""


def eager(way: Callable[[Any, Args], Any], name: str = "torch", *, only: str = "") -> Peer:
    """What torch does when it is called."""
    return Peer("torch", name, way, only=only)


def compiled(work: Callable[..., Any], *names: str) -> Peer:
    """What torch.compile makes of a function of the arguments with these names. It gets torch first."""
    way = lambda t, a: t.compiled(work)(*(getattr(a, name) for name in names))  # noqa: E731
    return Peer("torch.compile", "torch.compile", way)


class Tools:
    """What peers call: modules by name, and functions that were compiled. Whoever is missing is in `absent`."""

    def __init__(
        self, torch: Any, cutile: Path | None = None, without: Sequence[str] = (), device: str = "gpu"
    ) -> None:
        self.torch, self.numpy, self.device = torch, numpy, device
        self.absent: dict[str, str] = {}
        """By column, why there is nobody."""
        self.triton: ModuleType | None = None
        self.cutile: ModuleType | None = None
        if torch is None:
            self.absent["torch"] = "not installed"
        if device == "gpu":
            self.triton = self._imported("Triton", "triton_kernels", "not installed")
            if cutile is None:
                self.absent["cuTile"] = "not carried"
            else:
                _carry(cutile)
                self.cutile = self._imported("cuTile", "cutile_kernels", "not usable")
            if self.triton is None:
                self.absent["torch.compile"] = "it needs Triton"
        self.absent |= dict.fromkeys(without, "left out")
        self._compiled: dict[Any, Any] = {}
        self._kept: dict[tuple[str, int], Any] = {}

    def _imported(self, column: str, module: str, otherwise: str) -> ModuleType | None:
        try:
            return import_module(f"{__package__}.{module}")
        except Exception as error:  # whatever is wrong with a peer, the others can still be measured
            message = "" if isinstance(error, ModuleNotFoundError) else f": {str(error).splitlines()[0][:60]}"
            self.absent[column] = f"{otherwise}{message}"
            return None

    def of(self, row: Row) -> list[Peer]:
        """Who takes part in a row."""
        self.forget()
        here = [peer for peer in row.peers if peer.only in ("", self.device) and peer.column in COLUMNS[self.device]]
        return [peer for peer in here if peer.column not in self.absent]

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
