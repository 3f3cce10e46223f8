"""Elements that GGUF files keep in blocks of 4 to 8 bits, as numbers again: the one use of the `gguf` package."""

from __future__ import annotations

from typing import Any

from tileproof.diagnostics.codes import Code

from .errors import refused
from .stored import Stored


def dequantised(blocks: Any, tensor: Stored) -> Any:
    """Rows of bytes as rows of f32."""
    try:
        from gguf import GGMLQuantizationType, dequantize
    except ImportError:
        message = f"{tensor} is stored as {tensor.kind}, which the package gguf decodes, and that is not installed"
        raise refused(Code.MISSING_PACKAGE, message, "pip install 'tileproof[llm]'") from None
    return dequantize(blocks, GGMLQuantizationType[tensor.kind])
