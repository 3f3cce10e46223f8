"""Rotary position embedding, alone, and fused with the norms before it and the append to a paged cache after it.

Heads are split in halves: element e of both halves is a point of the plane, rotated by an angle of its row's position.
The cos/sin tables are f32, because 16-bit angles are wrong from a few hundred positions on. All compute in f32 (f64
for f64) and round once; a NaN or an infinity stays in its own head.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, InOut, Out, Schedule, T, U, Unique, f32, i32, i64
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from .arrays import choose, launch_error, output_for, present, view
from .heuristics import MULTIPROCESSORS, occupied, power_of_two
from .numerics import wide


@tp.kernel(deny_checks=True)
def advance_kernel(
    tokens: InOut[i32, "R"], positions: InOut[i32, "R"], used: InOut[i32, "R"], slots: InOut[i32, "R"],
    draws: InOut[i64, "R"], said: Out[i32, "R"], chosen: In[i32, "R"], table: In[i32, "R L"], *, S: int = 64,
) -> None:  # fmt: skip
    """The next token of each sequence, and where its key and value go; a sequence without a slot stays as it is."""
    for r in tp.parallel(R=tp.each):
        said[r] = chosen[r]
        is_live = slots[r] >= 0
        at = positions[r] + 1
        page = table.get((r, at // S), -1)
        goes_on = is_live & (page >= 0)
        tokens[r] = tp.where(goes_on, tp.maximum(chosen[r], 0), tokens[r])
        positions[r] = tp.where(goes_on, at, positions[r])
        used[r] = tp.where(goes_on, at + 1, used[r])
        draws[r] = tp.where(goes_on, draws[r] + 1, draws[r])
        slots[r] = tp.where(goes_on, page * S + at % S, -1)


def advance(
    tokens: Any, positions: Any, used: Any, slots: Any, draws: Any, chosen: Any, table: Any, *, page: int, out: Any
) -> Any:
    """Advances R sequences by the tokens that were `chosen`, in place, and gives these in `out`.

    Each gets its token (0 for one below), the next position, one more place in use, the next draw (i64), and the slot
    of that position: of page table[r, position // page], where `page` are the places of one. A sequence whose slot is
    below 0, or whose next page is not in the table, keeps all else, and has the slot -1 from then on. All but draws are
    i32.

    Example:
        >>> tokens, positions, used, slots = (np.array([each], np.int32) for each in (5, 63, 64, 63))
        >>> table, draws, said = np.array([[0, 3]], np.int32), np.zeros(1, np.int64), np.zeros(1, np.int32)
        >>> tk.advance(tokens, positions, used, slots, draws, said + 9, table, page=64, out=said).tolist()
        [9]
        >>> tokens.tolist(), positions.tolist(), slots.tolist()
        ([9], [64], [192])
    """
    advance_kernel(tokens, positions, used, slots, draws, out, chosen, table, S=page)
    return out


def rope(x: Any, cos: Any, sin: Any, positions: Any, out: Any = None) -> Any:
    """Every head of x, "N H D", rotated by the angles in row `positions[n]` of the tables cos and sin, "P D/2".

    Positions are i32 or i64, at least 0 and less than P; the launch makes sure of it.

    Example:
        q = tk.rope(q, cos, sin, positions)
    """
    return _rotate(ROPE, x, cos, sin, positions, out)


def rope_backward(dy: Any, cos: Any, sin: Any, positions: Any, out: Any = None) -> Any:
    """The gradient of x, from dy, that of y = rope(x, cos, sin, positions): dy rotated back.

    Example:
        dx = tk.rope_backward(dy, cos, sin, positions)
    """
    return _rotate(ROPE_BACKWARD, dy, cos, sin, positions, out)


def _rotate(tunable: Tunable, x: Any, cos: Any, sin: Any, positions: Any, out: Any) -> Any:
    y = output_for(out, x, x.shape)
    if len(x.shape) != 3:
        cure = "pass rows, heads and elements: (N, H, D)"
        raise launch_error(Code.ARGUMENT_RANK, f"x has shape {tuple(x.shape)}", cure)
    rows, heads, length = x.shape
    choose(tunable, x, N=rows, H=heads, D=length, P=cos.shape[0])(y, x, cos, sin, positions)
    return y


def norm_rope_append(
    qkv: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, q_norm: Any = None,
    k_norm: Any = None, eps: float = 1e-6, out: Any = None,
) -> Any:  # fmt: skip
    """All that stands between the GEMM with merged weights and attention; gives the queries, "N H D".

    Each row of qkv, "N (H+2*G)*D" or "N H+2*G D", has H heads of queries, G of keys and G of values. Queries and keys
    are normalized by their root mean square, times `q_norm` and `k_norm`, if these are given, and rotated by the angles
    of `positions[n]`. Keys and values go to entry `slots[n] % S` of page `slots[n] // S` of `keys` and `values`,
    "P G S D"; a slot of -1 skips them. No slot may be named twice.

    Example:
        q = tk.norm_rope_append(qkv, keys, values, cos, sin, positions, slots, q_norm, k_norm)
    """
    if len(keys.shape) != 4:
        cure = "pass pages of shape (P, G, S, D)"
        raise launch_error(Code.ARGUMENT_RANK, f"keys have shape {tuple(keys.shape)}", cure)
    pages, groups, entries, length = keys.shape
    rows, *rest = qkv.shape
    heads = query_heads(rest, groups, length)
    shared = heads // max(groups, 1)
    split = view(qkv, (rows, heads + 2 * groups, length))
    q = view(split[:, :heads], (rows, groups, shared, length))
    k, v = split[:, heads : heads + groups], split[:, heads + groups :]
    found = output_for(out, qkv, (rows, heads, length))
    output = view(found, (rows, groups, shared, length))
    tunable = NORM_ROPE_APPEND_PLAIN if q_norm is None else NORM_ROPE_APPEND
    choice = choose(tunable, qkv, N=rows, G=groups, R=shared, D=length, P=pages, S=entries, C=cos.shape[0])
    norms, rest = (q_norm, k_norm), (cos, sin, positions, slots, None if q_norm is None else eps)
    choice(*present(output, keys, values, q, k, v, *norms, *rest))
    return found


def append_layers(
    qkv: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, k_norm: Any = None,
    eps: float = 1e-6,
) -> None:  # fmt: skip
    """Puts keys and values of new tokens of all layers, from rows of qkv, "M N (H+2*G)*D", into pages, "M P G S D".

    Each layer has pages of its own, and a row of `k_norm`, "M D", if keys are to be normalized. A token has the same
    position and the same slot in all layers: see `norm_rope_append`, which does this for one.

    Example:
        tk.append_layers(qkv, keys, values, cos, sin, positions, slots, k_norm)
    """
    if len(keys.shape) != 5 or len(qkv.shape) not in (3, 4):
        raise launch_error(
            Code.ARGUMENT_RANK, f"qkv has shape {tuple(qkv.shape)}, and keys {tuple(keys.shape)}",
            "pass rows of layers, (M, N, (H+2*G)*D), and their pages, (M, P, G, S, D)",
        )  # fmt: skip
    groups, depth = keys.shape[2], keys.shape[4]
    _, rows, *rest = qkv.shape
    heads = query_heads(rest, groups, depth)
    split = view(qkv, (qkv.shape[0], rows, heads + 2 * groups, depth))
    k, v = split[:, :, heads : heads + groups], split[:, :, heads + groups :]
    rest = cos, sin, positions, slots, None if k_norm is None else eps
    append_layers_kernel(keys, values, k, v, k_norm, *rest, BG=min(power_of_two(groups), 8))


def query_heads(rest: Sequence[int], groups: int, length: int) -> int:
    """How many heads of queries rows of this shape hold, beside so many of keys and of values."""
    count, left = (rest[0], rest[1] - length) if len(rest) == 2 else divmod(math.prod(rest), max(length, 1))
    heads = count - 2 * groups
    if left or heads < 0 or heads % max(groups, 1):
        raise launch_error(
            Code.DIMENSION_DIFFERS,
            f"rows of shape {tuple(rest)} do not hold heads of queries beside {groups} of keys and {groups} of values",
            f"rows hold H + 2 * {groups} heads of {length} elements, as pages do, with H a multiple of {groups}",
        )
    return heads


def rotated(first: Any, second: Any, c: Any, s: Any) -> tuple[Any, Any]:
    """Points of the plane, rotated by angles of which these are the cosines and sines."""
    return first * c - second * s, second * c + first * s


@tp.kernel(deny_checks=True)
def rope_kernel(
    y: Out[T, "N H D=2*E"], x: In[T, "N H D=2*E"], cos: In[f32, "P E"], sin: In[f32, "P E"],
    positions: In[Index["P"], "N"], *, D: int, E: int, BN: int = 1, BH: int = 32, BACK: int = 0,
) -> None:  # fmt: skip
    """Element e of both halves of a head, as a point of the plane, rotated by the angle of its row, or back by it."""
    for n, h in tp.parallel(N=BN, H=BH):
        first, second = wide(x[n, h, 0:E]), wide(x[n, h, E:D])
        c, s = cos[positions[n], :].to(first.dtype)[:, None, :], sin[positions[n], :].to(first.dtype)[:, None, :]
        y[n, h, 0:E], y[n, h, E:D] = rotated(first, second, c, -s if BACK == 1 else s)


def normalized(first: Any, second: Any, low: Any, high: Any, eps: Any) -> tuple[Any, Any]:
    """Both halves of heads divided by the root mean square of the two, times the halves of a weight."""
    squares = (first * first + second * second).mean(axis=-1, keepdims=True) / 2
    scale = tp.rsqrt(squares + eps.to(squares.dtype))
    return first * scale * low.to(scale.dtype), second * scale * high.to(scale.dtype)


@tp.kernel(deny_checks=True)
def norm_rope_append_kernel(
    out: Out[T, "N G R D=2*E"], keys: InOut[T, "P G S D=2*E"], values: InOut[T, "P G S D=2*E"],
    q: In[T, "N G R D=2*E"], k: In[T, "N G D=2*E"], v: In[T, "N G D=2*E"], q_norm: In[U, "D=2*E"] | None,
    k_norm: In[U, "D=2*E"] | None, cos: In[f32, "C E"], sin: In[f32, "C E"], positions: In[Index["C"], "N"],
    slots: In[Unique["P*S"], "N"], eps: f32 | None, *, R: int, S: int, D: int, E: int, BG: int = 1,
) -> None:  # fmt: skip
    """Queries and keys normalized and rotated, keys and values put into their slots; R heads of queries share a key.

    Norms are there all or none.
    """
    tp.require((q_norm is None) == (k_norm is None) and (k_norm is None) == (eps is None))
    for n, g in tp.parallel(N=tp.each, G=BG):
        slot: Any = slots[n]
        first, second = wide(k[n, g, 0:E]), wide(k[n, g, E:D])
        if k_norm is not None:
            first, second = normalized(first, second, k_norm[0:E], k_norm[E:D], eps)
        c, s = cos[positions[n], :].to(first.dtype), sin[positions[n], :].to(first.dtype)
        keys[slot // S, g, slot % S, 0:E], keys[slot // S, g, slot % S, E:D] = rotated(first, second, c, s)
        values[slot // S, g, slot % S, :] = v[n, g, :]
        first, second = wide(q[n, g, :, 0:E]), wide(q[n, g, :, E:D])
        if q_norm is not None:
            first, second = normalized(first, second, q_norm[0:E], q_norm[E:D], eps)
        out[n, g, :, 0:E], out[n, g, :, E:D] = rotated(first, second, c, s)


@tp.kernel(deny_checks=True)
def append_layers_kernel(
    keys: InOut[T, "M P G S D=2*E"], values: InOut[T, "M P G S D=2*E"], k: In[T, "M N G D=2*E"],
    v: In[T, "M N G D=2*E"], k_norm: In[U, "M D=2*E"] | None, cos: In[f32, "C E"], sin: In[f32, "C E"],
    positions: In[Index["C"], "N"], slots: In[Unique["P*S"], "N"], eps: f32 | None, *,
    S: int, D: int, E: int, BG: int = 8,
) -> None:  # fmt: skip
    """Keys normalized and rotated, and values, put into the slots of their tokens, in the pages of each layer m."""
    tp.require((k_norm is None) == (eps is None))
    for m, n, g in tp.parallel(M=tp.each, N=tp.each, G=BG):
        slot: Any = slots[n]
        one, two = wide(k[m, n, g, 0:E]), wide(k[m, n, g, E:D])
        if k_norm is not None:
            one, two = normalized(one, two, k_norm[m, 0:E], k_norm[m, E:D], eps)
        c, s = cos[positions[n], :].to(one.dtype), sin[positions[n], :].to(one.dtype)
        keys[m, slot // S, g, slot % S, 0:E], keys[m, slot // S, g, slot % S, E:D] = rotated(one, two, c, s)
        values[m, slot // S, g, slot % S, :] = v[m, n, g, :]


# Which sizes.

_MANY: Final = 512
"""From so many rows on a program takes eight groups of four heads; of eight heads they are more than registers hold."""


def _rope_default(back: int, sizes: Sizes, target: str) -> Choice:
    """All heads of a row, up to 4096 elements; with few rows fewer heads, so that there are programs enough."""
    heads = min(power_of_two(sizes["H"]), max(4096 // power_of_two(sizes["D"]), 1))
    if target != "cpu" and sizes["N"] < MULTIPROCESSORS:
        heads = min(heads, 4)
    return Choice(rope_kernel, {"BN": 1, "BH": heads, "BACK": back}, Schedule(occupancy=8))


def _rope_space(back: int, sizes: Sizes, target: str) -> Iterator[Choice]:
    held = [Schedule()] if target == "cpu" else occupied(4, 8, 16, tma=False)
    length = power_of_two(sizes["D"])
    for rows, heads in product((1, 2, 4), (1, 8, 16, 32, 64)):
        if heads < 2 * max(sizes["H"], 1) and (rows == 1 or 4096 <= rows * heads * length <= 16384):
            yield from choices(rope_kernel, f"BN={rows},BH={heads},BACK={back}", *held)


def _append_default(kernel: tp.Kernel, sizes: Sizes, target: str) -> Choice:
    """All heads of a row, up to 4096 elements of queries; on a GPU fewer, and with few rows one head of keys.

    Many rows go straight to registers there: the copy engine takes twice as long for pieces of half a head.
    """
    fit = max(4096 // (power_of_two(sizes["R"]) * power_of_two(sizes["D"])), 1)
    groups = min(power_of_two(sizes["G"]), fit)
    if target == "cpu":
        return Choice(kernel, {"BG": groups})
    if sizes["N"] < MULTIPROCESSORS:
        return Choice(kernel, {"BG": 1}, Schedule(occupancy=4))
    is_seen = kernel is norm_rope_append_kernel and (target, sizes["R"], sizes["D"]) == ("sm_90", 4, 128)
    most = 8 if is_seen and sizes["N"] >= _MANY else 4
    groups = min(groups, most)
    # With eight programs on a multiprocessor each has 64 registers for a thread: too few for eight groups.
    return Choice(kernel, {"BG": groups}, Schedule(occupancy=4 if groups == 8 else 8, tma=False))


def _append_space(kernel: tp.Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    held = [Schedule()] if target == "cpu" else occupied(1, 2, 4, 8)
    direct = [] if target == "cpu" else occupied(4, 8, tma=False)
    for groups in (1, 2, 4, 8):
        if groups < 2 * max(sizes["G"], 1):
            yield from choices(kernel, f"BG={groups}", *held, *direct)


def _places(rng: Any, arguments: dict[str, Any]) -> None:
    """Positions, and slots that differ."""
    arguments["positions"][...] = rng.integers(0, arguments["cos"].shape[0], arguments["positions"].shape)
    if "slots" in arguments:
        pages, _, entries, _ = arguments["keys"].shape
        slots = arguments["slots"]
        slots[...] = -1
        count = min(len(slots), pages * entries)
        slots[:count] = rng.permutation(pages * entries)[:count]


def _tunable(name: str, kernel: tp.Kernel, default: Any, space: Any, *exact: str) -> Tunable:
    return Tunable(name, (kernel,), default, space, exact, {"eps": 1e-6}, inputs=_places)


def _rope(name: str, back: int) -> Tunable:
    return _tunable(name, rope_kernel, partial(_rope_default, back), partial(_rope_space, back), "H", "D")


def _append(name: str, kernel: tp.Kernel) -> Tunable:
    default, space = partial(_append_default, kernel), partial(_append_space, kernel)
    return _tunable(name, kernel, default, space, "G", "R", "D", "S")


ROPE: Final = _rope("rope", 0)
ROPE_BACKWARD: Final = _rope("rope_backward", 1)
NORM_ROPE_APPEND: Final = _append("norm_rope_append", norm_rope_append_kernel)
NORM_ROPE_APPEND_PLAIN: Final = _append(
    "norm_rope_append_plain", norm_rope_append_kernel.without("q_norm", "k_norm", "eps")
)
TUNABLES: Final = (ROPE, ROPE_BACKWARD, NORM_ROPE_APPEND, NORM_ROPE_APPEND_PLAIN)
