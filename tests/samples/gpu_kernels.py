"""Kernels for the driver alone, as texts that it compiles for any GPU, and what passes arguments to them."""

from __future__ import annotations

import ctypes
from typing import Any

from tileproof.backends.cuda.device.driver import Function, launch

_HEAD = """
.version 8.0
.target sm_80
.address_size 64
"""
NUMBERING = (
    _HEAD
    + """
.visible .entry numbering(.param .u64 place, .param .u32 more)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [place];
    ld.param.u32 %r1, [more];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ctaid.y;
    mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    add.u32 %r6, %r5, %r1;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r6;
    ret;
}
"""
)
"""Writes the number of each program and a number more; programs are counted along x, then y."""
STRAYING = (
    _HEAD
    + """
.visible .entry straying()
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 64;
    st.global.u32 [%rd1], 1;
    ret;
}
"""
)
"""Writes where nothing is."""
FOREIGN = NUMBERING.replace("8.0", "9.0").replace("sm_80", "sm_121a")
"""Code for a GPU of another kind."""


def code(text: str) -> bytes:
    """A text as the driver takes it."""
    return text.encode() + b"\0"


def start(function: Function, grid: tuple[int, int, int], stream: int, *values: Any, early: bool = False) -> None:
    """Launches a kernel with arguments, given as values of ctypes; the driver copies them before it comes back."""
    pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    launch(function, grid, stream, ctypes.addressof(pointers), early=early)


def number(
    kernel: Function, grid: tuple[int, int, int], stream: int, place: int, more: int, *, early: bool = False
) -> None:
    """Launches `numbering`."""
    start(kernel, grid, stream, ctypes.c_uint64(place), ctypes.c_uint32(more), early=early)
