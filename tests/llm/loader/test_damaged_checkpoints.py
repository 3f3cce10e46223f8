"""Files of models that are missing, damaged or of something else are refused by name, and nothing is read by them."""

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support import checkpoints
from support.checkpoints import (
    Weights,
    change_settings,
    config_json,
    gguf_name,
    random_weights,
    tiny,
    write_folder,
    write_gguf,
    write_json,
    write_safetensors,
)
from tileproof.diagnostics.codes import Code
from tileproof.llm.errors import ModelError
from tileproof.llm.loader.checkpoint import open_model
from tileproof.llm.loader.safetensors_files import stored_in
from tileproof.llm.models.config import RopeScaling

Spoil = Callable[[Path], None]
WEIGHTS = random_weights(tiny())
OLD = WEIGHTS["model.norm.weight"]


def refusal(path: Path) -> tuple[Code, str]:
    """Why a model is refused: the code, and all that is said in a line."""
    with pytest.raises(ModelError) as caught:
        open_model(path)
    (found,) = caught.value.diagnostics
    assert found.help
    assert caught.value.line.isprintable()
    assert len(caught.value.line) < 2100
    return found.code, caught.value.line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "model", tiny(), WEIGHTS)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architectures": ["GemmaForCausalLM"]}, "Qwen3ForCausalLM and LlamaForCausalLM"),
        ({"architectures": None, "model_type": "mamba"}, "'mamba'"),
        ({"model_type": "mistral"}, "`architectures` 'Qwen3ForCausalLM', and `model_type` 'mistral'"),
        ({"architectures": ["LlamaForCausalLM"], "model_type": "granite"}, "set `model_type` to 'llama'"),
        ({"architectures": ["LlamaForCausalLM"]}, "`model_type` 'qwen3'"),
        ({"attention_bias": True}, "`attention_bias`"),
        ({"mlp_bias": True}, "`mlp_bias`"),
        ({"hidden_act": "gelu" * 9999}, "'gelugelu"),
        ({"hidden_act": "gelu"}, "'gelu'"),
        ({"use_sliding_window": True, "sliding_window": 64}, "`use_sliding_window`"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "`layer_types`"),
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8"),
        ({"num_experts": 8}, "mixture of experts"),
        ({"partial_rotary_factor": 0.5}, "`partial_rotary_factor`"),
        ({"rope_parameters": {"rope_type": "longrope"}}, "'longrope'"),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0, "attention_factor": 3.0}}, "`attention_factor`"),
    ],
)
def test_what_the_engine_does_not_have_is_named(changes: dict[str, Any], said: str, folder: Path) -> None:
    code, line = refusal(change_settings(folder, **changes))
    assert code is Code.MODEL_KIND
    assert said in line
    assert str(folder / "config.json") in line


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_hidden_layers": -1}, "`num_hidden_layers` is -1"),
        ({"hidden_size": ...}, "does not say `hidden_size`"),
        ({"hidden_size": "64"}, "`hidden_size` is '64'"),
        ({"num_attention_heads": 0}, "`num_attention_heads` is 0"),
        ({"num_key_value_heads": 3}, "4 heads of queries cannot share 3"),
        ({"head_dim": 33}, "33 elements"),
        ({"tie_word_embeddings": "false"}, "`tie_word_embeddings` is 'false', not true or false"),
        ({"rms_norm_eps": float("nan")}, "`rms_norm_eps` is nan"),
        ({"eos_token_id": 320}, "token 320"),
        ({"eos_token_id": "<eos>"}, "`eos_token_id`"),
        ({"bos_token_id": [1, 2]}, "`bos_token_id` is [1, 2], not a token"),
        ({"rope_parameters": [1]}, "`rope_parameters`"),
        ({"head_dim": 1 << 40}, "heads of 1099511627776 elements"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1.0, "factor": 4.0}}, "make no angles"),
        ({"rope_parameters": {"rope_theta": 1e6, "factor": 4.0}}, "has no `rope_type`"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "`rope_parameters` and `rope_scaling` differ"),
    ],
)
def test_settings_that_make_no_model_are_named(changes: dict[str, Any], said: str, folder: Path) -> None:
    code, line = refusal(change_settings(folder, **changes))
    assert code is Code.MODEL_FILE
    assert said in line


WRONG = ([], {}, [{}], None, "x", -1, 0, 1e400, True, [[1]], {"rope_type": {}}, {"rope_type": "yarn", "factor": "x"},
         10**400, 10**4299, {"rope_theta": 10**400}, {"rope_type": "linear", "factor": 10**400},
         {"rope_type": "yarn", "factor": 1e308, "original_max_position_embeddings": 1 << 62},
         {"rope_type": "yarn", "original_max_position_embeddings": 10**400})  # fmt: skip


