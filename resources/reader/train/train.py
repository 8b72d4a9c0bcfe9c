"""train.py ENCODER CANDIDATES STATE [--minutes 30] [--from STATE]

ENCODER: the folder of all-MiniLM-L6-v2; CANDIDATES: what candidates.ts wrote; STATE: where the trained numbers go.

A question and its statements are one choice: softmax over the scores, with 0 for "none of them". Each score is that of the reader
and a share of what the app thinks without one, so the reader learns what that does not tell. A question with an answer counts a
second time, at half weight, without the statements that answer it: then none of the others may win.
"""
import argparse
import json
import math
import random
import time

import torch

from model import Reader, pair, tokenizer_of, trained

RATE, WARM_UP, LEAST = 1.2e-3, 30, 0.02
QUESTIONS, PARTS, TOLD = 12, 4, 25
WITHOUT = 0.5
SEED = 1


def read(path, tokenizer):
    examples = []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        says = torch.tensor([one["says"] for one in row["statements"]], dtype=torch.bool)
        # What was not found teaches nothing about what was.
        if len(says) == 0 or (row["answerable"] and not says.any()):
            continue
        pairs = [pair(tokenizer, row["question"], one["text"]) for one in row["statements"]]
        examples.append((pairs, says, torch.tensor([one["score"] for one in row["statements"]])))
    return examples


def loss_of(scores, says):
    """-> loss, weight"""
    none = torch.zeros(1)
    every = lambda some: torch.logsumexp(torch.cat([some, none]), 0)
    if not says.any():
        return every(scores), 1.0
    loss = every(scores) - torch.logsumexp(scores[says], 0)
    return loss + WITHOUT * every(scores[~says]), 1.0 + WITHOUT


def scores_of(model, tokenizer, pairs):
    """Pairs of like length are read together: little is padded."""
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at]["input_ids"]))
    scores = torch.zeros(len(pairs))
    size = math.ceil(len(order) / PARTS)
    for start in range(0, len(order), size):
        part = order[start : start + size]
        batch = tokenizer.pad([pairs[at] for at in part], return_tensors="pt")
        scores = scores.index_copy(0, torch.tensor(part), model(batch))
    return scores


def step_loss(model, tokenizer, share, part):
    scores = scores_of(model, tokenizer, [one for pairs, _, _ in part for one in pairs])
    total, weights, start = 0.0, 0.0, 0
    for pairs, says, before in part:
        loss, weight = loss_of(scores[start : start + len(pairs)] + share * before, says)
        total, weights, start = total + loss, weights + weight, start + len(pairs)
    return total / weights


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("encoder")
    arguments.add_argument("candidates")
    arguments.add_argument("state")
    arguments.add_argument("--minutes", type=float, default=30)
    arguments.add_argument("--from", dest="start")
    wanted = arguments.parse_args()
    torch.manual_seed(SEED)
    dice = random.Random(SEED)
    tokenizer = tokenizer_of(wanted.encoder)
    examples = read(wanted.candidates, tokenizer)
    model = Reader(wanted.encoder)
    if wanted.start:
        model.load_state_dict(torch.load(wanted.start), strict=False)
    share = torch.nn.Parameter(torch.tensor(0.5))
    own = [share, *(value for value in model.parameters() if value.requires_grad)]
    optimiser = torch.optim.AdamW(own, lr=RATE, weight_decay=0.01)
    begun, losses, order = time.time(), [], []
    while (done := (time.time() - begun) / 60 / wanted.minutes) < 1:
        if len(order) < QUESTIONS:
            order = dice.sample(examples, len(examples))
        part, order = order[:QUESTIONS], order[QUESTIONS:]
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (len(losses) + 1) / WARM_UP) * max(LEAST, 1 - done)
        loss = step_loss(model, tokenizer, share, part)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(own, 1.0)
        optimiser.step()
        losses.append(loss.item())
        if len(losses) % TOLD == 0:
            print(f"{len(losses)} steps, loss {sum(losses[-TOLD:]) / TOLD:.3f}, share {share.item():.2f}, {time.time() - begun:.0f} s", flush=True)
            torch.save(trained(model), wanted.state)
    torch.save(trained(model), wanted.state)


main()
