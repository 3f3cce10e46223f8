"""Copies on their way to the host: what the tensor held at their turn, whatever is launched behind them."""

from __future__ import annotations

import numpy as np
import pytest

import tileproof as tp
from tileproof import In, Index, InOut, Out, f32, i32
from tileproof.diagnostics.errors import TileproofError

pytestmark = pytest.mark.filterwarnings("error")


@tp.kernel
def add_one(x: InOut[i32, "N"]) -> None:
    for n in tp.parallel(N=16):
        x[n] = x[n] + 1


@tp.kernel
def take(y: Out[f32, "N"], table: In[f32, "V"], ids: In[Index["V"], "N"]) -> None:
    for n in tp.parallel(N=tp.each):
        y[n] = table[ids[n]]


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    from tileproof.backends.cuda.device.driver import device_count

    if request.param != "cpu" and not device_count():
        pytest.skip("no NVIDIA GPU")
    return str(request.param)


def test_each_fetch_has_what_was_there_at_its_turn(device: str) -> None:
    x = tp.zeros(100, tp.i32, device)
    with tp.Graph() as graph:
        add_one(x)
    fetched = []
    for _ in range(50):
        graph.replay()
        fetched.append(x.fetch())
    for turn, each in enumerate(fetched, 1):
        np.testing.assert_array_equal(each.numpy(), np.full(100, turn, np.int32))


def test_a_view_with_gaps_and_an_empty_tensor_are_fetched(device: str) -> None:
    x = tp.asarray(np.arange(24, dtype=np.int32).reshape(4, 6), device)
    np.testing.assert_array_equal(x[:, 1::2].fetch().numpy(), np.arange(24).reshape(4, 6)[:, 1::2])
    assert tp.zeros((0, 3), tp.f32, device).fetch().numpy().shape == (0, 3)


def test_a_fetch_of_what_failed_work_wrote_raises_also_when_later_work_has_cured_it(device: str) -> None:
    table, y = tp.zeros(8, tp.f32, device), tp.zeros(2, tp.f32, device)
    table.copy_from(np.arange(8, dtype=np.float32))
    ids = tp.zeros(2, tp.i32, device)
    with tp.Graph() as graph:
        take(y, table, ids)
    tp.copy(ids, np.array([7, 8], np.int32))
    graph.replay()
    wrong = y.fetch()
    tp.copy(ids, np.array([7, 6], np.int32))
    graph.replay()
    right = y.fetch()
    with pytest.raises(TileproofError, match="8"):
        wrong.numpy()
    assert right.numpy().tolist() == [7, 6]


def test_what_nobody_has_written_is_not_fetched(device: str) -> None:
    with pytest.raises(TileproofError, match="nobody has written"):
        tp.empty(4, tp.f32, device).fetch()


def test_nothing_is_fetched_while_a_graph_is_recorded() -> None:
    x = tp.zeros(4)
    with pytest.raises(TileproofError, match="read by the host"), tp.Graph():
        x.fetch()
