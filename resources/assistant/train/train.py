"""Trains all matrices and norms of SmolLM2 on the groups of mix.py for as long as it is given, the last part of it in the precision that ships.

    python kept.py MODEL.gguf kept.jsonl
    python train.py MODEL.gguf QUESTIONS OUT --seconds 300 [--kept kept.jsonl] [--resume OUT/state.pt] [--rate 2e-4] [--rows 16] [--kinds '{"written": 3, "tools": 1}']

A GPU is used where there is one. OUT/matrices.N.xz and OUT/norms.pt are what export.py reads.
"""
import argparse
import copy
import json
import lzma
import math
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset

from data.mix import Mix
from export import PARTS, blocks
from model import MATRICES, Model
from rows import LENGTH, MARKED, Packer, branched
from tokens import tokenizer

KEPT_ROWS = 0.13  # of a step's rows, those that are to stay as they were
KEEP = 1.0  # how much a nat of divergence from the original counts beside one of loss
WARM_UP = 0.05  # share of the time, or 60 steps
ROUND_FROM = 0.25  # share of the time from which the weights are rounded as they ship
SAVE_EVERY = 600  # seconds; only on a CPU, where it goes on for hours and is interrupted


class Rows(IterableDataset):
    """Rows without end; of a worker its own."""

    def __init__(self, *given):
        self.given = given

    def __iter__(self):
        path, questions, kept, seed, keep, kinds, length = self.given
        info = torch.utils.data.get_worker_info()
        r = random.Random(f"{seed}/{info.id if info else 0}/{keep}")
        tok, mix, packer = tokenizer(path), Mix(questions, kept=kept, kinds=kinds, size=length / LENGTH), Packer(length)
        while True:
            prefix, branches, stays = mix.group(r, r.choice(["prose", "kept"]) if keep and kept else "prose" if keep else None)
            if stays == keep and branches and (row := packer.add(branched(tok, prefix, branches))) is not None:
                yield row


def stacked(rows):
    return {name: torch.from_numpy(np.stack([row[name] for row in rows])) for name in MARKED}


