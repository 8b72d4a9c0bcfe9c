"""train.py ENCODER STATE CANDIDATES ... [--minutes 30] [--rate 1.2e-3] [--seed 1] [--from STATE|ADAPTER]

ENCODER: the folder of all-MiniLM-L6-v2; STATE: where the trained numbers go; CANDIDATES: what candidates.ts wrote.

A question and its statements are one choice: softmax over the scores, with 0 for "none of them". Each score is that of the reader
and a share of what the app thinks without one, so the reader learns what that does not tell. A question with an answer counts a
second time, at half weight, without the statements that answer it: then none of the others may win. One in five also has a twin
that nothing answers: the same question about another name or year that its statements mention.
"""
import argparse
import json
import math
import random
import time

import torch

from model import Reader, load, pair, tokenizer_of, trained
from swap import swapped

WARM_UP, LEAST = 30, 0.02
QUESTIONS, PARTS, TOLD = 12, 4, 25
WITHOUT = 0.5
TWINS = 0.2
# Statements of a question that are read: those that answer it, and the likeliest others.
STATEMENTS = 6


def read(path, tokenizer, dice):
    examples = []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        statements = sorted(row["statements"], key=lambda one: not one["says"])[:STATEMENTS]
        # What was not found teaches nothing about what was.
        if not statements or (row["answerable"] and not statements[0]["says"]):
            continue
        examples.append(example_of(tokenizer, row["question"], statements))
        twin = swapped(row["question"], [one["text"] for one in statements], dice) if dice.random() < TWINS else None
        if twin and row["answerable"]:
            examples.append(example_of(tokenizer, twin, [{**one, "says": False} for one in statements]))
    return examples


def example_of(tokenizer, question, statements):
    """-> pairs of tokens, [statements] which answer, [statements] how likely each is without a reader"""
    return (
        [pair(tokenizer, question, one["text"]) for one in statements],
        torch.tensor([one["says"] for one in statements], dtype=torch.bool),
        torch.tensor([one["score"] for one in statements]),
    )


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
        with torch.autocast("cpu", torch.bfloat16):
            read = model(batch)
        scores = scores.index_copy(0, torch.tensor(part), read.float())
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
    arguments.add_argument("state")
    arguments.add_argument("candidates", nargs="+")
    arguments.add_argument("--minutes", type=float, default=30)
    arguments.add_argument("--rate", type=float, default=1.2e-3)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--from", dest="start")
    wanted = arguments.parse_args()
    torch.manual_seed(wanted.seed)
    dice = random.Random(wanted.seed)
    tokenizer = tokenizer_of(wanted.encoder)
    examples = [one for path in wanted.candidates for one in read(path, tokenizer, dice)]
    print(f"{len(examples)} questions", flush=True)
    model = Reader(wanted.encoder)
    if wanted.start:
        load(model, wanted.start)
    share = torch.nn.Parameter(torch.tensor(0.5))
    own = [share, *(value for value in model.parameters() if value.requires_grad)]
    optimiser = torch.optim.AdamW(own, lr=wanted.rate, weight_decay=0.01)
    begun, losses, order = time.time(), [], []
    while (done := (time.time() - begun) / 60 / wanted.minutes) < 1:
        if len(order) < QUESTIONS:
            order = dice.sample(examples, len(examples))
        part, order = order[:QUESTIONS], order[QUESTIONS:]
        for group in optimiser.param_groups:
            group["lr"] = wanted.rate * min(1, (len(losses) + 1) / WARM_UP) * max(LEAST, 1 - done)
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
