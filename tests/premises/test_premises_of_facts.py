"""What is remembered of contents holds: it was measured while nobody else could write them."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import tileproof as tp
from fuzz.attack_memory import Memory
from fuzz.attacks import Rounds, attack
from tileproof import In, Index, Out, f32

N, V = 2**18, 1024


@tp.kernel
def gather(y: Out[f32, "N"], x: In[f32, "V"], at: In[Index["V"], "N"], *, BN: int = 1024) -> None:
    for n in tp.parallel(N=BN):
        y[n] = x[at[n]]


@attack
def test_no_fact_is_kept_of_a_tensor_that_was_written_while_it_was_measured() -> None:
    chance, good = random.Random(0), np.zeros(N, np.int32)
    x, y = Memory("numpy", np.ones(V, np.float32)), np.zeros(N, np.float32)
    writes = 0
    rounds = Rounds(100, lambda: writes)
    for _ in rounds:
        at = tp.from_numpy(good)
        begun = threading.Event()

        def spoil(view: list[np.ndarray], begun: threading.Event = begun, turns: int = chance.randrange(8000)) -> None:
            nonlocal writes
            begun.wait()
            for _ in range(turns):
                pass
            view[0][0] = V + 100
            view.clear()  # nobody else can reach the memory from here on
            writes += 1

        thread = threading.Thread(target=spoil, args=([at.numpy()],))
        thread.start()
        begun.set()
        with rounds.attempt():
            gather(y, x.argument, at)
        thread.join()
        with pytest.raises(tp.LaunchError):
            gather(y, x.argument, at)
