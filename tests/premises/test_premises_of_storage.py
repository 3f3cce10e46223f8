"""Tensors of torch that get other memory: what a launch was proved for is what it uses, and nothing is used after it
was freed. Memory is freed as soon as nothing refers to it, and is not there then."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tileproof as tp
from fuzz.attack_memory import Calls, needs_torch
from fuzz.attacks import Rounds, attack
from support.guarded import guarded
from tileproof import In, InOut, Out, f32

pytestmark = needs_torch

N = 2**14


@tp.kernel
def increase(x: InOut[f32, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        x[n] = x[n] + 1.0


@tp.kernel
def double(y: Out[f32, "N"], x: In[f32, "N"], *, BN: int = 256) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[n] + x[n]


def fresh(size: int = N, value: float = 1) -> Any:
    """A tensor over memory that goes with it, a forbidden page behind it."""
    import torch

    return torch.from_numpy(guarded(np.full(size, value, np.float32), "end"))


def large() -> Any:
    """A tensor over torch's own memory, so large that it goes back to the system."""
    import torch

    return torch.ones(2**24)


def replace(tensor: Any, other: Any, way: str) -> None:
    """Gives a tensor the memory of another."""
    if way == "data":
        tensor.data = other
    else:
        tensor.set_(other)


WAYS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "data": (fresh, lambda tensor: replace(tensor, fresh(value=5), "data")),
    "set_": (fresh, lambda tensor: replace(tensor, fresh(value=5), "set_")),
    "resize_": (large, lambda tensor: tensor.resize_(2**26)),
}
each_way = pytest.mark.parametrize("way", ["data", "set_"])
each_change = pytest.mark.parametrize("way", WAYS)


@each_way
@attack
def test_a_launch_uses_the_shape_and_the_address_of_one_memory(way: str) -> None:
    tensor, sizes = fresh(), (16, 4096)
    memories = [fresh(size) for size in sizes]
    changes = [lambda other=other: replace(tensor, other, way) for other in memories]
    changes[0]()
    with Calls(*changes) as flips:
        rounds = Rounds(1500, lambda: flips.writes)
        for _ in rounds:
            with rounds.attempt():
                increase(tensor)
    # torch makes a tensor that nobody else has without Python's lock, in `detach`: for a moment it may have the shape
    # of the small memory over the large one. So what is counted is updates of the first elements.
    firsts = [memory[: min(sizes)] for memory in memories]
    assert all(bool((first == first[0]).all()) for first in (*firsts, memories[1][min(sizes) :])), "an update was torn"
    assert sum(float(first[0]) - 1 for first in firsts) == rounds.done, "an update was lost"


@each_way
@attack
def test_what_launches_remember_is_of_the_shape_that_they_had(way: str) -> None:
    import torch

    rounds = Rounds(1)
    for number in rounds:
        sizes = tuple(range(16 + number % 136, 4096, 136))
        for pair in itertools.pairwise((*sizes, sizes[0])):
            # What is written next to these is there.
            tensor = torch.ones(1)
            memories = [torch.ones(8192)[:size] for size in pair]
            changes = [lambda other=other, tensor=tensor: replace(tensor, other, way) for other in memories]
            changes[0]()
            with Calls(*changes):
                for _ in range(60):
                    with suppress(tp.LaunchError):
                        increase(tensor)
        for size in sizes:
            tensor = fresh(size)
            increase(tensor)
            assert (tensor == 2).all(), f"not every one of {size} elements"
        rounds.done += 1


@each_change
@attack
def test_a_tensor_of_ours_keeps_the_memory_that_it_shares(way: str) -> None:
    make, change = WAYS[way]
    tensor = make()
    shared, y = tp.asarray(tensor), tp.empty(tuple(tensor.shape))
    with suppress(RuntimeError):  # torch may have said that this memory is not resizable
        change(tensor)
    gc.collect()
    attempt = Rounds(1).attempt
    with attempt():
        assert shared[-4:].tolist() == [1] * 4
    with attempt():
        double(y, shared)
        assert y[-4:].tolist() == [2] * 4
    with attempt():
        increase(shared)
        assert shared[-4:].tolist() == [2] * 4


@each_change
@pytest.mark.parametrize("given", ["tensor", "asarray"])
@attack
def test_a_graph_keeps_the_memory_that_it_was_recorded_with(way: str, given: str) -> None:
    make, change = WAYS[way]
    tensor = make()
    y = tp.empty(tuple(tensor.shape))
    with tp.Graph() as graph:
        double(y, tensor if given == "tensor" else tp.asarray(tensor))
    graph.replay()
    tp.current_stream().synchronize()
    with suppress(RuntimeError):  # torch may have said that this memory is not resizable
        change(tensor)
    gc.collect()
    with Rounds(1).attempt():
        graph.replay()
        assert y[-4:].tolist() in ([2] * 4, [10] * 4)


@pytest.mark.parametrize("given", ["tensor", "asarray"])
@attack
def test_memory_lives_until_a_launch_is_done(given: str) -> None:
    # Not by `set_`: torch frees memory there without Python's lock, and so while another thread asks where it is.
    tensor, y = fresh(), np.zeros(N, np.float32)
    with Calls(lambda: replace(tensor, fresh(), "data")) as changes:
        rounds = Rounds(300, lambda: changes.writes)
        for _ in rounds:
            with rounds.attempt():
                double(y, tensor if given == "tensor" else tp.asarray(tensor))
                assert (y == 2).all()
