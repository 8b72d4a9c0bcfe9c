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


def arrays_for(folder, steps, tokens):
    """The files with room for `steps`; what they held stays."""
    arrays = {}
    for name, kind in KINDS.items():
        path = os.path.join(folder, f"{name}.npy")
        old = np.load(path, mmap_mode="r") if os.path.exists(path) else np.empty((0, tokens), kind)
        if len(old) < steps:
            new = np.lib.format.open_memmap(path + ".new", "w+", kind, (steps, tokens))
            new[:len(old)] = old
            new.flush()
            os.replace(path + ".new", path)
        arrays[name] = np.load(path, mmap_mode="r+")
    return arrays


def write_about(folder, about):
    path = os.path.join(folder, "prepare.json")
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(about, f)
    os.replace(path + ".new", path)


def known(folder, seed, tokens):
    """What the folder holds already."""
    path = os.path.join(folder, "prepare.json")
    if not os.path.exists(path):
        return dict(seed=seed, tokens=tokens, widths=[])
    with open(path, encoding="utf-8") as f:
        about = json.load(f)
    if (about["seed"], about["tokens"]) != (seed, tokens):
        raise SystemExit(f"[prepare] {folder} has seed {about['seed']} and {about['tokens']} tokens a step, asked for {seed} and {tokens}")
    return about


def extend(folder, tokenizer, seed, tokens, steps):
    os.makedirs(folder, exist_ok=True)
    about = known(folder, seed, tokens)
    arrays = arrays_for(folder, steps, tokens)
    for step in range(len(about["widths"]), steps):
        ids, weights, seg = packing.batch(tokenizer, seed, step, tokens)
        about["widths"].append(len(ids[0]))
        for name, value in (("ids", ids), ("weights", np.round(np.array(weights) * 100)), ("seg", seg)):
            arrays[name][step] = np.array(value).reshape(-1)
        if (step + 1) % 500 == 0:
            write_about(folder, about)
            print(f"{step + 1} steps", flush=True)
    write_about(folder, about)
    return arrays


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("folder")
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--steps", type=int, required=True)
    ap.add_argument("--tokens", type=int, default=4096, help="tokens of a step")
    ap.add_argument("--tokenizer", default=os.path.join(HERE, "..", "tokenizer.json"))
    a = ap.parse_args()
    arrays = extend(a.folder, Tokenizer.from_file(a.tokenizer), a.seed, a.tokens, a.steps)
    print(f"{len(arrays['ids'])} steps of {a.tokens} tokens, {np.count_nonzero(arrays['weights'])} of them are trained")


if __name__ == "__main__":
    main()
