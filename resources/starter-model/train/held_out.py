"""Teacher-forced measures of the held-out side: loss per token, and the share of replies that greedy decoding would write word
by word (every token of the reply is the most likely one). One pass, no decoding: cheap enough for a learning curve.

    python held_out.py MODEL.pt|FOLDER .. --out curve.json
"""
import argparse
import json
import os

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import packing
from common import load_training_model
from loss import targets
from model import Config, StarterLM

SEED, TOKENS = 99, 4096
SKILLS = {"documents": 6, "manual": 3, "app": 1, "talk": 1, "sums": 3, "textops": 2, "titles": 1, "stories": 1, "prose": 1, "world": 1}  # batches of each


def load(path):
    if os.path.isdir(path):
        return load_training_model(path), None
    kept = torch.load(path, map_location="cpu")
    model = StarterLM(Config(**kept["config"]))
    model.load_state_dict(kept["model"])
    return model.eval(), kept["tokens"]


def batches(tokenizer, skill):
    return [[torch.tensor(x) for x in packing.batch(tokenizer, SEED, n, TOKENS, "test", skill)] for n in range(SKILLS[skill])]


@torch.no_grad()
def measure(model, given):
    """-> dict(loss, tokens, exact, replies) over the batches of a skill."""
    total, tokens, exact, replies = 0.0, 0, 0, 0
    for ids, weights, seg in given:
        hidden = model.hidden(ids, model.rows(seg))
        wanted, w = targets(ids, weights, seg, 1)
        at = (w > 0).nonzero().squeeze(1)
        logits = model.head(hidden[at])
        total += F.cross_entropy(logits, wanted[at], reduction="sum").item()
        tokens += len(at)
        right = logits.argmax(-1) == wanted[at]
        # a reply is an unbroken run of spoken tokens
        number = (torch.diff(at, prepend=at[:1] - 2) != 1).cumsum(0) - 1
        wrong = torch.zeros(int(number[-1]) + 1).index_add_(0, number, (~right).float())
        exact += int((wrong == 0).sum())
        replies += len(wrong)
    return dict(loss=round(total / tokens, 4), tokens=tokens, exact=exact, replies=replies)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("models", nargs="+")
    ap.add_argument("--out")
    ap.add_argument("--tokenizer", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tokenizer.json"))
    ap.add_argument("--threads", type=int, default=1)
    a = ap.parse_args()
    torch.set_num_threads(a.threads)
    tokenizer = Tokenizer.from_file(a.tokenizer)
    given = {skill: batches(tokenizer, skill) for skill in SKILLS}
    points = []
    for path in a.models:
        model, tokens = load(path)
        points.append(dict(model=os.path.basename(os.path.normpath(path)), tokens=tokens, skills={skill: measure(model, given[skill]) for skill in SKILLS}))
        print(json.dumps(points[-1]), flush=True)
    if a.out:
        with open(a.out, "w", encoding="utf-8") as f:
            json.dump(points, f, indent=1)


if __name__ == "__main__":
    main()
