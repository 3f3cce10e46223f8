"""Launches two kernels on a stand-in for a GPU of architecture sm_90, where there is no assembler and no prover.

    python bundle_launches.py FOLDER [BUNDLE]

`FOLDER` has kernels.py. Prints, as JSON, the launches that came to the driver and the sums of the code it was given, or
what was raised.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from importlib.abc import MetaPathFinder
from typing import Any

import numpy as np

import tileproof as tp
from oracles.cuda_driver import Stub
from support.device_buffers import to_device
from tileproof.backends.cuda.device import driver


class WithoutProver(MetaPathFinder):
    """Refuses to import z3, as a machine without it does."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] == "z3":
            raise ModuleNotFoundError("there is no z3 here", name="z3")


class OneGPU(Stub):
    """A driver that takes any code and has every function."""

    def on_cuLibraryGetKernel(self, library: str, name: bytes) -> Any:  # noqa: N802
        return (0xF00,)

    def on_cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0x1234, 1


def launched(kernel: tp.Kernel, *args: Any, **constants: Any) -> str:
    """`ok`, or the code, message, notes and help of what was raised."""
    try:
        kernel(*args, **constants)
    except tp.TileproofError as error:
        (diagnostic,) = error.diagnostics
        return " | ".join((diagnostic.code.id, diagnostic.message, *diagnostic.notes, diagnostic.help))
    except ModuleNotFoundError as error:
        return str(error)
    return "ok"


def main() -> None:
    sys.meta_path.insert(0, WithoutProver())
    sys.path.insert(0, sys.argv[1])
    stub = OneGPU(count=1)
    driver._imported = lambda: stub
    messages: dict[str, Any] = {}
    if len(sys.argv) > 2:
        messages["bundle"] = repr(tp.load_bundle(sys.argv[2]))
    import kernels  # type: ignore[import-not-found]

    def array(length: int, dtype: Any = np.float32) -> Any:
        return to_device(np.arange(length, dtype=dtype))

    messages["double"] = launched(kernels.double, array(100), array(100), B=32)
    messages["put"] = launched(kernels.put, array(40), array(8), array(1, np.int32))
    messages["other sizes"] = launched(kernels.double, array(101), array(101), B=32)
    messages["other constants"] = launched(kernels.double, array(100), array(100), B=16)
    messages["launches"] = len(stub.launches)
    messages["code"] = [sha256(args[0]).hexdigest() for args in stub.named("cuLibraryLoadData")]
    print(json.dumps(messages))


if __name__ == "__main__":
    main()