def test_no_setting_of_a_wrong_type_is_a_surprise(folder: Path) -> None:
    settings = config_json(tiny())
    for name in [*settings, "rope_scaling", "quantization_config", "partial_rotary_factor", "num_experts"]:
        for value in WRONG:
            write_json(folder / "config.json", settings | {name: value})
            with suppress(ModelError):
                open_model(folder)
    write_json(folder / "config.json", settings)
    (folder / "tokenizer.json").write_text('{"model": {"vocab": 3}}')
    assert refusal(folder)[0] is Code.MODEL_FILE
    (folder / "tokenizer.json").write_text('{"model": {"vocab": []}, "added_tokens": 3}')
    open_model(folder)


@pytest.mark.parametrize(
    ("name", "text"), [("config.json", "{"), ("config.json", "[]"), ("config.json", "\xff"), ("tokenizer.json", "[")]
)
def test_a_file_that_is_no_json_is_named(name: str, text: str, folder: Path) -> None:
    (folder / name).write_bytes(text.encode("latin-1"))
    code, line = refusal(folder)
    assert code is Code.MODEL_FILE
    assert str(folder / name) in line


def test_a_path_without_a_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no model")
    (tmp_path / "empty.gguf").write_bytes(b"")
    for path, said in (
        (tmp_path / "nowhere", "there is no file or folder"),
        (tmp_path / "notes.txt", "is no model"),
        (tmp_path / "empty.gguf", "is empty"),
    ):
        code, line = refusal(path)
        assert code is Code.MODEL_FILE
        assert said in line
        assert str(path) in line
    (tmp_path / "empty.gguf").unlink()
    assert "no config.json and no .gguf" in refusal(tmp_path)[1]
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    assert "2 models: a.gguf, b.gguf" in refusal(tmp_path)[1]


def test_what_is_no_file_is_not_read(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    code, line = refusal(folder)
    assert code is Code.MODEL_FILE
    assert f"{folder / 'model.safetensors'} is a folder, a pipe or a device" in line


def test_a_folder_without_weights_says_what_it_has(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    code, line = refusal(folder)
    assert code is Code.MODEL_FILE
    assert "it has pytorch_model.bin" in line


def test_a_pointer_of_git_in_place_of_weights_is_named(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n")
    assert "git lfs pull" in refusal(folder)[1]


def rewritten(folder: Path, change: Callable[[Weights], Any], shards: int = 1) -> Path:
    weights = dict(WEIGHTS)
    change(weights)
    return write_folder(folder, tiny(), weights, shards)


DOWN = "model.layers.1.mlp.down_proj.weight"


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (lambda w: w.pop(DOWN), Code.MODEL_TENSOR, f"`{DOWN}` is missing"),
        (lambda w: w.update({DOWN: w[DOWN][:, :-2]}), Code.MODEL_TENSOR, "(64, 190), and by the model's settings"),
        (lambda w: w.update({DOWN.replace(".1.", ".2."): w[DOWN]}), Code.MODEL_TENSOR, "layer 2"),
        (lambda w: w.update({DOWN.replace("weight", "bias"): OLD}), Code.MODEL_KIND, "a bias"),
        (lambda w: w.update({"model.vision.weight": OLD}), Code.MODEL_KIND, "`model.vision.weight`"),
        (lambda w: w.update({"model.\x1b[2J\n": OLD}), Code.MODEL_KIND, "x1b"),
        (lambda w: w.update({f"model.layers.{'1' * 5000}.weight": OLD}), Code.MODEL_KIND, "is not part of models"),
        (lambda w: w.update({DOWN.replace("weight", "qweight"): w.pop(DOWN)}), Code.MODEL_KIND, 'quantize="int8"'),
        (
            lambda w: [w.update({name.removeprefix("model."): w.pop(name)}) for name in list(w)],
            Code.MODEL_TENSOR,
            "`embed_tokens.weight` and the like, without `model.`",
        ),
    ],
)  # fmt: skip
def test_tensors_that_are_not_those_of_the_model_are_named(
    spoil: Callable[[Weights], Any], code: Code, said: str, tmp_path: Path
) -> None:
    found, line = refusal(rewritten(tmp_path / "model", spoil))
    assert found is code
    assert said in line
    assert "model.safetensors" in line


def test_shards_that_do_not_fit_their_index_are_named(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "model", tiny(), WEIGHTS, shards=3)
    index = path / "model.safetensors.index.json"
    told = json.loads(index.read_text())
    places = told["weight_map"]
    last = places["model.norm.weight"]
    write_json(index, {"weight_map": places | {DOWN: "model-00001-of-00003.safetensors"}})
    code, line = refusal(path)
    assert code is Code.MODEL_TENSOR
    assert f"`{DOWN}` is not in {path / 'model-00001-of-00003.safetensors'}" in line
    for bad in ({**places, DOWN: "../other.safetensors"}, {**places, DOWN: 3}, {**places, DOWN: "x" * 5000}, []):
        write_json(index, {"weight_map": bad})
        assert refusal(path)[0] is Code.MODEL_FILE
    write_json(index, told)
    (path / last).unlink()
    code, line = refusal(path)
    assert code is Code.MODEL_FILE
    assert str(path / last) in line


def test_what_a_shard_has_and_its_index_does_not_is_not_left_out(tmp_path: Path) -> None:
    bias = DOWN.replace("weight", "bias")
    path = write_folder(tmp_path / "bias", tiny(), WEIGHTS | {bias: OLD}, shards=3)
    index = path / "model.safetensors.index.json"
    places = json.loads(index.read_text())["weight_map"]
    write_json(index, {"weight_map": {name: file for name, file in places.items() if name != bias}})
    code, line = refusal(path)
    assert code is Code.MODEL_KIND
    assert f"`{bias}`" in line
    path = write_folder(tmp_path / "twice", tiny(), WEIGHTS, shards=3)
    write_safetensors(path / "model-00001-of-00003.safetensors", WEIGHTS)
    code, line = refusal(path)
    assert code is Code.MODEL_TENSOR
    assert "is in model-00001-of-00003.safetensors, too" in line


def test_a_head_of_another_shape_is_not_left_out(tmp_path: Path) -> None:
    path = rewritten(tmp_path / "model", lambda w: w.update({"lm_head.weight": w["model.embed_tokens.weight"][:-1]}))
    code, line = refusal(path)
    assert code is Code.MODEL_TENSOR
    assert "`lm_head.weight`" in line


def header(change: Callable[[dict[str, Any]], Any]) -> Spoil:
    """Writes a file anew with a changed header."""

    def spoil(path: Path) -> None:
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little")
        told = json.loads(data[8 : 8 + length])
        made = change(told)
        text = json.dumps(told if made is None else made).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])

    return spoil


