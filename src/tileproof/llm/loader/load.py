"""Loading: from files into the tensors that kernels read, piece by piece, so that no model is in memory twice.

Weights become bf16, rounded to nearest even, or 8-bit integers with a scale for every 64 neighbours. Blocks of GGUF's
Q8_0 have a scale for every 32 and are quantised anew: that costs half a step of rounding once more, an error as small
as theirs, and saves the twentieth part of what each token reads, with one form of 8-bit weights for all kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import ml_dtypes
import numpy as np

import tileproof as tp
from tileproof.diagnostics.codes import Code
from tileproof.kernels import quantize_int8
from tileproof.language.dtypes import BF16, F32, I8, DType

from ..errors import refused
from ..memory import formatted_bytes, free_memory
from ..models.config import ModelConfig
from ..models.weights import GROUP, LayerWeights, ModelWeights, Weight
from . import layout
from .blocks import Blocks
from .checkpoint import Checkpoint
from .stored import PIECE, OpenFiles, Stored

Progress = Callable[[int, int, str], None]
"""Called with the bytes that were read, those there are, and the tensor of the moment."""
Quantize = Literal["int8"] | None
Sink = Callable[[int, Any, Stored], None]
"""Takes some rows: the number of the first, their elements, and the tensor they are from."""
_BF16: Final = np.dtype(ml_dtypes.bfloat16)
_EXPONENT: Final = {2: {"V": 0xFF00, "f": 0xF800}, 4: {"f": 0xFF000000}}
"""Of bf16, f16 and f32 the bits of the exponent, moved up by one so that the sign is gone: all set is no number."""


def load(
    checkpoint: Checkpoint, device: str = "cpu", quantize: Quantize = None, progress: Progress | None = None
) -> ModelWeights:
    """The weights of a model on a device.

    `progress` is called with the bytes that were read, all there are, and the name of a tensor.
    """
    if quantize not in (None, "int8"):
        raise refused(Code.MODEL_KIND, f"quantize is {quantize!r}", 'use "int8", or None for bf16')
    needed = weights_nbytes(checkpoint.config, quantize)
    _demand_room(checkpoint.config, device, quantize, needed)
    try:
        # What overflows or is no number while it is converted is found in the result, and refused by name.
        with OpenFiles() as files, np.errstate(all="ignore"):
            return _Loader(checkpoint, files, device, quantize, progress).model()
    except tp.OutOfMemory as error:
        raise _no_room(checkpoint.config, device, quantize, needed, error.diagnostics[0].message) from error


def weights_nbytes(config: ModelConfig, quantize: Quantize = None) -> int:
    """The memory that the weights of a model take; norms in f32 take a little more."""
    return sum(size * dtype.bits // 8 for dtype, size in weights_sizes(config, quantize))


def weights_sizes(config: ModelConfig, quantize: Quantize = None) -> Iterator[tuple[DType, int]]:
    """The element types of all weights of a model, each with a number of elements."""
    for name, shape in layout.model_shapes(config):
        if len(shape) == 1:
            yield BF16, shape[0]
            continue
        rows, columns = shape
        if quantize is None or name == layout.TABLE:
            yield BF16, rows * columns
        if quantize is not None and (name != layout.TABLE or config.tie_word_embeddings):
            yield I8, rows * columns
            yield F32, rows * -(-columns // GROUP)


def _demand_room(config: ModelConfig, device: str, quantize: Quantize, needed: int) -> None:
    free, state = free_memory(device), tp.memory(device)
    if state.limit is not None and state.limit - state.in_use < min(free, needed):
        left = max(state.limit - state.in_use, 0)
        why = f"{formatted_bytes(left)} of the limit of {formatted_bytes(state.limit)} are left"
        raise _no_room(config, device, quantize, needed, why)
    if free < needed:
        raise _no_room(config, device, quantize, needed, f"{formatted_bytes(free)} are free")


def _no_room(config: ModelConfig, device: str, quantize: Quantize, needed: int, why: str) -> Exception:
    cure = "use a smaller model"
    if quantize is None:
        cure = f'quantize="int8" takes {formatted_bytes(weights_nbytes(config, "int8"))}; or {cure}'
    return refused(Code.MODEL_MEMORY, f"{config.name} takes {formatted_bytes(needed)} on {device}, and {why}", cure)


class _Loader:
    """Makes tensors one after the other, and fills them from files."""

    def __init__(
        self, checkpoint: Checkpoint, files: OpenFiles, device: str, quantize: Quantize, progress: Progress | None
    ) -> None:
        self.config, self.tensors, self.total = checkpoint.config, checkpoint.tensors, checkpoint.nbytes
        self.files, self.device, self.quantize, self.progress = files, device, quantize, progress
        self.blocks = Blocks(device, weights_sizes(checkpoint.config, quantize))
        self.done = 0
        self.stages: dict[str, tp.Tensor] = {}

    def model(self) -> ModelWeights:
        config = self.config
        table = self.blocks.empty((config.vocab_size, config.hidden_size), BF16)
        sinks = [self._into(table)]
        head: Weight | None = None
        if config.tie_word_embeddings:
            head = (
                Weight("bf16", table) if self.quantize is None else self._empty(config.vocab_size, config.hidden_size)
            )
            sinks += [] if self.quantize is None else [self._quantised_into(head)]
        self._read(layout.TABLE, *sinks)
        layers = tuple(self._layer(number) for number in range(config.num_hidden_layers))
        norm = self._norm(layout.NORM)
        return ModelWeights(table, layers, norm, head or self._matrix(layout.HEAD))

    def _layer(self, number: int) -> LayerWeights:
        def full(*names: str) -> tuple[str, ...]:
            return tuple(f"{layout.layer_prefix(number)}{name}.weight" for name in names)

        has_norms = self.config.has_qk_norm
        return LayerWeights(
            attention_norm=self._norm(*full("input_layernorm")),
            qkv=self._matrix(*full("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")),
            q_norm=self._norm(*full("self_attn.q_norm")) if has_norms else None,
            k_norm=self._norm(*full("self_attn.k_norm")) if has_norms else None,
            output=self._matrix(*full("self_attn.o_proj")),
            feed_norm=self._norm(*full("post_attention_layernorm")),
            gate_up=self._matrix(*full("mlp.gate_proj", "mlp.up_proj")),
            down=self._matrix(*full("mlp.down_proj")),
        )

    def _norm(self, name: str) -> tp.Tensor:
        parts: list[Any] = []

        def keep(_: int, rows: Any, tensor: Stored) -> None:
            values = rows.astype(np.float32).reshape(tensor.shape)
            _demand_numbers(values, tensor)
            parts.append(values)

        self._read(name, keep)
        (wide,) = parts
        narrow = wide.astype(_BF16)
        is_exact = bool((narrow.astype(np.float32) == wide).all())
        norm: tp.Tensor = self.blocks.empty(wide.shape, BF16 if is_exact else F32)
        return norm.copy_from(narrow if is_exact else wide)

    def _matrix(self, *names: str) -> Weight:
        """Matrices below one another, as one."""
        tensors = [self.tensors[name] for name in names]
        matrix = self._empty(sum(tensor.rows for tensor in tensors), tensors[0].shape[1])
        start = 0
        for name, tensor in zip(names, tensors, strict=True):
            sink = self._into(matrix.values, start) if self.quantize is None else self._quantised_into(matrix, start)
            self._read(name, sink)
            start += tensor.rows
        return matrix

    def _empty(self, rows: int, columns: int) -> Weight:
        if self.quantize is None:
            return Weight("bf16", self.blocks.empty((rows, columns), BF16))
        scale = self.blocks.empty((rows, -(-columns // GROUP)), F32)
        return Weight("int8", self.blocks.empty((rows, columns), I8), scale)

    def _read(self, name: str, *sinks: Sink) -> None:
        tensor = self.tensors[name]
        size = tensor.nbytes // max(tensor.rows, 1)
        for first, rows in self.files.pieces(tensor):
            for sink in sinks:
                sink(first, rows, tensor)
            self.done += rows.shape[0] * size
            if self.progress is not None:
                self.progress(self.done, self.total, name)

    def _into(self, to: tp.Tensor, start: int = 0) -> Sink:
        """Writes rows as bf16."""

        def write(first: int, rows: Any, tensor: Stored) -> None:
            values = rows if rows.dtype == _BF16 else rows.astype(np.float32, copy=False).astype(_BF16)
            _demand_numbers(values, tensor)
            to[start + first : start + first + len(rows)].copy_from(values)

        return write

    def _quantised_into(self, to: Weight, start: int = 0) -> Sink:
        """Writes rows as 8-bit integers with scales, which a kernel makes on the device."""
        scale = to.scale
        assert scale is not None

        def write(first: int, rows: Any, tensor: Stored) -> None:
            values = rows if rows.dtype == _BF16 else rows.astype(np.float32, copy=False)
            _demand_numbers(values, tensor)
            stage = self._stage(values)
            place = slice(start + first, start + first + len(rows))
            quantize_int8(stage, GROUP, out=(to.values[place], scale[place]))

        return write

    def _stage(self, values: Any) -> tp.Tensor:
        """Some rows on the device, in memory that is used again and again."""
        rows, columns = values.shape
        kind = BF16 if values.dtype == _BF16 else F32
        stage = self.stages.get(kind.name)
        if stage is None or stage.size < values.size:
            stage = self.stages[kind.name] = tp.empty(max(values.size, PIECE), kind, self.device)
        here: tp.Tensor = stage[: values.size].wait().reshape(rows, columns)
        return here.copy_from(values)


def _demand_numbers(values: Any, tensor: Stored) -> None:
    """Refuses NaN and infinity, by their bits: that costs a tenth of asking for each number."""
    size = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(np.dtype(f"u{size}"))
    if bits.size and (bits << 1).max() >= _EXPONENT[size][values.dtype.kind]:
        message = f"{tensor} holds NaN or infinity, or a number too large for bf16"
        raise refused(Code.MODEL_TENSOR, message, "download the file again, or use another model: it cannot give text")
