"""Models are opened as what they are, by every way in which their files may say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.checkpoints import (
    change_settings,
    config_json,
    random_weights,
    rope_json,
    tiny,
    write_folder,
    write_gguf,
    write_json,
    write_safetensors,
)
from tileproof.diagnostics.codes import Code
from tileproof.llm import LLM, SamplingParams
from tileproof.llm.errors import ModelError
from tileproof.llm.loader.checkpoint import open_model
from tileproof.llm.loader.gguf_files import BLOCKS
from tileproof.llm.loader.hugging_face import folder_config
from tileproof.llm.loader.layout import TABLE
from tileproof.llm.loader.safetensors_files import stored_in
from tileproof.llm.models.config import ModelConfig, RopeScaling
from tileproof.llm.tokenizer.text import Text

MODELS = {
    "qwen3": tiny(),
    "qwen3 untied, yarn": tiny(tie_word_embeddings=False, rope_scaling=RopeScaling("yarn", 4.0, 1.0, 32.0, 128)),
    "llama": tiny("llama"),
    "llama tied, llama3": tiny(
        "llama", tie_word_embeddings=True, num_hidden_layers=3, rope_scaling=RopeScaling("llama3", 8.0, 1.0, 4.0, 64)
    ),
    "llama, linear": tiny("llama", rope_scaling=RopeScaling("linear", 4.0)),
}
WEIGHTS = random_weights(tiny())
OLD = WEIGHTS["model.norm.weight"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "model", tiny(), WEIGHTS)


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("shards", [1, 3])
def test_a_folder_is_the_model_that_was_written(config: ModelConfig, shards: int, tmp_path: Path) -> None:
    path = write_folder(tmp_path / config.name, config, random_weights(config), shards)
    opened = open_model(path)
    assert opened.config == config
    assert opened.path == path
    assert opened.nbytes == 2 * config.parameters


@pytest.mark.parametrize(
    "config", [*MODELS.values(), tiny(head_dim=6)], ids=[*MODELS, "tensors of 24 bytes, between which is padding"]
)
def test_a_gguf_file_is_the_model_that_was_written(config: ModelConfig, tmp_path: Path) -> None:
    path = write_gguf(tmp_path / f"{config.name}.gguf", config, random_weights(config))
    opened = open_model(path)
    end = config.tokens - 3
    assert opened.config.rms_norm_eps == pytest.approx(config.rms_norm_eps)
    assert set(opened.config.eos_token_ids) == {
        end,
        end - 2,
    }  # `<|endoftext|>` ends texts too, though the file does not say so
    assert replace(opened.config, rms_norm_eps=config.rms_norm_eps, eos_token_ids=config.eos_token_ids) == config
    assert opened.path == path
    assert opened.settings["tokenizer.ggml.model"] == "gpt2"
    assert open_model(tmp_path).path == path  # a folder with one such file


def test_rope_is_read_in_the_old_spelling_too(tmp_path: Path) -> None:
    for config in MODELS.values():
        scaling = rope_json(config)
        theta = scaling.pop("rope_theta")
        kind = scaling.pop("rope_type")
        old = None if kind == "default" else {"type": kind, **scaling}
        path = write_folder(tmp_path / config.name, config, random_weights(config))
        change_settings(path, rope_parameters=..., rope_theta=theta, rope_scaling=old)
        assert open_model(path).config == config


@pytest.mark.parametrize("name", ["rope.scaling.factor", "rope.scale_linear"])
def test_a_factor_without_a_type_is_linear_as_llama_cpp_has_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tileproof.llm.loader import gguf_files

    config = tiny("llama", rope_scaling=RopeScaling("llama3", 8.0, trained=64))
    path = write_gguf(tmp_path / "plain.gguf", tiny("llama"), random_weights(tiny("llama")))
    both = write_gguf(tmp_path / "both.gguf", config, random_weights(config))
    read = gguf_files.read_header

    def with_factor(path: Path) -> Any:
        found = read(path)
        return replace(found, values=found.values | {f"llama.{name}": 4.0})

    monkeypatch.setattr(gguf_files, "read_header", with_factor)
    assert open_model(path).config.rope_scaling == RopeScaling("linear", 4.0)
    with pytest.raises(ModelError, match="two ways to stretch angles"):
        open_model(both)


def test_depth_groups_and_ties_follow_from_what_is_not_said(tmp_path: Path) -> None:
    config = tiny("llama", num_key_value_heads=4)
    path = write_folder(tmp_path / config.name, config, random_weights(config))
    change_settings(path, head_dim=..., num_key_value_heads=..., tie_word_embeddings=..., architectures=...)
    assert open_model(path).config == config


def test_ends_are_those_of_both_files(folder: Path) -> None:
    change_settings(folder, eos_token_id=[7, 8])
    write_json(folder / "generation_config.json", {"eos_token_id": 9})
    assert open_model(folder).config.eos_token_ids == (7, 8, 9)
    (folder / "generation_config.json").unlink()
    assert open_model(change_settings(folder, eos_token_id=None)).config.eos_token_ids == ()


def test_rows_without_a_token_are_padding(folder: Path) -> None:
    assert open_model(folder).config.tokens == 300
    (folder / "tokenizer.json").unlink()
    assert open_model(folder).config.tokens == 320


def test_yarn_stretches_the_context(folder: Path) -> None:
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}
    change_settings(folder, rope_parameters=yarn)
    assert open_model(folder).config.max_position_embeddings == 2048


def test_a_snapshot_of_the_cache_has_the_name_of_its_repository(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "models--Some--Tiny-1" / "snapshots" / "0123abc", tiny(), WEIGHTS)
    assert open_model(path).config.name == "Some/Tiny-1"


def test_a_head_beside_a_tied_table_is_left_out(tmp_path: Path) -> None:
    both = WEIGHTS | {"lm_head.weight": WEIGHTS["model.embed_tokens.weight"], "model.rotary_emb.inv_freq": OLD}
    opened = open_model(write_folder(tmp_path / "both", tiny(), both))
    assert set(opened.tensors) == set(WEIGHTS)


def test_our_writer_and_reader_are_those_of_safetensors(folder: Path, tmp_path: Path) -> None:
    theirs = pytest.importorskip("safetensors.numpy")
    read = theirs.load_file(folder / "model.safetensors")
    assert all((read[name].view("u2") == array.view("u2")).all() for name, array in WEIGHTS.items())
    theirs.save_file(WEIGHTS, tmp_path / "theirs.safetensors")
    assert {name: tensor.shape for name, tensor in stored_in(tmp_path / "theirs.safetensors").items()} == {
        name: array.shape for name, array in WEIGHTS.items()
    }


def test_blocks_have_the_sizes_that_llama_cpp_gives_them() -> None:
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    sizes = {GGMLQuantizationType[name]: (elements, size) for name, elements, size in BLOCKS.values()}
    assert sizes == {kind: GGML_QUANT_SIZES[kind] for kind in sizes}
    assert set(map(int, sizes)) == set(BLOCKS)


def test_a_tokenizer_may_have_tokens_without_a_row(tmp_path: Path) -> None:
    """transformers loads such a model; the tokens are no part of a prompt."""
    path = change_settings(write_folder(tmp_path / "model", tiny(), WEIGHTS), vocab_size=299, eos_token_id=298)
    write_json(path / "generation_config.json", {})
    write_safetensors(path / "model.safetensors", WEIGHTS | {TABLE: WEIGHTS[TABLE][:299]})
    assert (open_model(path).config.tokens, Text.open(path).tokens) == (299, 300)
    llm = LLM(path, device="cpu", max_seq_len=64)
    assert len(llm.generate([298, 1], SamplingParams(max_new_tokens=3)).tokens) <= 3
    with pytest.raises(ModelError, match="the prompt holds token 299"):
        llm.generate([299])


def test_a_model_without_a_tokenizer_takes_tokens(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "model", tiny(), WEIGHTS)
    prompt, params = [5, 6, 7], SamplingParams(max_new_tokens=4, ignore_eos=True)
    whole = LLM(path, device="cpu", max_seq_len=64).generate(prompt, params)
    (path / "tokenizer.json").unlink()
    llm = LLM(path, device="cpu", max_seq_len=64)
    assert llm.generate(prompt, params).tokens == whole.tokens
    with pytest.raises(ModelError, match="model has no tokenizer") as failed:
        llm.generate("Hello", params)
    assert failed.value.diagnostics[0].code is Code.PROMPT


def test_a_gguf_model_may_be_split(tmp_path: Path) -> None:
    from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

    whole = write_gguf(tmp_path / "whole.gguf", tiny(), WEIGHTS)
    parts = tmp_path / "parts"
    parts.mkdir()
    tensors = GGUFReader(whole).tensors
    # The first part has all settings, and no tensor, as llama.cpp splits.
    (parts / "m-00001-of-00003.gguf").write_bytes(write_gguf(tmp_path / "none.gguf", tiny(), {}).read_bytes())
    for number, some in ((2, tensors[::2]), (3, tensors[1::2])):
        writer = GGUFWriter(str(parts / f"m-{number:05}-of-00003.gguf"), "qwen3")
        for tensor in some:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=GGMLQuantizationType.F32)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    opened = open_model(parts)
    assert {tensor.file.name for tensor in opened.tensors.values()} == {
        f"m-0000{number}-of-00003.gguf" for number in (2, 3)
    }
    (parts / "m-00002-of-00003.gguf").unlink()
    with pytest.raises(ModelError, match=r"m-00002-of-00003\.gguf") as caught:
        open_model(parts)
    assert caught.value.diagnostics[0].code is Code.MODEL_FILE


@pytest.mark.slow
def test_a_folder_that_transformers_wrote_is_read(tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    torch.manual_seed(0)
    settings = transformers.Qwen3Config(**{
        key: value for key, value in config_json(tiny()).items() if key not in ("architectures", "transformers_version")
    })  # fmt: skip
    model = transformers.Qwen3ForCausalLM(settings).to(torch.bfloat16)
    model.save_pretrained(tmp_path / "tiny-qwen3")
    opened = open_model(tmp_path / "tiny-qwen3")
    assert opened.config == tiny(tokens=320, eos_token_ids=(297,), bos_token_id=None)
    assert {name: tensor.shape for name, tensor in opened.tensors.items()} == {
        name: tuple(array.shape) for name, array in model.state_dict().items() if name != "lm_head.weight"
    }


PUBLISHED = {
    "Qwen3-0.6B": (
        {"architectures": ["Qwen3ForCausalLM"], "attention_bias": False, "bos_token_id": 151643, "eos_token_id": 151645,
         "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072,
         "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16,
         "num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": None,
         "rope_theta": 1000000, "sliding_window": None, "tie_word_embeddings": True, "torch_dtype": "bfloat16",
         "use_sliding_window": False, "vocab_size": 151936},
        {"bos_token_id": 151643, "eos_token_id": [151645, 151643], "temperature": 0.6},
        (596_049_920, (151645, 151643), None, 128),
    ),
    "Llama-3.2-1B-Instruct": (
        {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "bos_token_id": 128000,
         "eos_token_id": [128001, 128008, 128009], "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
         "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": False, "model_type": "llama",
         "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8, "pretraining_tp": 1,
         "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
         "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
         "tie_word_embeddings": True, "torch_dtype": "bfloat16", "vocab_size": 128256},
        {"eos_token_id": [128001, 128008, 128009]},
        (1_235_814_400, (128001, 128008, 128009), RopeScaling("llama3", 32.0, 1.0, 4.0, 8192), 64),
    ),
    "SmolLM2-135M": (
        {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "bos_token_id": 0, "eos_token_id": 0,
         "hidden_act": "silu", "hidden_size": 576, "intermediate_size": 1536, "max_position_embeddings": 8192,
         "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3,
         "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": False, "rope_scaling": None,
         "rope_theta": 100000, "tie_word_embeddings": True, "vocab_size": 49152},
        {"bos_token_id": 0, "eos_token_id": 0},
        (134_515_008, (0,), None, 64),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_settings_of_published_models_are_read(name: str, tmp_path: Path) -> None:
    settings, generation, wanted = PUBLISHED[name]
    write_json(tmp_path / "config.json", settings)
    write_json(tmp_path / "generation_config.json", generation)
    config = folder_config(tmp_path)
    assert (config.parameters, config.eos_token_ids, config.rope_scaling, config.head_dim) == wanted