def raw(change: Callable[[bytes], bytes]) -> Spoil:
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (raw(lambda data: b""), "is empty"),
        (raw(lambda data: data[:5]), "a header of"),
        (raw(lambda data: b"\xff" * 8 + data[8:]), "a header of 18446744073709551615 bytes"),
        (raw(lambda data: data[:100]), "a header of"),
        (raw(lambda data: struct.pack("<Q", 1 << 25) + bytes(1 << 26)), "a header of 33554432 bytes"),
        (raw(lambda data: data[:8] + b"x" + data[9:]), "no JSON"),
        (raw(lambda data: data[:-2]), "ends at byte"),
        (raw(lambda data: data + b"\0\0"), "2 bytes stand behind"),
        (header(lambda told: [1]), "no table of tensors"),
        (header(lambda told: told[DOWN].update(dtype="F6")), "elements of F6"),
        (header(lambda told: told[DOWN].update(shape=[64, -192])), f"nothing sensible of `{DOWN}`"),
        (header(lambda told: told[DOWN].update(shape=[1] * 9)), f"nothing sensible of `{DOWN}`"),
        (header(lambda told: told[DOWN].update(shape=[10**4000, 10**4000])), f"nothing sensible of `{DOWN}`"),
        (header(lambda told: told[DOWN].update(data_offsets=[-(10**4299), 9 * 10**4299])), "nothing sensible"),
        (header(lambda told: told[DOWN].update(shape=[64, 191])), "takes 24448 bytes, and its place has 24576"),
        (header(lambda told: told[DOWN].pop("data_offsets") and None), f"nothing sensible of `{DOWN}`"),
        (header(lambda told: told[DOWN].update(data_offsets=[4, 24580])), "overlaps"),
        (header(lambda told: told.pop("model.embed_tokens.weight") and None), "leaves a gap"),
    ],
)
def test_a_damaged_header_is_refused(spoil: Spoil, said: str, folder: Path) -> None:
    spoil(folder / "model.safetensors")
    code, line = refusal(folder)
    assert code is Code.MODEL_FILE
    assert said in line
    assert str(folder / "model.safetensors") in line


