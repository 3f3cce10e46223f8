"""Random settings, tokenizers and chat templates."""

from __future__ import annotations

import copy
import random
from typing import Any, Final

from fuzz.model_files import changed

# Settings.

_ROPES: Final[tuple[Any, ...]] = (
    {"rope_type": "default", "rope_theta": 5e5}, {"rope_type": "linear", "factor": 4.0}, {"type": "linear",
    "factor": 2}, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64}, {"rope_theta": 1e4, "partial_rotary_factor": 0.5},
    {"rope_type": "longrope"},
)  # fmt: skip
_SETTINGS: Final[dict[str, tuple[Any, ...]]] = {
    "rope_parameters": _ROPES, "rope_scaling": _ROPES, "rope_theta": (1, 1.0, 1e4, 1e30, 1e-30),
    "tie_word_embeddings": (True, False, None, "false", 0, 1), "head_dim": (None, 16, 32, 33, 64, 1 << 20),
    "num_key_value_heads": (None, 1, 2, 4, 3), "num_attention_heads": (2, 4, 8, 1 << 60), "vocab_size": (300, 319,
    320, 1 << 50), "num_hidden_layers": (1, 2, 3, 1 << 62), "rms_norm_eps": (1e-5, 1, 1e300, 0),
    "architectures": ( ["LlamaForCausalLM"], ["Qwen3ForCausalLM"], ["MistralForCausalLM"], [], None,
    "LlamaForCausalLM"), "model_type": ("llama", "qwen3", "mistral", None), "eos_token_id": (0, [0, 1], [], None, 319,
    320, [[0]]), "hidden_act": ("silu", "gelu", None), "attention_bias": (True, "no"), "sliding_window": (64, None),
    "layer_types": (["full_attention"] * 2, ["sliding_attention"], "full_attention", []), "use_sliding_window": (True,
    0), "quantization_config": ({"quant_method": "gptq"}, {}, None, "fp8"), "max_position_embeddings": (1, 64,
    1 << 40), "intermediate_size": (192, 191, 0), "hidden_size": (64, 128, 63),
}  # fmt: skip
"""Settings that mean something, with values that people write."""


def changed_config(rng: random.Random, config: Any) -> Any:
    """Other settings: those that mean something, and any."""
    config = copy.deepcopy(config)
    for name in rng.sample(sorted(_SETTINGS), rng.choice((0, 1, 1, 2, 3))):
        config[name] = copy.deepcopy(rng.choice(_SETTINGS[name]))
    if rng.random() < 0.3:
        config["rope_parameters"] = copy.deepcopy(rng.choice(_ROPES))
    return changed(rng, config, rng.choice((0, 0, 1, 2)))


# Tokenizers.

_PATTERNS: Final[tuple[Any, ...]] = (
    {"String": " "}, {"String": ""}, {"Regex": ""}, {"Regex": r"\s+"}, {"Regex": "("}, {"Regex": r"(?=a)"},
    {"Regex": r"\p{L}+|."}, {"Regex": r"(a+)+$"}, {"Regex": r"(a|aa)*b"}, {"Regex": r"(?<=a*)b"}, {"Regex": r"\1"},
    {"Regex": "a{99999}"}, {},
)  # fmt: skip
_NORMALIZERS: Final[tuple[Any, ...]] = (
    None, {"type": "NFC"}, {"type": "NFKD"}, {"type": "Lowercase"}, {"type": "StripAccents"}, {"type": "Nmt"},
    {"type": "ByteLevel"}, {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend",
    "prepend": "▁"}, {"type": "Prepend", "prepend": ""}, {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
    "lowercase": True},
)  # fmt: skip
_SPLITTERS: Final[tuple[Any, ...]] = (
    None, {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"},
    {"type": "UnicodeScripts"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "ab", "prepend_scheme": "never"}, {"type": "Digits",
    "individual_digits": True}, {"type": "Punctuation", "behavior": "Isolated"}, {"type": "CharDelimiterSplit",
    "delimiter": "a"}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "FixedLength", "length": 0},
)  # fmt: skip
_DECODERS: Final[tuple[Any, ...]] = (
    None, {"type": "ByteLevel"}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "WordPiece", "prefix": "##",
    "cleanup": True}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}, {"type": "Strip", "content": "a", "start": 1 << 60,
    "stop": 1 << 60}, {"type": "BPEDecoder", "suffix": "</w>"}, {"type": "CTC", "pad_token": "<pad>",
    "word_delimiter_token": "|", "cleanup": True},
)  # fmt: skip
_PROCESSORS: Final[tuple[Any, ...]] = (
    None, {"type": "ByteLevel"}, {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
    {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "a", "type_id": 0}}, {"Sequence": {"id": "A",
    "type_id": 0}}], "pair": [], "special_tokens": {"a": {"id": "a", "ids": [0], "tokens": ["a"]}}},
    {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "b", "type_id": 0}}], "pair": [],
    "special_tokens": {}}, {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
    "add_prefix_space": False},
)  # fmt: skip
_LETTERS: Final = [chr(code) for code in range(32, 127)]
_MODELS: Final[tuple[Any, ...]] = (
    {"type": "Unigram", "unk_id": None, "vocab": []}, {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0.0], ["b",
    -1.0]]}, {"type": "Unigram", "unk_id": 9, "vocab": [["a", 0.0]]}, {"type": "Unigram", "unk_id": 0, "vocab": [["",
    1e308], ["a", -1e308]]}, {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [[f"<0x{n:02X}>",
    -1.0] for n in range(256)]}, {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "<unk>"},
    {"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": ["a a"], "dropout": 1.0}, {"type": "BPE", "vocab": {"a": 0,
    "b": 1, "ab": 2}, "merges": [["a", "b"]], "continuing_subword_prefix": "é"}, {"type": "BPE", "vocab": {"a": 0,
    "b": 4294967295}, "merges": [], "byte_fallback": True, "ignore_merges": True}, {"type": "WordLevel",
    "vocab": {"a": 0, "b": 1 << 31}, "unk_token": "<unk>"}, {"type": "WordLevel", "vocab": {}, "unk_token": "a"},
    {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": {letter: number for number, letter in enumerate(_LETTERS)}},
)  # fmt: skip


