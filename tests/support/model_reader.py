"""Model files as they are: settings and tensors, read by code that shares nothing with the loader.

It reads files that the loader has accepted, and fails where bytes belong to no tensor or to two.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, BinaryIO, Final

import ml_dtypes
import numpy as np

Tensors = dict[str, Any]
"""Arrays of f32 by the names that Hugging Face gives them."""

_SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_BLOCKS: Final = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 8: (32, 34), 28: (1, 8), 30: (1, 2)}
"""Elements and bytes of a block, by the number of a type in GGUF."""
_NAMES: Final = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "token_embd": "model.embed_tokens",
    "output_norm": "model.norm", "output": "lm_head",
}  # fmt: skip
_PLAIN: Final = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
}  # fmt: skip


def read_folder(folder: Path) -> tuple[dict[str, Any], Tensors]:
    """The settings of a Hugging Face folder, and its tensors."""
    settings: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    index = folder / "model.safetensors.index.json"
    files = ["model.safetensors"]
    if index.is_file():
        files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    tensors: Tensors = {}
    for file in files:
        data = (folder / file).read_bytes()
        start = 8 + struct.unpack_from("<Q", data)[0]
        spans = []
        for name, entry in json.loads(data[8:start]).items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            spans.append((start + first, start + last))
            if entry["dtype"] in _PLAIN:
                array = np.frombuffer(data[start + first : start + last], _PLAIN[entry["dtype"]])
                tensors[name] = _wide(array).reshape(entry["shape"])
        _demand_filled(start, spans, len(data))
    return settings, tensors


def read_gguf(path: Path) -> tuple[dict[str, Any], Tensors]:
    """The values of a GGUF file, and its tensors. Heads of Llama have their halves one after the other again."""
    with path.open("rb") as file:
        _, _, count, keys = _unpack(file, "IIQQ")
        values = {}
        for _ in range(keys):
            key = _string(file)
            values[key] = _value(file, _unpack(file, "I")[0])
        entries = []
        for _ in range(count):
            name = _string(file)
            shape = _unpack(file, "Q" * _unpack(file, "I")[0])[::-1]
            entries.append((name, shape, *_unpack(file, "IQ")))
        alignment = values.get("general.alignment", 32)
        start = -(-file.tell() // alignment) * alignment
        tensors: Tensors = {}
        spans = []
        for name, shape, kind, offset in entries:
            elements, size = _BLOCKS[kind]
            nbytes = int(np.prod(shape)) // elements * size
            spans.append((start + offset, start + offset + -(-nbytes // alignment) * alignment))
            file.seek(start + offset)
            tensors[_hugging_face_name(name)] = _decoded(file.read(nbytes), kind).reshape(shape)
        _demand_filled(start, spans, path.stat().st_size)
    if values["general.architecture"] == "llama":
        heads, groups = values["llama.attention.head_count"], values.get("llama.attention.head_count_kv")
        for name, array in tensors.items():
            if name.endswith(("q_proj.weight", "k_proj.weight")):
                rows = array.reshape(heads if "q_proj" in name else groups or heads, -1, 2, array.shape[1])
                tensors[name] = rows.swapaxes(1, 2).reshape(array.shape)
    return values, tensors


def _demand_filled(start: int, spans: list[tuple[int, int]], size: int) -> None:
    ends = [start, *(last for _, last in sorted(spans))]
    if [first for first, _ in sorted(spans)] != ends[:-1] or size > ends[-1]:
        raise ValueError(f"spans {sorted(spans)[:9]} do not fill the {size} bytes of the file")


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))


def _string(file: BinaryIO) -> str:
    return file.read(_unpack(file, "Q")[0]).decode()


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == 8:
        return _string(file)
    if kind == 9:
        inner, count = _unpack(file, "IQ")
        return [_value(file, inner) for _ in range(count)]
    return _unpack(file, _SCALARS[kind])[0]


def _hugging_face_name(name: str) -> str:
    stem, _, end = name.rpartition(".")
    if stem.startswith("blk."):
        _, number, part = stem.split(".")
        return f"model.layers.{number}.{_NAMES[part]}.{end}"
    return f"{_NAMES.get(stem, stem)}.{end}"


def _decoded(data: bytes, kind: int) -> Any:
    plain = {0: np.float32, 1: np.float16, 28: np.float64, 30: ml_dtypes.bfloat16}
    if kind in plain:
        return _wide(np.frombuffer(data, plain[kind]))
    blocks = np.frombuffer(data, np.uint8).reshape(-1, _BLOCKS[kind][1])
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float64)
    if kind == 8:
        return _wide(scale * blocks[:, 2:].copy().view(np.int8))
    least = scale * -8 if kind == 2 else blocks[:, 2:4].copy().view(np.float16).astype(np.float64)
    halves = blocks[:, 2 if kind == 2 else 4 :]
    return _wide(scale * np.concatenate([halves & 15, halves >> 4], axis=1) + least)


def _wide(array: Any) -> Any:
    return array.astype(np.float32)