def test_a_name_that_stands_twice_in_a_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.safetensors"
    entry = '"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    text = f"{{{entry},{entry}}}".encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0")
    with pytest.raises(ModelError, match="twice"):
        stored_in(path)


def test_no_damage_to_a_header_is_a_surprise(tmp_path: Path) -> None:
    path, gguf = tmp_path / "small.safetensors", tmp_path / "small.gguf"
    write_safetensors(path, {name: array[:1] for name, array in list(WEIGHTS.items())[:3]})
    write_gguf(gguf, tiny(), dict(list(WEIGHTS.items())[:12]))
    rng = random.Random(7)
    for file, check in ((path, stored_in), (gguf, open_model)):
        whole = file.read_bytes()
        for _ in range(150):
            data = bytearray(whole[: rng.choice((len(whole), rng.randrange(len(whole))))])
            for _ in range(rng.choice((0, 1, 8))):
                if data:
                    data[min(int(rng.expovariate(0.01)), len(data) - 1)] = rng.randrange(256)
            file.write_bytes(data)
            with suppress(ModelError):
                check(file)


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("general.architecture", "gemma", Code.MODEL_KIND),
        ("qwen3.expert_count", 8, Code.MODEL_KIND),
        ("qwen3.attention.sliding_window", 64, Code.MODEL_KIND),
        ("qwen3.attention.value_length", 64, Code.MODEL_KIND),
        ("qwen3.rope.scaling.type", "longrope", Code.MODEL_KIND),
        ("qwen3.block_count", None, Code.MODEL_FILE),
        ("qwen3.block_count", 3, Code.MODEL_TENSOR),
        ("qwen3.attention.head_count_kv", [2, 2], Code.MODEL_FILE),
        ("tokenizer.ggml.eos_token_id", 4000, Code.MODEL_FILE),
        ("tokenizer.ggml.eos_token_id", [4, 5], Code.MODEL_FILE),
        ("tokenizer.ggml.tokens", [["a"]] * 320, Code.MODEL_FILE),
    ],
)
def test_settings_of_a_gguf_file_are_refused_alike(
    key: str, value: Any, code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tileproof.llm.loader import gguf_files
    from tileproof.llm.loader.gguf_header import GgufHeader, read_header

    path = write_gguf(tmp_path / "model.gguf", tiny(), WEIGHTS)

    def changed(path: Path) -> GgufHeader:
        found = read_header(path)
        values = {name: each for name, each in found.values.items() if name != key}
        extra = {"qwen3.rope.scaling.factor": 2.0} if key.endswith("scaling.type") else {}
        return replace(found, values=values | extra | ({} if value is None else {key: value}))

    monkeypatch.setattr(gguf_files, "read_header", changed)
    found, line = refusal(path)
    assert found is code
    assert str(path) in line


@pytest.mark.parametrize(("depth", "stretches"), [(1 << 40, 16), (1 << 40, 1 << 39), (32, 0)])
def test_angles_are_not_made_before_their_number_is_checked(
    depth: int, stretches: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tileproof.llm.loader import gguf_files
    from tileproof.llm.loader.gguf_files import GgufFile

    config = tiny("llama", rope_scaling=RopeScaling("llama3", 8.0, trained=64))
    path = write_gguf(tmp_path / "model.gguf", config, random_weights(config))
    read = gguf_files.read_gguf

    def changed(path: Path) -> GgufFile:
        file = read(path)
        shape = {"rope_freqs.weight": replace(file.tensors["rope_freqs.weight"], shape=(stretches,))}
        names = ("attention.key_length", "attention.value_length", "rope.dimension_count")
        sizes = {f"llama.{name}": depth for name in names}
        return replace(file, tensors=file.tensors | shape, settings=file.settings | sizes)

    monkeypatch.setattr("tileproof.llm.loader.gguf_models.read_gguf", changed)
    code, line = refusal(path)
    assert code is Code.MODEL_KIND
    assert "`rope_freqs.weight`" in line


def place(data: bytes, name: str) -> int:
    """Where a header of GGUF has the offset of a tensor."""
    key = struct.pack("<Q", len(name)) + name.encode()
    at = data.index(key) + len(key)
    return int(at + 4 + 8 * struct.unpack_from("<I", data, at)[0] + 4)


def offset(data: bytes, name: str) -> int:
    return int(struct.unpack_from("<Q", data, place(data, name))[0])


def moved(**offsets: Callable[[bytes], int]) -> Callable[[bytes], bytes]:
    """Changes the offsets of tensors of the first layer."""

    def change(data: bytes) -> bytes:
        made = bytearray(data)
        for part, find in offsets.items():
            struct.pack_into("<Q", made, place(data, f"blk.0.{part}.weight"), find(data))
        return bytes(made)

    return change


def test_a_type_of_elements_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf", tiny(), WEIGHTS)
    path.write_bytes(of_kind(39)(path.read_bytes()))
    code, line = refusal(path)
    assert code is Code.MODEL_KIND
    assert "is stored as MXFP4, which is not known" in line


def with_key(name: bytes, kind: int, value: bytes) -> Callable[[bytes], bytes]:
    """Adds a key."""

    def change(data: bytes) -> bytes:
        tensors, keys = struct.unpack_from("<QQ", data, 8)
        more = struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value
        return data[:8] + struct.pack("<QQ", tensors, keys + 1) + more + data[24:]

    return change


def of_kind(kind: int) -> Callable[[bytes], bytes]:
    """Says that a matrix has elements of another kind."""

    def change(data: bytes) -> bytes:
        made = bytearray(data)
        struct.pack_into("<I", made, place(data, "blk.0.ffn_up.weight") - 4, kind)
        return bytes(made)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (moved(ffn_up=lambda data: offset(data, "blk.0.ffn_gate.weight")), "`blk.0.ffn_up.weight` begins at byte"),
        (
            moved(
                ffn_up=lambda data: offset(data, "blk.0.ffn_gate.weight"),
                ffn_gate=lambda data: offset(data, "blk.0.ffn_up.weight"),
            ),
            "`blk.0.ffn_gate.weight` begins at byte",
        ),
        (moved(attn_k_norm=lambda data: 1 << 63), "`blk.0.attn_k_norm.weight` begins at byte"),
        (lambda data: data + bytes(32), "32 bytes follow the last tensor"),
        (with_key(b"general.name", 8, struct.pack("<Q", 1) + b"x"), "`general.name` twice"),
        (with_key(b"general.alignment", 4, struct.pack("<I", 24)), "its alignment is 24"),
        (with_key(b"general.tags", 9, struct.pack("<IQ", 4, 1 << 30)), "arrays of 1073741824 elements"),
        (with_key(b"general.tags", 9, struct.pack("<IQQ", 8, 1, 1 << 40)), "ends too early"),
        (lambda data: data[:4] + struct.pack("<I", 1) + data[8:], "version 1"),
        (of_kind(10), "64 elements, not a multiple of the 256 of Q2_K"),
    ],
    ids=["overlap", "swap", "far", "tail", "key", "alignment", "array", "text", "version", "block"],
)
def test_a_header_of_gguf_that_is_damaged_is_refused(
    change: Callable[[bytes], bytes], said: str, tmp_path: Path
) -> None:
    path = write_gguf(tmp_path / "model.gguf", tiny(), WEIGHTS)
    path.write_bytes(change(path.read_bytes()))
    code, line = refusal(path)
    assert code is Code.MODEL_FILE
    assert said in line


