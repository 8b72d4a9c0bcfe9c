"""Conversations as rows of tokens of one length, several groups a row (see model.py)."""
import numpy as np

LENGTH = 2048
MARKED = ("ids", "positions", "group", "branch", "parents", "weights", "keep")


def branched(tok, prefix, branches, keep=False):
    """A group. prefix: text; branches: [[(text, whether the model says it), ..], ..]; keep: what the model says is to be likely as it was."""
    ids = lambda text: tok.encode(text, add_special_tokens=False).ids
    base = ids(prefix)
    group = {"ids": list(base), "positions": list(range(len(base))), "branch": [0] * len(base), "parents": [max(0, n - 1) for n in range(len(base))], "weights": [0.0] * len(base)}
    for number, parts in enumerate(branches, 1):
        before, at = len(base) - 1, len(base)
        for text, said in parts:
            encoded = ids(text)
            # A long answer counts more than a short one, but not in proportion.
            weight = len(encoded) ** -0.5 if said else 0.0
            for one in encoded:
                group["parents"].append(before)
                before = len(group["ids"])
                group["ids"].append(one), group["positions"].append(at), group["branch"].append(number), group["weights"].append(weight)
                at += 1
    group["keep"] = [keep] * len(group["ids"])
    return group


class Packer:
    """Fills rows of `length` tokens with groups."""

    def __init__(self, length=LENGTH):
        self.length, self.waiting = length, []

    def add(self, group):
        """-> a full row, or None"""
        if len(group["ids"]) > self.length:
            return None
        self.waiting.append(group)
        if sum(len(one["ids"]) for one in self.waiting) < 1.6 * self.length:
            return None
        row, used, left = [], 0, []
        for one in sorted(self.waiting, key=lambda one: -len(one["ids"])):
            fits = used + len(one["ids"]) <= self.length
            (row if fits else left).append(one)
            used += len(one["ids"]) if fits else 0
        self.waiting = left
        return joined(row, self.length)


def joined(groups, length):
    row = {name: np.zeros(length, dtype=np.float32 if name == "weights" else np.int64) for name in MARKED}
    row["group"][:] = -1
    start = 0
    for number, group in enumerate(groups):
        end = start + len(group["ids"])
        for name in ("ids", "positions", "branch", "weights", "keep"):
            row[name][start:end] = group[name]
        row["parents"][start:end] = np.array(group["parents"]) + start
        row["group"][start:end] = number
        start = end
    return row
