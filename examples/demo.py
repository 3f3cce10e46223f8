"""A first look: two kernels against numpy, and one that is rejected."""

import math
import sys
from typing import Any

import numpy as np

import attention
import matmul
import tileproof as tp
from rejected import swapped_index
from tileproof.diagnostics import render


def show(example: Any, kernel: tp.Kernel, programs: int, **sizes: int) -> None:
    """Runs a kernel and reports how far it is from numpy."""
    args, constants = example.arguments(**sizes)
    (expected,) = example.reference(*args)
    kernel(*args, **constants)
    shapes = ", ".join("x".join(map(str, a.shape)) for a in args if isinstance(a, np.ndarray))
    error = np.abs(args[0] - expected).max()
    print(f"  {kernel.name:<10} {shapes:<36} {programs:>4} programs   largest error {error:.1e}")
    if not error < 1e-4:
        sys.exit(f"{kernel.name} disagrees with numpy")


def main() -> None:
    print("Kernels against numpy, with tiles that do not divide the sizes:\n")
    show(matmul, matmul.matmul, math.ceil(100 / 16) * math.ceil(70 / 8), M=100, N=70, K=50)
    show(attention, attention.attention, 4 * math.ceil(21 / 8), G=2, heads=2, S=21, C=60, D=16, past=30)

    print("\nThe same product with a[k, i] for a[i, k] is rejected before anything runs:\n")
    args, constants = matmul.arguments()
    try:
        swapped_index.matmul(*args, **constants)
    except tp.KernelError as error:
        for diagnostic in error.diagnostics:
            print(render(diagnostic, color=sys.stdout.isatty()))
    else:
        sys.exit("the kernel should have been rejected")


if __name__ == "__main__":
    main()