@pytest.mark.parametrize(
    "name",
    ["blk.00.ffn_up.weight", "blk.\N{SUPERSCRIPT TWO}.ffn_up.weight", f"blk.{'1' * 5000}.ffn_up.weight",
     "model.layers.0.mlp.up_proj.weight", "lm_head.weight", "model.rotary_emb.inv_freq"],
)  # fmt: skip
def test_a_second_name_of_a_tensor_in_a_gguf_file_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "gguf_name", lambda known: name if known == "a.second" else gguf_name(known))
    weights = WEIGHTS | {"a.second": WEIGHTS["model.layers.0.mlp.up_proj.weight"]}
    path = write_gguf(tmp_path / "model.gguf", tiny(), weights)
    code, line = refusal(path)
    assert code is Code.MODEL_KIND
    assert f"`{name}`" in line or f"`{name[:400]}" in line


def test_a_gguf_file_that_ends_early_names_the_tensor(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "model.gguf", tiny(), WEIGHTS)
    path.write_bytes(path.read_bytes()[:-40000])
    code, line = refusal(path)
    assert code is Code.MODEL_FILE
    assert "`blk.1." in line


def test_a_tensor_in_two_files_of_a_split_model_is_refused(tmp_path: Path) -> None:
    for number in (1, 2):
        path = write_gguf(tmp_path / f"m-0000{number}-of-00002.gguf", tiny(), WEIGHTS)
    code, line = refusal(tmp_path / "m-00001-of-00002.gguf")
    assert code is Code.MODEL_FILE
    assert "stands in m-00001-of-00002.gguf too" in line
    assert str(path) in line
