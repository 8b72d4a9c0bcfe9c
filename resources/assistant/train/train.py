"""Trains low-rank adapters on rows of mix.py, for as long as it is given; can be stopped and taken up again.

    python train.py MODEL.gguf QUESTIONS state.pt --minutes 60 [--threads 1] [--from state.pt] [--rate 5e-4]
"""
import argparse
import math
import random
import time

import torch

from data.mix import Mix
from model import Model, Row
from tokens import tokenizer

ROWS = 2  # of a step
LONGEST = 1300  # tokens of a row


def encoded(tok, prefix, branches):
    ids = lambda text, weight: [(one, weight) for one in tok.encode(text, add_special_tokens=False).ids]
    # Every answer counts alike, whether it is one word or fifty.
    answers = [(ids(context, 0.0), ids(reply, 1.0)) for context, reply in branches]
    return Row(ids(prefix, 0.0), [before + [(one, len(after) ** -0.5) for one, _ in after] for before, after in answers])


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("model"), asked.add_argument("questions"), asked.add_argument("out")
    asked.add_argument("--minutes", type=float, default=60), asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--rate", type=float, default=5e-4), asked.add_argument("--resume"), asked.add_argument("--seed", type=int, default=1)
    args = asked.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    tok, model, mix = tokenizer(args.model), Model(args.model), Mix(args.questions)
    adapters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(adapters, lr=args.rate, betas=(0.9, 0.98), weight_decay=0.0)
    done, tokens = 0, 0
    if args.resume:
        state = torch.load(args.resume, weights_only=True)
        model.load_state_dict(state["adapters"], strict=False)
        optimiser.load_state_dict(state["optimiser"])
        done, tokens = state["steps"], state["tokens"]
    began, saved, mean = time.time(), time.time(), None
    while (share := (time.time() - began) / (args.minutes * 60)) < 1:
        rate = args.rate * min(1.0, (done + 1) / 20) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        rows = []
        while len(rows) < ROWS:
            r = random.Random(f"{args.seed}/{done}/{len(rows)}/{random.random()}")
            row = encoded(tok, *mix.row(r))
            if len(row.ids) <= LONGEST and row.weights.any():
                rows.append(row)
        total, weights = 0.0, sum(float(row.weights.sum()) for row in rows)
        for row in rows:
            loss, _ = model.loss(row)
            (loss / weights).backward()
            total += float(loss.detach())
            tokens += len(row.ids)
        torch.nn.utils.clip_grad_norm_(adapters, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        done += 1
        mean = total / weights if mean is None else 0.95 * mean + 0.05 * total / weights
        if done % 5 == 0:
            print(f"{done} steps, {tokens:,} tokens, loss {mean:.3f}, rate {rate:.2e}, {(time.time() - began) / 60:.1f} min", flush=True)
        if time.time() - saved > 300 or (time.time() - began) / 60 >= args.minutes:
            saved = time.time()
            save(model, optimiser, done, tokens, args.out)
    save(model, optimiser, done, tokens, args.out)


def save(model, optimiser, steps, tokens, path):
    torch.save({"adapters": {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad},
                "optimiser": optimiser.state_dict(), "steps": steps, "tokens": tokens}, path)


if __name__ == "__main__":
    main()
