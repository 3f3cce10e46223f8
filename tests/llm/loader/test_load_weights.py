"""Weights arrive as they are in the files: in order, rounded once, on any way, and never as something else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileproof as tp
from oracles.llama_peer import LlamaCpp, log_softmax
from oracles.reference_model import reference_logits
from support.checkpoints import (
    Weights,
    change_settings,
    random_weights,
    tiny,
    write_folder,
    write_gguf,
    write_safetensors,
)
from tileproof.diagnostics.codes import Code
from tileproof.llm.errors import ModelError
from tileproof.llm.loader import load as loading
from tileproof.llm.loader.checkpoint import open_model
from tileproof.llm.loader.load import load, weights_nbytes, weights_sizes
from tileproof.llm.loader.safetensors_files import stored_in
from tileproof.llm.loader.stored import OpenFiles
from tileproof.llm.models.config import ModelConfig, RopeScaling
from tileproof.llm.models.weights import ModelWeights, Weight

BF16 = np.dtype(ml_dtypes.bfloat16)
QWEN, LLAMA = tiny(), tiny("llama")
TABLE, DOWN = "model.embed_tokens.weight", "model.layers.1.mlp.down_proj.weight"
PARTS = {
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "output": ("self_attn.o_proj",),
    "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
    "down": ("mlp.down_proj",),
}
NORMS = {
    "attention_norm": "input_layernorm", "feed_norm": "post_attention_layernorm",
    "q_norm": "self_attn.q_norm", "k_norm": "self_attn.k_norm",
}  # fmt: skip


def matrix(weight: Weight) -> Any:
    """The numbers that a weight stands for, in f32."""
    values = weight.values.numpy().astype(np.float32)
    if weight.scale is None:
        return values
    return values * np.repeat(weight.scale.numpy(), 64, axis=1)[:, : weight.columns]


def taken_apart(config: ModelConfig, loaded: ModelWeights) -> Weights:
    """Loaded weights under the names of Hugging Face, in f32."""
    found: Weights = {TABLE: loaded.table.numpy().astype(np.float32), "model.norm.weight": loaded.norm.numpy()}
    if not config.tie_word_embeddings:
        found["lm_head.weight"] = matrix(loaded.head)
    q, kv = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
    for number, layer in enumerate(loaded.layers):
        for field, names in PARTS.items():
            cuts = [q, q + kv] if field == "qkv" else [config.intermediate_size] if field == "gate_up" else []
            pieces = np.split(matrix(getattr(layer, field)), cuts)
            found |= {f"model.layers.{number}.{name}.weight": part for name, part in zip(names, pieces, strict=True)}
        for field, name in NORMS.items():
            norm = getattr(layer, field)
            if norm is not None:
                found[f"model.layers.{number}.{name}.weight"] = norm.numpy()
    return found


def demand_equal(found: Weights, wanted: Weights) -> None:
    assert set(found) == set(wanted)
    for name, array in wanted.items():
        assert found[name].shape == array.shape, name
        assert (found[name] == array.astype(np.float32)).all(), name


@pytest.mark.parametrize("config", [QWEN, tiny(tie_word_embeddings=False), LLAMA], ids=["tied", "untied", "llama"])
@pytest.mark.parametrize(("shards", "dtype"), [(1, "bf16"), (3, "bf16"), (1, "f32")])
def test_weights_of_a_folder_arrive_as_they_are(config: ModelConfig, shards: int, dtype: Any, tmp_path: Path) -> None:
    weights = random_weights(config, 3)
    loaded = load(open_model(write_folder(tmp_path, config, weights, shards, dtype)))
    demand_equal(taken_apart(config, loaded), weights)
    assert (loaded.head.values is loaded.table) == config.tie_word_embeddings
    assert loaded.nbytes == weights_nbytes(config)
    assert loaded.norm.dtype == tp.bf16
    assert {weight.kind for weight in (loaded.head, loaded.layers[0].qkv)} == {"bf16"}


@pytest.mark.parametrize("shards", [1, 3])
def test_a_tied_model_with_another_head_in_its_files_uses_that(shards: int, tmp_path: Path) -> None:
    config = tiny(tie_word_embeddings=False)
    weights = random_weights(config, 3)
    path = change_settings(write_folder(tmp_path, config, weights, shards), tie_word_embeddings=True)
    opened = open_model(path)
    assert opened.config.tie_word_embeddings is False
    demand_equal(taken_apart(config, load(opened)), weights)


@pytest.mark.parametrize("config", [QWEN, LLAMA], ids=["qwen3", "llama"])
@pytest.mark.parametrize("kind", ["F32", "F16", "BF16"])
def test_weights_of_a_gguf_file_arrive_as_they_are(config: ModelConfig, kind: Any, tmp_path: Path) -> None:
    weights = random_weights(config, 4)
    loaded = load(open_model(write_gguf(tmp_path / "model.gguf", config, weights, kind)))
    wanted = {  # F16 has more digits than bf16, but not its smallest numbers
        name: array.astype(np.float16).astype(BF16) if kind == "F16" and array.ndim > 1 else array
        for name, array in weights.items()
    }
    demand_equal(taken_apart(config, loaded), wanted)


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_1"])
def test_blocks_of_a_gguf_file_are_dequantised_and_rounded_once(kind: str, tmp_path: Path) -> None:
    import gguf

    weights = random_weights(QWEN, 5)
    found = taken_apart(QWEN, load(open_model(write_gguf(tmp_path / "model.gguf", QWEN, weights, kind))))  # type: ignore[arg-type]
    stored = gguf.GGMLQuantizationType[kind]
    blocks = gguf.quantize(weights[DOWN].astype(np.float32), stored)
    assert (found[DOWN] == gguf.dequantize(blocks, stored).astype(BF16).astype(np.float32)).all()
    assert np.abs(found[TABLE] - weights[TABLE].astype(np.float32)).max() < 0.02  # of Q4_1 tables are Q8_0


@pytest.mark.parametrize(
    "config",
    [
        tiny(tie_word_embeddings=False),
        tiny("llama", tie_word_embeddings=True, rope_scaling=RopeScaling("llama3", 8.0, trained=64)),
    ],
    ids=["qwen3", "llama"],
)
def test_weights_of_a_gguf_file_mean_to_us_what_they_mean_to_llama_cpp(config: ModelConfig, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = write_gguf(tmp_path / "model.gguf", config, random_weights(config, 6), "F32")
    opened = open_model(path)
    tokens = np.random.default_rng(0).integers(0, 256, 12).tolist()
    ours = reference_logits(opened.config, taken_apart(opened.config, load(opened)), tokens)[-1]
    theirs = LlamaCpp(path).next_logprobs(tokens, config.vocab_size)
    assert np.abs(log_softmax(ours) - theirs).max() < 0.01


def test_f32_is_rounded_to_the_nearest_and_ties_to_even(tmp_path: Path) -> None:
    exact = np.arange(64 * 192, dtype=np.uint32).reshape(64, 192) + 0x3F80
    below, tie, above = (((exact << 16) + low).view(np.float32) for low in (0x7FFF, 0x8000, 0x8001))
    for values, wanted in ((below, exact), (tie, exact + (exact & 1)), (above, exact + 1)):
        weights = random_weights(QWEN) | {DOWN: values}
        found = load(open_model(write_folder(tmp_path, QWEN, weights, dtype="f32"))).layers[1].down.values
        assert (found.numpy().view(np.uint16) == wanted).all()


# 8-bit weights.


@pytest.mark.sweep(1)
@pytest.mark.parametrize("is_tied", [True, False])
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_8_bit_weights_are_within_half_a_step(is_tied: bool, dtype: Any, tmp_path: Path) -> None:
    config = tiny(
        tie_word_embeddings=is_tied, num_attention_heads=3, num_key_value_heads=1
    )  # 96 columns of the output: a group and a half
    weights = random_weights(config, 7)
    loaded = load(open_model(write_folder(tmp_path, config, weights, dtype=dtype)), quantize="int8")
    assert loaded.table.dtype == tp.bf16
    assert loaded.head.kind == "int8"
    head = weights[TABLE if is_tied else "lm_head.weight"]
    output = weights["model.layers.1.self_attn.o_proj.weight"]
    for weight, wanted in ((loaded.head, head), (loaded.layers[1].output, output)):
        assert weight.scale is not None
        assert weight.scale.shape == (weight.rows, -(-weight.columns // 64))
        step = np.repeat(weight.scale.numpy(), 64, axis=1)[:, : weight.columns]
        assert (np.abs(matrix(weight) - wanted.astype(np.float32)) <= step * 0.5001).all()
        assert np.abs(weight.values.numpy()).max() == 127
    assert loaded.nbytes == weights_nbytes(config, "int8") < weights_nbytes(config)
    exact = taken_apart(config, loaded)
    assert (exact[TABLE] == weights[TABLE].astype(np.float32)).all()
    assert (exact["model.norm.weight"] == weights["model.norm.weight"].astype(np.float32)).all()


def test_8_bit_blocks_of_a_gguf_file_lose_little_by_larger_groups(tmp_path: Path) -> None:
    weights = random_weights(LLAMA, 8)
    path = write_gguf(tmp_path / "model.gguf", LLAMA, weights, "Q8_0")
    kept = taken_apart(LLAMA, load(open_model(path), quantize="int8"))
    for name, array in weights.items():
        off = np.linalg.norm(kept[name] - array.astype(np.float32)) / np.linalg.norm(array.astype(np.float32))
        assert off < 0.01, name


# What is refused.


def refusal(path: Path, **settings: Any) -> tuple[Code, str]:
    with pytest.raises(ModelError) as caught:
        load(open_model(path), **settings)
    (found,) = caught.value.diagnostics
    assert found.help
    return found.code, caught.value.line


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("name", [DOWN, "model.norm.weight"])
def test_nan_and_infinity_name_the_tensor_and_the_file(value: float, dtype: Any, name: str, tmp_path: Path) -> None:
    weights = random_weights(QWEN)
    weights[name] = weights[name].copy()
    weights[name].reshape(-1)[-1] = value
    path = write_folder(tmp_path, QWEN, weights, dtype=dtype)
    for quantize in (None, "int8"):
        code, line = refusal(path, quantize=quantize)
        assert code is Code.MODEL_TENSOR
        assert f"`{name}` in {tmp_path / 'model.safetensors'}" in line


def test_a_number_too_large_for_bf16_is_refused_and_the_largest_is_not(tmp_path: Path) -> None:
    weights = random_weights(QWEN)
    largest = np.float32(ml_dtypes.finfo(BF16).max)
    weights[DOWN] = weights[DOWN].astype(np.float32)
    weights[DOWN][0, 0] = -largest
    load(open_model(write_folder(tmp_path, QWEN, weights, dtype="f32")))
    weights[DOWN][0, 0] = np.finfo(np.float32).max
    assert refusal(write_folder(tmp_path, QWEN, weights, dtype="f32"))[0] is Code.MODEL_TENSOR


def test_elements_that_are_no_weights_are_refused(tmp_path: Path) -> None:
    path = write_folder(tmp_path, QWEN, random_weights(QWEN))
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes().replace(b'"BF16"', b'"I16" '))
    code, line = refusal(path)
    assert code is Code.MODEL_KIND
    assert "I16" in line


def test_blocks_without_the_package_that_decodes_them_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_gguf(tmp_path / "model.gguf", QWEN, random_weights(QWEN), "Q8_0")
    plain = write_gguf(tmp_path / "plain.gguf", QWEN, random_weights(QWEN), "BF16")
    monkeypatch.setitem(sys.modules, "gguf", None)
    code, line = refusal(path)
    assert code is Code.MISSING_PACKAGE
    assert "pip install 'tileproof[llm]'" in line
    load(open_model(plain))


def test_a_way_to_quantise_that_is_not_known_is_refused(tmp_path: Path) -> None:
    assert "'int3'" in refusal(write_folder(tmp_path, QWEN, random_weights(QWEN)), quantize="int3")[1]


@pytest.mark.usefixtures("still_memory")
@pytest.mark.parametrize("quantize", [None, "int8"])
def test_weights_take_the_memory_that_they_hold(quantize: Any, tmp_path: Path) -> None:
    opened = open_model(write_folder(tmp_path, QWEN, random_weights(QWEN)))
    before = tp.memory().in_use
    loaded = load(opened, quantize=quantize)
    tp.current_stream().synchronize()  # the last rows to be quantised may still be read where they were staged
    gc.collect()
    tensors = [loaded.table, loaded.norm, loaded.layers[0].qkv.values, loaded.layers[1].down.values]
    assert len({id(tensor.block) for tensor in tensors}) == (1 if quantize is None else 2), "one for each element type"
    rounding = 256 * sum(1 for _ in weights_sizes(QWEN, quantize))
    assert loaded.nbytes <= tp.memory().in_use - before <= loaded.nbytes + rounding


@pytest.fixture
def limited(still_memory: None) -> Iterator[None]:
    tp.limit_memory(tp.memory().in_use + weights_nbytes(QWEN) - 1)
    yield
    tp.limit_memory(None)


def test_a_model_that_does_not_fit_names_the_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_folder(tmp_path / "big", QWEN, random_weights(QWEN))
    monkeypatch.setattr(loading, "free_memory", lambda device: 1000)
    code, line = refusal(path)
    assert code is Code.MODEL_MEMORY
    assert line.startswith("big takes 280.9 KiB on cpu, and 1000 bytes are free")
    assert 'quantize="int8"' in line
    assert 'quantize="int8"' not in refusal(path, quantize="int8")[1]


def test_a_limit_of_memory_is_kept(tmp_path: Path, limited: None) -> None:
    path = write_folder(tmp_path, QWEN, random_weights(QWEN))
    code, line = refusal(path)
    assert code is Code.MODEL_MEMORY
    assert "limit" in line


# On the way.


def test_progress_counts_every_byte_once(tmp_path: Path) -> None:
    opened = open_model(write_folder(tmp_path, QWEN, random_weights(QWEN), shards=2))
    seen: list[tuple[int, int, str]] = []
    load(opened, progress=lambda done, total, name: seen.append((done, total, name)))
    done = [each[0] for each in seen]
    assert done == sorted(done)
    assert done[-1] == opened.nbytes
    assert {each[1] for each in seen} == {opened.nbytes}
    assert {each[2] for each in seen} == set(opened.tensors)


def resident() -> int:
    """Bytes of files that are in memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssFile:"))


def test_pages_of_a_file_are_let_go_when_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    write_safetensors(path, {"a": np.ones((16, 1 << 20), BF16)})
    before, most = resident(), 0
    with OpenFiles() as files:
        for _, rows in files.pieces(stored_in(path)["a"]):
            assert rows.view(np.uint16).max() == 0x3F80
            most = max(most, resident() - before)
        assert most < 8 << 20


def test_norms_keep_all_digits_that_a_file_has(tmp_path: Path) -> None:
    weights = random_weights(QWEN, 6)
    weights["model.norm.weight"] = weights["model.norm.weight"].astype(np.float32) + np.float32(1e-4)
    loaded = load(open_model(write_folder(tmp_path, QWEN, weights, 1, "f32")))
    demand_equal(taken_apart(QWEN, loaded), weights)
    assert (loaded.norm.dtype, loaded.layers[0].feed_norm.dtype) == (tp.f32, tp.bf16)