def changed_tokenizer(rng: random.Random, tokenizer: Any) -> Any:
    """Another tokenizer.json: other parts, other tokens, other settings, and any change."""
    made = copy.deepcopy(tokenizer)

    def part(choices: tuple[Any, ...], inner: str) -> Any:
        first, second = copy.deepcopy(rng.choice(choices)), copy.deepcopy(rng.choice(choices))
        if rng.random() < 0.2:
            return {"type": "Sequence", inner: [each for each in (first, second) if each]}
        return first

    def pattern(kind: str) -> Any:
        made: dict[str, Any] = {"type": kind, "pattern": copy.deepcopy(rng.choice(_PATTERNS))}
        behavior = rng.choice(("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"))
        more = (
            {"content": rng.choice(("", " ", "x" * 99))}
            if kind == "Replace"
            else {"behavior": behavior, "invert": rng.random() < 0.3}
        )
        return made | more

    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        match rng.randrange(11):
            case 0:
                made["normalizer"] = part(_NORMALIZERS, "normalizers")
            case 1:
                made["normalizer"] = pattern("Replace")
            case 2:
                made["pre_tokenizer"] = part(_SPLITTERS, "pretokenizers")
            case 3:
                made["pre_tokenizer"] = pattern("Split")
            case 4:
                made["decoder"] = rng.choice((part(_DECODERS, "decoders"), pattern("Replace")))
            case 5:
                made["post_processor"] = part(_PROCESSORS, "processors")
            case 6:
                made["model"] = copy.deepcopy(rng.choice(_MODELS))
            case 7:
                sizes = (0, 6, 1 << 40, 10**15, 1 << 63)
                made["padding"] = {
                    "strategy": rng.choice(("BatchLongest", {"Fixed": rng.choice(sizes)})), "direction": "Left",
                    "pad_to_multiple_of": rng.choice((None, *sizes)), "pad_id": 0, "pad_type_id": 0, "pad_token": "a",
                }  # fmt: skip
                made["truncation"] = rng.choice((
                    None, {"direction": "Right", "max_length": rng.choice(sizes), "strategy": "LongestFirst",
                    "stride": rng.choice(sizes)},
                ))  # fmt: skip
            case 8 if isinstance(made.get("model", {}).get("merges"), list):
                merges = made["model"]["merges"]
                merges.insert(
                    rng.randrange(len(merges) + 1), rng.choice((["a", "b"], ["a"], "a b", "", ["no", "such"], [], None))
                )
            case 9 if isinstance(made["model"].get("vocab"), dict) and made["model"]["vocab"]:
                vocabulary = made["model"]["vocab"]
                key = rng.choice(list(vocabulary))
                if rng.random() < 0.3:
                    vocabulary[f"{key}x"] = vocabulary.pop(key)
                else:
                    vocabulary[key] = rng.choice((0, -1, 5, 299, 300, 1 << 31, 1 << 32, 1 << 64, 1.5, "0", None))
            case 10:
                content = rng.choice(("a", "", " ", "<|im_end|>", "\x1b[2J", "<s>", "x" * 3000, "\ud800"))
                made.setdefault("added_tokens", []).append({
                    "id": rng.choice((0, 1, 299, 300, 500, 1 << 31, -1)), "content": content,
                    "special": rng.random() < 0.5, "single_word": rng.random() < 0.2, "lstrip": rng.random() < 0.2,
                    "rstrip": rng.random() < 0.2, "normalized": rng.random() < 0.5,
                })  # fmt: skip
    return changed(rng, made, rng.choice((0, 0, 0, 1, 2)))


# Chat templates.

