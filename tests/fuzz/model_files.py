"""Random changes to the files of a model that know their structure: tables of JSON, safetensors and GGUF."""

from __future__ import annotations

import copy
import json
import math
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2, 3, 7, 64, 255, 1 << 20, 1 << 31, 1 << 40, 1 << 63, 1 << 64, 10**30, 0.5, -0.0,
    1e-300, 1e308, math.nan, math.inf, "", "x", "0", "true", "\ud800", "\x1b[31mred\n", "a" * 5000, "é日本", [], [0],
    [[]], [1] * 40, {}, {"a": 1}, {"type": "x"},
)  # fmt: skip
"""Values that a setting may have by mistake or by intent."""
RAW: Final = (
    "1" * 4000, "1" * 5000, "-" + "9" * 400, "1e999", "[" * 3000 + "]" * 3000, "[" * 200_000, '{"a":' * 5000, "NaN",
    '"\\ud800"', "1" + "0" * 30 + ".5",
)  # fmt: skip
"""Values as JSON, among them those that Python does not write."""
_MARK: Final = "a value that is not written by Python"


def nodes(document: Any) -> list[tuple[Any, Any]]:
    """Every place of a document: the table or list that holds it, and its key."""
    found: list[tuple[Any, Any]] = []
    pending = [document]
    while pending:
        node = pending.pop()
        keys: Iterable[Any] = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        found += [(node, key) for key in keys]
        pending += [node[key] for key in keys]
    return found


def changed(rng: random.Random, document: Any, times: int = 1) -> Any:
    """A copy of a document with some places changed. Shallow places are as likely as all deep ones together."""
    document = copy.deepcopy(document)
    for _ in range(times):
        places = nodes(document)
        if not places:
            return document
        top = [place for place in places if place[0] is document]
        inner = [place for place in places if any(place[0] is document[key] for key in _keys(document))]
        holder, key = rng.choice(rng.choice([some for some in (top, inner, places) if some]))
        value = holder[key]
        match rng.randrange(9):
            case 0:
                del holder[key]
            case 1:
                other, its = rng.choice(places)
                holder[key] = copy.deepcopy(other[its]) if its in _keys(other) else None
            case 2 if isinstance(holder, dict):
                holder[rng.choice((f"{key}x", "type", "", "\x1b", str(key).upper()))] = holder.pop(key)
            case 3 if isinstance(value, list) and value:
                value.insert(rng.randrange(len(value)), copy.deepcopy(rng.choice(value)))
            case 4 if type(value) is int:
                holder[key] = value + rng.choice((-2, -1, 1, 2, value))
            case 5 if isinstance(value, str):
                holder[key] = rng.choice((value[:-1], value + "x", value[::-1], value.upper(), value * 2))
            case 6:
                holder[key] = rng.choice(([value], {"type": value}, {str(key): value}))
            case _:
                holder[key] = copy.deepcopy(rng.choice(ODD))
    return document


def _keys(node: Any) -> list[Any]:
    return list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []


def as_json(rng: random.Random, document: Any) -> bytes:
    """A document as JSON, now and then as Python would not write it: deep, with long numbers, or cut off."""
    if rng.random() < 0.1 and isinstance(document, dict | list):
        document = copy.deepcopy(document)
        holder, key = rng.choice(nodes(document) or [([None], 0)])
        holder[key] = _MARK
        return json.dumps(document).replace(f'"{_MARK}"', rng.choice(RAW)).encode()
    text = json.dumps(document, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")
    match rng.randrange(40):
        case 0:
            return text[: rng.randrange(len(text) + 1)]
        case 1:
            return damaged(rng, text)
        case 2:
            return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"  ")) + text
        case 3 if text.startswith(b"{") and text != b"{}":
            return b"{" + text[1 : text.find(b",") + 1 or -1] + text[1:]  # the first entry again
    return text


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes with a few of them changed, a piece taken out, or the end cut off."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 10))):
        if made:
            made[min(int(rng.expovariate(4 / len(made))), len(made) - 1)] = rng.choice((0, 1, 255, rng.randrange(256)))
    if made and rng.random() < 0.2:
        first = rng.randrange(len(made))
        del made[first : first + rng.choice((1, 8, len(made)))]
    return bytes(made)


# Safetensors.


