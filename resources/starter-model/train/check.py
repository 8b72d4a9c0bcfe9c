"""Checks of the trainer on the CPU: python check.py

The chunked delta rule against the plain recurrence, samples that share a row, rows that are full, sides that share nothing, and
a run that was broken off.
"""
import argparse
import os
import re
import tempfile

import torch
from tokenizers import Tokenizer

import packing
import prepare
import train
from data import documents, rubric, sayings, sums
from data.dice import Dice
from data.names import made_up
from data.prose import real
from delta import CHUNK, RESET, Scan, overlaps
from layers import delta_mid, unit
from model import Config, StarterLM

TOKENIZER = Tokenizer.from_file(os.path.join(prepare.HERE, "..", "tokenizer.json"))


def recurrence(q, k, v, g, beta):
    """Section 7: S' = exp(g) S;  u = beta (v - k S');  S = S' + k u;  o = q S. One key head for all value heads."""
    n, heads, width = v.shape
    state, read = torch.zeros(heads, k.shape[-1], width, dtype=v.dtype), []
    for t in range(n):
        state = state * g[t].exp().view(-1, 1, 1)
        u = beta[t].unsqueeze(1) * (v[t] - k[t, 0] @ state)
        state = state + k[t, 0].unsqueeze(1) * u.unsqueeze(1)
        read.append(q[t, 0] @ state)
    return torch.stack(read)


def chunked(q, k, v, g, beta):
    n, heads, width = v.shape
    matrix, p, q, k, kw, whole, beta = overlaps(q, k, g, beta)
    v = v.view(n // CHUNK, CHUNK, heads, width).transpose(1, 2).flatten(0, 1) * beta
    w, u = delta_mid(matrix, kw, v)
    split = lambda x: x.view(n // CHUNK, heads, *x.shape[1:])
    return Scan.apply(split(w), split(q), split(u), split(p), split(k), split(whole)).transpose(1, 2).reshape(n, heads, width)


def test_chunks_are_the_recurrence():
    torch.manual_seed(0)
    n, heads, width = 3 * CHUNK, 2, 16
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64)
    q, k, v, g, beta = unit(make(n, 1, width)), unit(make(n, 1, width)), make(n, heads, width), -make(n, heads).abs() / 10, make(n, heads).sigmoid()
    g[100] = RESET
    results = []
    for form in (recurrence, chunked):
        given = [x.clone().requires_grad_() for x in (q, k, v, g, beta)]
        out = form(*given)
        (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
        results.append([out.detach(), *(x.grad for x in given)])
    worst = max((a - b).abs().max().item() for a, b in zip(*results))
    assert worst < 1e-10, worst


def test_samples_of_a_row_do_not_see_each_other():
    torch.manual_seed(0)
    model = StarterLM(Config(num_hidden_layers=4))
    ids, _, seg = (torch.tensor(x) for x in packing.batch(TOKENIZER, 2, 4, 1024))
    first = seg == 0
    with torch.no_grad():
        before = model.hidden(ids, model.rows(seg))
        changed = torch.where(first, (ids + 1) % 8000, ids)
        after = model.hidden(changed, model.rows(seg))
    moved = (before - after).abs().amax(-1).view_as(seg)
    assert moved[first].min() > 1e-3 and moved[~first].max() < 1e-4, (moved[first].min(), moved[~first].max())


def test_a_step_depends_on_seed_and_number_alone():
    one = packing.batch(TOKENIZER, 5, 17, 2048)
    packing.batch(TOKENIZER, 5, 3, 2048)
    assert one == packing.batch(TOKENIZER, 5, 17, 2048)
    assert one != packing.batch(TOKENIZER, 5, 18, 2048) and one != packing.batch(TOKENIZER, 6, 17, 2048)


def test_rows_are_full():
    empty = total = 0
    for step in range(40):
        ids, weights, seg = packing.batch(TOKENIZER, 1, step, 4096)
        assert {len(row) for part in (ids, weights, seg) for row in part} == {4096 // len(ids)}
        empty += sum(row.count(0) for row in ids)
        total += 4096
    assert empty / total < .04, empty / total


def test_the_sides_share_no_made_up_word_and_no_sum():
    sides = [Dice(1, held) for held in (False, True)]
    words = [{made_up(r) for _ in range(4000)} for r in sides]
    assert not words[0] & words[1]
    asked = [{answer for _, _, answer, _ in (sums.arithmetic(r) for _ in range(4000)) if "*" not in answer} for r in sides]
    assert not asked[0] & asked[1]


def test_the_rubric_and_the_real_prose_are_not_trained():
    trained = {said.lower().strip("?!. ") for ways, _ in sayings.SETS for said in ways}
    asked = rubric.prompts()
    assert len(asked) == 50 and not [said for said, _ in asked if said.lower().strip("?!. ") in trained]
    assert not set(real.paragraphs) & set(real.test_paragraphs) and not [one for one in real.sentences if any(one in text for text in real.test_paragraphs)]


def test_what_is_worked_out_is_true():
    r = Dice(3)
    for _ in range(2000):
        _, steps, answer, result = sums.arithmetic(r)
        a, mark, b = re.match(r"(\d+) (.) (\d+) = ", answer).groups()
        assert eval(f"{a}{mark}{b}") == result and answer in steps, (steps, answer)


def test_questions_have_their_answer_in_the_cited_passage():
    for n in range(500):
        system, _, value, number = documents.document_question(Dice(n, True))
        cited = next((line for line in system.split("\n") if line.startswith(f"[{number}] ")), "")
        assert value is None or value.lower() in cited.lower(), (system, value, number)


def test_a_broken_run_ends_as_an_unbroken_one():
    with tempfile.TemporaryDirectory() as folder:
        prepare.extend(folder, TOKENIZER, 1, 1024, 2)
        prepare.extend(folder, TOKENIZER, 1, 1024, 4)
        batch = packing.batch(TOKENIZER, 1, 3, 1024)
        assert [part.tolist() for part in prepare.Prepared(folder)[3]][::2] == [batch[0], batch[2]]
        options = dict(data=folder, init=None, steps=4, decay=2, warmup=2, muon_lr=.01, adam_lr=1e-3, embed_lr=5e-4, mtp_every=2, mtp_weight=.4,
                       device="cpu", intermediate=64, hidden=256, seed=3)
        whole, begun = (train.Run(argparse.Namespace(**options, run=os.path.join(folder, name))) for name in "ab")
        for _ in range(4):
            whole.advance()
        for _ in range(2):
            begun.advance()
        train.save(begun.path("state.pt"), begun.state())
        resumed = train.Run(argparse.Namespace(**options, run=os.path.join(folder, "b")))
        assert resumed.step == 2
        for _ in range(2):
            resumed.advance()
        assert train.digest(whole.model) == train.digest(resumed.model)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name, flush=True)
