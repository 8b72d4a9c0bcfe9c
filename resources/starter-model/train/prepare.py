"""Makes training data ahead of the training: python prepare.py FOLDER --seed 7 --steps 1000

Writes ids.npy (uint16), weights.npy (uint8, hundredths) and seg.npy (uint8), each [steps, tokens], and prepare.json. A step
depends on (seed, step) alone, so a second call with more steps goes on where the first one ended.
"""
import argparse
import json
import os

import numpy as np
from tokenizers import Tokenizer

import packing

KINDS = dict(ids=np.uint16, weights=np.uint8, seg=np.uint8)
HERE = os.path.dirname(os.path.abspath(__file__))


class Prepared:
    """The batches of a folder: step -> ids, weights, seg as arrays [B, T]."""

    def __init__(self, folder):
        with open(os.path.join(folder, "prepare.json"), encoding="utf-8") as f:
            self.about = json.load(f)
        self.arrays = {name: np.load(os.path.join(folder, f"{name}.npy"), mmap_mode="r") for name in KINDS}

    def __getitem__(self, step):
        width = self.about["widths"][step]
        ids, weights, seg = (self.arrays[name][step].reshape(-1, width) for name in KINDS)
        return ids.astype(np.int64), weights.astype(np.float32) / 100, seg.astype(np.int64)

    def __len__(self):
        return len(self.about["widths"])


def save(path, array):
    np.save(path + ".new.npy", array)
    os.replace(path + ".new.npy", path)


def write(folder, about, made):
    for name in KINDS:
        save(os.path.join(folder, f"{name}.npy"), np.stack(made[name]))
    path = os.path.join(folder, "prepare.json")
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(about, f)
    os.replace(path + ".new", path)


def extend(tokenizer, about, made, steps, each=lambda count: None):
    """Adds the batches up to `steps`."""
    for step in range(len(about["widths"]), steps):
        ids, weights, seg = packing.batch(tokenizer, about["seed"], step, about["tokens"])
        about["widths"].append(len(ids[0]))
        for name, value in (("ids", ids), ("weights", np.round(np.array(weights) * 100)), ("seg", seg)):
            made[name].append(np.array(value).astype(KINDS[name]).reshape(-1))
        each(step + 1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder")
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--steps", type=int, required=True)
    ap.add_argument("--tokens", type=int, default=4096, help="tokens of a step")
    ap.add_argument("--tokenizer", default=os.path.join(HERE, "..", "tokenizer.json"))
    a = ap.parse_args()
    tokenizer = Tokenizer.from_file(a.tokenizer)
    os.makedirs(a.folder, exist_ok=True)
    about = dict(seed=a.seed, tokens=a.tokens, widths=[])
    made = {name: [] for name in KINDS}
    if os.path.exists(os.path.join(a.folder, "prepare.json")):
        old = Prepared(a.folder)
        if (old.about["seed"], old.about["tokens"]) != (a.seed, a.tokens):
            raise SystemExit(f"[prepare] {a.folder} has seed {old.about['seed']} and {old.about['tokens']} tokens a step, asked for {a.seed} and {a.tokens}")
        about = old.about
        made = {name: list(old.arrays[name]) for name in KINDS}

    def report(count):
        if count % 200 == 0:
            write(a.folder, about, made)
            print(f"{count} steps", flush=True)

    extend(tokenizer, about, made, a.steps, report)
    write(a.folder, about, made)
    print(f"{len(about['widths'])} steps of {a.tokens} tokens, {sum(int((w > 0).sum()) for w in made['weights'])} of them are trained")


if __name__ == "__main__":
    main()