def changed_safetensors(rng: random.Random, data: bytes) -> bytes:
    """A file with another header, or other elements."""
    length = struct.unpack_from("<Q", data)[0]
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    names = [name for name in header if name != "__metadata__"]
    for _ in range(rng.choice((0, 1, 1, 2))):
        name, other = rng.choice(names), rng.choice(names)
        if name not in header or other not in header:
            continue
        entry, its = header[name], header[other]
        match rng.randrange(13):
            case 0:
                header[name], header[other] = its, entry
            case 1:
                entry["data_offsets"], its["data_offsets"] = its["data_offsets"], entry["data_offsets"]
            case 2:
                entry["data_offsets"] = [at + rng.choice((-2, 2, 1 << 62)) for at in entry["data_offsets"]]
            case 3:
                entry["shape"] = entry["shape"][::-1]
            case 4:
                entry["shape"] = rng.choice(
                    ([math.prod(entry["shape"])], [*entry["shape"], 1], [0, *entry["shape"]], [])
                )
            case 5:
                entry["dtype"] = rng.choice(("F32", "F16", "BF16", "I16", "F8_E4M3", "F4", "", 3))
            case 6:
                del header[name]
            case 7:
                made = (f"{name}\x1b[2J", name.replace(".0.", ".00."), name.replace("weight", "bias"), "x" * 9999)
                header[rng.choice(made)] = entry
            case 8:
                header["__metadata__"] = rng.choice(ODD)
            case 9:
                body = damaged(rng, body)
            case 10:
                header["empty"] = {"dtype": "BF16", "shape": [0, 4], "data_offsets": [0, 0]}
            case 11:
                first, last = entry["data_offsets"]
                body = body[:first] + bytes(last - first) + body[last:]
            case _:
                header = changed(rng, header)
                break  # what is in it is no longer known
    text = as_json(rng, header) + b" " * rng.choice((0, 0, 1, 9))
    announced = len(text) + (0 if rng.random() < 0.95 else rng.choice((-1, 1, 8, 1 << 40, 1 << 63)))
    whole = struct.pack("<Q", announced % (1 << 64)) + text + body
    return whole if rng.random() < 0.9 else damaged(rng, whole) + bytes(rng.choice((0, 1, 100)))


# GGUF.


@dataclass(slots=True)
class Gguf:
    """A GGUF file, taken apart."""

    values: list[tuple[bytes, int, Any]]
    """Keys, types and values; of an array its inner type and its elements."""
    tensors: list[tuple[bytes, list[int], int, int]]
    """Names, extents as the file has them, types and offsets."""
    data: bytes
    version: int = 3


_FORMS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}