_VALUES: Final = (
    "messages", "messages[0]", "messages[0].content", "messages[-1]['role']", "bos_token", "eos_token", "tools",
    "none", "1", "0", "-1", "99999", "9 ** 99", "9 ** 9999999", "1.5", "'a'", "''", "'%s %d'", "'{0.x} {1[2]}'", "[]",
    "[1, 2]", "{}", "{'a': 1}", "('ab' * 9999999)", "range(9)", "range(99999)", "namespace(x=1)", "cycler(1, 2)",
    "joiner()", "dict(a=1)", "missing", "loop", "loop.index", "self", "a", "b", "add_generation_prompt",
    "enable_thinking", "caller", "varargs", "''.__class__", "messages.append", "lipsum", "strftime_now",
)  # fmt: skip
_OPERATORS: Final = ("+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "and", "or", "in", "is")
_FILTERS: Final = (
    "trim", "upper", "tojson", "tojson(indent=2)", "join(',')", "list", "length", "first", "last", "sum", "sort",
    "unique", "reverse", "replace('a', 'aa')", "map(attribute='role')", "map('upper')", "select",
    "selectattr('role', 'equalto', 'user')", "groupby('role')", "batch(3)", "slice(2)", "int", "float", "string",
    "safe", "escape", "indent(4)", "default('x')", "dictsort", "items", "round(2)", "format(1)", "random", "urlize",
    "xmlattr", "wordwrap(1)", "center(99)", "truncate(3)", "attr('x')", "abs", "min", "pprint", "nothing",
)  # fmt: skip
_METHODS: Final = (
    ".split('a')", ".strip()", ".upper()", ".format(1, a=2)", ".join('ab')", ".items()", ".get('a')",
    ".replace('a', 'b')", "[1:]", "[::-1]", "[0]", ".x", "()", "('%Y')", ".next()", ".startswith('a')", ".encode()",
    ".center(999999999)", ".__init__", ".copy()", ".index(1)",
)  # fmt: skip


def expression(rng: random.Random, depth: int = 2) -> str:
    """An expression of a template."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(_VALUES)
    inner = expression(rng, depth - 1)
    match rng.randrange(6):
        case 0:
            return f"({inner} {rng.choice(_OPERATORS)} {expression(rng, depth - 1)})"
        case 1:
            return f"{inner} | {rng.choice(_FILTERS)}"
        case 2:
            return f"({inner}){rng.choice(_METHODS)}"
        case 3:
            return f"({inner} if {expression(rng, depth - 1)} else {expression(rng, depth - 1)})"
        case 4:
            return f"not ({inner})"
        case _:
            return f"({inner})"


def template(rng: random.Random, depth: int = 3) -> str:
    """A template, sound but for what it computes; now and then with a piece taken out or doubled."""
    made = "".join(_statement(rng, depth) for _ in range(rng.randrange(1, 5)))
    if rng.random() < 0.1:
        first, last = sorted(rng.randrange(len(made) + 1) for _ in range(2))
        made = made[:first] + rng.choice(("", made[first:last] * 2, "\x1b[2J", "\ud800", "{%", "}}")) + made[last:]
    return made


def _statement(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(("text\n", "<|im_start|>", "{{ messages[0].content }}", "é日本"))
    value, body = expression(rng), "".join(_statement(rng, depth - 1) for _ in range(rng.randrange(3)))
    match rng.randrange(14):
        case 0 | 1 | 2:
            return f"{{{{ {value} }}}}"
        case 3 | 4:
            more = rng.choice(("", "{% break %}", "{% continue %}", "{{ loop.index }}"))
            return f"{{% for a in {value} %}}{body}{more}{{% endfor %}}"
        case 5 | 6:
            return f"{{%- if {value} %}}{body}{{% else %}}{_statement(rng, depth - 1)}{{% endif -%}}"
        case 7:
            return f"{{% set {rng.choice('ab')} = {value} %}}"
        case 8:
            rounds, more = rng.choice((3, 30, 99999)), f"(b.x, {value})"
            loop = f"{{% for n in range({rounds}) %}}{{% set b.x = {more}{rng.choice(_METHODS)} %}}{{% endfor %}}"
            return f"{{% set b = namespace(x=messages) %}}{loop}"
        case 9:
            more = rng.choice(("", "{{ m(a) }}", "{{ caller() }}"))
            return f"{{% macro m(a, b=2) %}}{body}{more}{{% endmacro %}}{{{{ m({value}) }}}}"
        case 10:
            return f"{{% generation %}}{body}{{% endgeneration %}}"
        case 11:
            return f"{{% set a %}}{body}{{% endset %}}{{{{ a }}}}"
        case 12:
            return f"{{% filter {rng.choice(_FILTERS)} %}}{body}{{% endfilter %}}"
        case _:
            return rng.choice(
                (
                    f"{{{{ raise_exception({value}) }}}}",
                    "{% include 'x' %}",
                    "{% extends 'y' %}",
                    "{% block z %}{% endblock %}",
                )
            )
