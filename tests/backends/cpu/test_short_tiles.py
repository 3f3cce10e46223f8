"""Short tiles and unnamed axes: elements that do not exist are not counted, read or written."""

from __future__ import annotations

import numpy as np

import tileproof as tp
from tileproof import In, Out, f32


@tp.kernel
def means(y: Out[f32, "M"], x: In[f32, "M K"]) -> None:
    for m in tp.parallel(M=tp.each):
        total = 0.0
        for k in tp.tiles(K=4):
            total += x[m, k].mean()
        y[m] = total


def test_a_mean_divides_by_the_elements_that_exist() -> None:
    x, y = np.arange(12, dtype=np.float32).reshape(2, 6), np.zeros(2, np.float32)
    with tp.backend("cpu"):
        means(y, x)
    np.testing.assert_array_equal(y, x[:, :4].mean(axis=1) + x[:, 4:].mean(axis=1))


@tp.kernel
def padded(y: Out[f32, "M N"], x: In[f32, "_ _"]) -> None:
    for i, j in tp.parallel(M=4, N=4):
        y[i, j] = x.get((i, j), -1.0)


def test_a_get_is_tested_against_each_axis_without_a_name() -> None:
    for rows, columns in ((3, 9), (9, 3), (5, 6), (0, 4)):
        x, y = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns), np.zeros((6, 7), np.float32)
        with tp.backend("cpu"):
            padded(y, x)
        expected = np.full((6, 7), -1, np.float32)
        expected[:rows, :columns] = x[:6, :7]
        np.testing.assert_array_equal(y, expected)


@tp.kernel
def ones(y: Out[f32, "M N"]) -> None:
    for i, j in tp.parallel(M=4, N=16):
        y[i, j] = tp.zeros((i, j)) + 1.0


def test_what_lies_behind_a_short_tile_is_not_written() -> None:
    array = np.full((12, 40), 7, np.float32)
    for rows, columns in ((6, 16), (8, 18), (5, 17), (7, 30), (0, 16), (4, 0)):
        array[...] = 7
        with tp.backend("cpu"):
            ones(array[:rows, :columns])
        expected = np.full((12, 40), 7, np.float32)
        expected[:rows, :columns] = 1
        np.testing.assert_array_equal(array, expected)