def parsed_gguf(data: bytes) -> Gguf:
    """A file that is whole, taken apart."""
    at = 4

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        found = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return found

    def string() -> bytes:
        nonlocal at
        size = take("Q")[0]
        at += size
        return data[at - size : at]

    def value(kind: int) -> Any:
        if kind == 8:
            return string()
        if kind == 9:
            inner, count = take("IQ")
            return inner, [value(inner) for _ in range(count)]
        return take(_FORMS[kind])[0]

    version, count, keys = take("IQQ")
    values = []
    for _ in range(keys):
        key = string()
        kind = take("I")[0]
        values.append((key, kind, value(kind)))
    tensors = [(string(), list(take("Q" * take("I")[0])), *take("IQ")) for _ in range(count)]
    return Gguf(values, tensors, data[-(-at // 32) * 32 :], version)


def written_gguf(file: Gguf, counts: tuple[int, int] = (0, 0)) -> bytes:
    """The bytes of a file, with that much added to its numbers of tensors and of keys."""

    def string(text: bytes) -> bytes:
        return struct.pack("<Q", len(text)) + text

    def value(kind: int, its: Any) -> bytes:
        if kind == 8:
            return string(its)
        if kind == 9:
            inner, elements = its
            return struct.pack("<IQ", inner, len(elements)) + b"".join(value(inner, each) for each in elements)
        if kind not in _FORMS:
            return b""
        if kind in (6, 12):
            return struct.pack("<" + _FORMS[kind], its)
        return int(its % (1 << 8 * struct.calcsize(_FORMS[kind]))).to_bytes(struct.calcsize(_FORMS[kind]), "little")

    made = [b"GGUF", struct.pack("<IQQ", file.version, len(file.tensors) + counts[0], len(file.values) + counts[1])]
    made += [string(key) + struct.pack("<I", kind) + value(kind, its) for key, kind, its in file.values]
    for name, shape, kind, offset in file.tensors:
        extents = struct.pack(f"<I{len(shape)}Q", len(shape), *(each % (1 << 64) for each in shape))
        made.append(string(name) + extents + struct.pack("<IQ", kind, offset % (1 << 64)))
    head = b"".join(made)
    return head + bytes(-len(head) % 32) + file.data


def changed_gguf(rng: random.Random, file: Gguf) -> bytes:
    """A file with other values, other tensors, or other bytes."""
    whole, file = file, copy.deepcopy(file)
    counts = (0, 0)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        values, tensors = file.values, file.tensors
        if not values or not tensors:
            break
        number, place = rng.randrange(len(values)), rng.randrange(len(tensors))
        key, kind, value = values[number]
        name, shape, stored, offset = tensors[place]
        match rng.randrange(15):
            case 0:
                values[number] = (key, *_odd_value(rng))
            case 1 if kind in _FORMS and kind not in (6, 12):
                values[number] = key, kind, rng.choice((0, 1, value + 1, value - 1, value * 2, value // 2, -1, 1 << 31))
            case 2:
                del values[number]
            case 3:
                values.insert(rng.randrange(len(values)), (key, kind, value))
            case 4:
                made = rng.choice((key + b"x", key.upper(), b"\xff", key[::-1], b"general.alignment"))
                values[number] = made, kind, value
            case 5 if kind == 9 and value[1]:
                inner, elements = value
                at = rng.randrange(len(elements))
                if rng.random() < 0.5:
                    elements[at] = _odd_element(rng, inner)
                elif rng.random() < 0.5:
                    del elements[at : at + rng.choice((1, 1, len(elements)))]
                else:
                    elements.insert(at, rng.choice(elements))
            case 6:
                shape[:] = rng.choice((shape[::-1], [*shape, 1], shape[1:], [*shape, 0], [1 << 40, *shape], [2] * 9))
            case 7 if shape:
                shape[rng.randrange(len(shape))] = rng.choice((0, 1, 31, 33, 64, 1 << 33, -1))
            case 8:
                tensors[place] = name, shape, rng.choice((0, 1, 2, 3, 4, 8, 10, 14, 16, 24, 28, 30, 34, 99)), offset
            case 9:
                tensors[place] = name, shape, stored, offset + rng.choice((-32, 32, 1, 1 << 40))
            case 10:
                other = rng.randrange(len(tensors))
                its_name, *rest = tensors[other]
                tensors[place], tensors[other] = (its_name, shape, stored, offset), (name, *rest)  # type: ignore[assignment]
            case 11:
                made = rng.choice((
                    name + b"\x1b[2J", name.replace(b".0.", b".00."), name.replace(b"weight", b"bias"), b"\xff", b"",
                    "blk.².attn_q.weight".encode(), b"rope_freqs.weight", tensors[0][0],
                ))  # fmt: skip
                tensors[place] = made, shape, stored, offset
            case 12:
                file.data = damaged(rng, file.data)
            case 13:
                counts = rng.choice(((1, 0), (0, 1), (-1, 0), (0, -1), (1 << 40, 0), (0, 1 << 40)))
            case 14 if rng.random() < 0.3:
                file.version = rng.choice((0, 1, 2, 4, 1 << 31))
    try:
        data = written_gguf(file, counts)
    except (struct.error, TypeError, AttributeError, OverflowError):  # a value that its type cannot hold
        return changed_gguf(rng, whole)
    return data if rng.random() < 0.85 else damaged(rng, data)


def _odd_value(rng: random.Random) -> tuple[int, Any]:
    makers: tuple[Callable[[], tuple[int, Any]], ...] = (
        lambda: (4, rng.choice((0, 1, 1 << 31))),
        lambda: (5, -1),
        lambda: (6, rng.choice((math.nan, math.inf, -1.0, 0.0, 1e-38))),
        lambda: (7, rng.choice((0, 1, 7))),
        lambda: (8, rng.choice((b"", b"\xff", b"\x1b[2J\n", b"llama", b"qwen3", b"none", b"yarn", b"a" * 3000))),
        lambda: (9, (rng.choice((4, 5, 8)), [])),
        lambda: (9, (5, [1] * rng.choice((1, 40)))),
        lambda: (9, (9, [(9, (9, [(4, [1])] * 3))])),
        lambda: (10, rng.choice(((1 << 63) - 1, (1 << 64) - 1))),
        lambda: (12, 1e308),
        lambda: (13, None),
    )
    return rng.choice(makers)()


def _odd_element(rng: random.Random, inner: int) -> Any:
    if inner == 8:
        return rng.choice((b"", b" ", b"a", b"\xff", b"<|im_end|>", b"\x1b[2J", b"a" * 3000, "Ġ Ġ".encode()))
    return rng.choice((0, 1, 3, 4, 5, 6, 99))