def batches(args, kept, keep, rows):
    """Batches of `rows` rows."""
    workers = max(1, args.workers // (4 if keep else 1)) if args.workers else 0
    data = Rows(args.model, args.questions, kept, f"{args.seed}/{args.done}", keep, args.kinds, args.length)
    return iter(DataLoader(data, batch_size=rows, num_workers=workers, collate_fn=stacked, pin_memory=torch.cuda.is_available(), prefetch_factor=8 if workers else None))


def states_of(model, row, quantised):
    return model(row["ids"], row["positions"], row["group"], row["branch"], quantised)


def losses(model, states, row):
    """Weighted sum of cross-entropies over what the model has to say, and the sum of weights."""
    at = row["weights"].nonzero(as_tuple=True)
    logits = model.logits(states[at[0], row["parents"][at]]).float()
    weights = row["weights"][at]
    return (F.cross_entropy(logits, row["ids"][at], reduction="none") * weights).sum(), weights.sum(), logits, at


def divergence(model, states, before, row):
    """Mean of the nats a token by which the model differs from what it was."""
    at = row["weights"].nonzero(as_tuple=True)
    parents = row["parents"][at]
    new = torch.log_softmax(model.logits(states[at[0], parents]).float(), -1)
    old = torch.log_softmax(model.logits(before[at[0], parents]).float(), -1)
    return (old.exp() * (old - new)).sum(-1).mean()


def held_out(args, device, most):
    """-> [(name, batches of rows)] of questions about passages of which none was seen"""
    tok, sets = tokenizer(args.model), []
    mix = Mix(args.questions, held_out=True)
    for name in ("passages", "documents", "inline", "tools"):
        r, packer, rows = random.Random(7), Packer(), []
        while len(rows) < most:
            prefix, branches, _ = mix.group(r, name)
            if branches and (row := packer.add(branched(tok, prefix, branches))) is not None:
                rows.append(row)
        sets.append((name, [{k: v.to(device) for k, v in stacked(rows[n:n + 8]).items()} for n in range(0, most, 8)]))
    return sets


@torch.no_grad()
def examined(model, sets, quantised, refuse):
    """Of each set: loss a token, and how many answers greedy decoding would give word for word (of those that answer, and of refusals)."""
    shown = []
    torch.compiler.set_stance("force_eager")
    for name, some in sets:
        total, tokens, exact, count = 0.0, 0, [0, 0], [0, 0]
        for row in some:
            states = states_of(model, row, quantised)
            _, _, logits, at = losses(model, states, row)
            target = row["ids"][at]
            total, tokens = total + float(F.cross_entropy(logits, target, reduction="sum")), tokens + len(target)
            right = (logits.argmax(-1) == target).tolist()
            # What is said in one go has one weight and neighbouring places.
            first = 0
            places = list(zip(at[0].tolist(), at[1].tolist()))
            for n in range(1, len(places) + 1):
                if n == len(places) or places[n] != (places[n - 1][0], places[n - 1][1] + 1):
                    refusal = target[first:n].tolist()[:len(refuse)] == refuse
                    exact[refusal] += all(right[first:n])
                    count[refusal] += 1
                    first = n
        shown.append(f"{name} {total / max(1, tokens):.3f} exact {exact[0] / max(1, count[0]):.3f}" + (f" refused {exact[1] / count[1]:.3f}" if count[1] else ""))
    torch.compiler.set_stance("default")
    return "; ".join(shown)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("model"), asked.add_argument("questions"), asked.add_argument("out")
    asked.add_argument("--seconds", type=float, default=300), asked.add_argument("--kept"), asked.add_argument("--resume")
    asked.add_argument("--rate", type=float, default=2e-4), asked.add_argument("--rows", type=int, default=16), asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--workers", type=int, default=12), asked.add_argument("--held-out", type=int, default=64), asked.add_argument("--kinds", type=json.loads), asked.add_argument("--most-steps", type=int, default=10**9), asked.add_argument("--length", type=int, default=LENGTH)
    asked.add_argument("--from-layer", type=int, default=0), asked.add_argument("--round-from", type=float, default=ROUND_FROM)
    args = asked.parse_args()
    state = torch.load(args.resume, weights_only=True) if args.resume else {"steps": 0, "tokens": 0, "spent": 0.0}
    args.done = state["steps"]
    began = time.time()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(args.seed)
    os.makedirs(args.out, exist_ok=True)
    kept = [tuple(one) for one in map(json.loads, open(args.kept, encoding="utf-8"))] if args.kept else []
    many = max(1, round(args.rows * KEPT_ROWS))
    # Few rows a step, as a processor has them: not every step holds one of those.
    seldom = max(1, round(many / args.rows / KEPT_ROWS))
    learnt, stays = batches(args, kept, False, args.rows - many), batches(args, kept, True, many)
    model = Model(args.model).to(device)
    before = copy.deepcopy(model).to(torch.bfloat16).eval().requires_grad_(False)
    tok = tokenizer(args.model)
    refuse = tok.encode("I could not find that", add_special_tokens=False).ids
    sets = held_out(args, device, args.held_out)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
        for layer in model.layers:
            layer.compile()
    for layer in model.layers[:args.from_layer]:
        layer.requires_grad_(False)
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    done, tokens, mean, said = state["steps"], state["tokens"], [None, None], time.time()
    if args.resume:
        model.load_state_dict(state["model"]), optimiser.load_state_dict(state["optimiser"])
    print(f"ready after {time.time() - began:.0f} s", flush=True)
    began, saved = None, time.time()
    first = done
    spent = lambda: state["spent"] + (time.time() - began if began else 0.0)
    while True:
        share = max(spent() / args.seconds, done / args.most_steps)
        if share >= 1:
            break
        rate = args.rate * min(1.0, max((done + 1) / 60, share / WARM_UP)) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        # Once at the start, too, so that nothing has to be compiled on the way.
        quantised = share >= args.round_from or (began is None and done == first)
        new, old = next(learnt), next(stays if done % seldom == 0 else learnt)
        row = {k: torch.cat((new[k], old[k])).to(device, non_blocking=True) for k in MARKED}
        split = len(new["ids"]) if done % seldom == 0 else len(row["ids"])
        states = states_of(model, row, quantised)
        loss, weights, _, _ = losses(model, states[:split], {k: v[:split] for k, v in row.items()})
        if done % seldom == 0:
            with torch.no_grad():
                originals = states_of(before, {k: v[split:] for k, v in row.items()}, False)
            kl = divergence(model, states[split:], originals, {k: v[split:] for k, v in row.items()})
        (loss / weights + (KEEP * kl if done % seldom == 0 else 0)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        done += 1
        tokens += int((row["group"] >= 0).sum()) if done % 10 == 0 or args.most_steps < 50 else 0
        if began is None and done - first == 3:
            began = time.time()  # Compiling is not counted.
        if done % 10 == 0 or args.most_steps < 50:
            mean = [float(x) if m is None else 0.9 * m + 0.1 * float(x) for m, x in zip(mean, ((loss / weights).detach(), kl.detach()))]
            if done % 50 == 0 or args.most_steps < 50 or device.type == "cpu":
                print(f"{done} steps, {tokens * (10 if args.most_steps >= 50 else 1):,} tokens, loss {mean[0]:.3f}, kept {mean[1]:.4f}, rate {rate:.1e}{', rounded' if quantised else ''}, {time.time() - (began or time.time()):.0f} s", flush=True)
        if device.type == "cpu" and time.time() - saved > SAVE_EVERY:
            saved = time.time()
            keep_state(args.out, model, optimiser, done, tokens, spent())
        if device.type == "cuda" and time.time() - said > 75:
            said = time.time()
            print("   " + examined(model, sets, quantised, refuse), flush=True)
    print("   " + examined(model, sets, True, refuse), flush=True)
    save(model, args.out)
    keep_state(args.out, model, optimiser, done, tokens, spent())


def keep_state(out, model, optimiser, steps, tokens, spent):
    """What --resume goes on from, all of it or nothing."""
    path = os.path.join(out, "state.pt")
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "steps": steps, "tokens": tokens, "spent": spent}, path + ".new")
    os.replace(path + ".new", path)


def save(model, out):
    """The matrices as blocks of Q4_1 in the order of export.py, in a few files of about the same size."""
    data = b"".join(blocks(w.detach().float().cpu().numpy()) for layer in model.layers for w in (layer.matrices[name] for name in MATRICES))
    size = -(-len(data) // PARTS)
    pack = lambda n: lzma.compress(data[n * size:(n + 1) * size], preset=1)
    with ThreadPoolExecutor(PARTS) as pool:
        for n, packed in enumerate(pool.map(pack, range(PARTS))):
            with open(os.path.join(out, f"matrices.{n}.xz"), "wb") as f:
                f.write(packed)
    torch.save({name: p.detach().cpu() for name, p in model.named_parameters() if "matrices" not in name}, os.path.join(out, "norms.pt"))


if __name__ == "__main__":
    main()
