"""Launches that go right are not refused, but for what a contract or an index type says.

The fast tier takes a few kernels of the generator; `make test-all` takes more, and all of the library and the examples.
"""

from __future__ import annotations

import pytest

from fuzz.refused_launches import Tally, of_generator, of_library


def test_a_launch_that_goes_right_is_not_refused() -> None:
    tally = Tally()
    for seed in range(20, 60):
        of_generator(seed, "mixed", tally, launches=6)
    assert tally.wrong == []
    assert tally.counts["launches: runs"] > 0
    assert tally.counts["launches: refused"] > 0


@pytest.mark.slow
def test_launches_of_few_of_many_kernels_are_refused_wrongly() -> None:
    """A compare is judged by a few plain sizes, and so is too strict for one kernel in some hundreds."""
    tally = Tally()
    for seed in range(100, 600):
        of_generator(seed, "mixed", tally)
    assert len({text.partition("\n")[0] for text in tally.wrong}) * 100 <= tally.counts["accepted"]
    assert tally.counts["launches: runs"] > 100


@pytest.mark.slow
def test_no_launch_of_the_library_is_refused_wrongly() -> None:
    tally = Tally()
    of_library(tally)
    assert tally.wrong == []
    assert tally.counts["accepted"] == tally.counts["kernels"] > 150
