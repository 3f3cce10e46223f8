"""The tables of token counts: one row for each sequence with penalties."""

from __future__ import annotations

from support.checkpoints import tiny
from tileproof.llm import SamplingParams
from tileproof.llm.request import Request
from tileproof.llm.step.sampler import Penalties

CONFIG = tiny()


def test_a_row_says_what_the_prompt_has_and_how_often_tokens_were_generated() -> None:
    penalties = Penalties(CONFIG, "cpu", 2)
    request = Request((3, 5, 3), SamplingParams(frequency_penalty=0.5, logit_bias={9: -2.0}), generated=[7, 7, 4])
    penalties.begin(request)
    prompt, counts, bias = (table.numpy()[request.penalty_row] for table in penalties.tables)
    assert prompt.nonzero()[0].tolist() == [3, 5]
    assert {token: int(counts[token]) for token in counts.nonzero()[0].tolist()} == {4: 1, 7: 2}
    assert {token: float(bias[token]) for token in bias.nonzero()[0].tolist()} == {9: -2.0}


def test_a_row_is_free_again_when_its_request_ends() -> None:
    penalties = Penalties(CONFIG, "cpu", 1)
    params = SamplingParams(presence_penalty=0.5)
    for _ in range(2):
        request = Request((1,), params)
        penalties.begin(request)
        assert request.penalty_row == 0
        penalties.end(request)
        assert request.penalty_row == -1
    plain = Request((1,), SamplingParams())
    penalties.begin(plain)
    assert plain.penalty_row == -1
