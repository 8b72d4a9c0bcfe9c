"""Texts as rows of tokens, in an order that follows from the seed and the step alone, so that a training can be continued."""
import json
import os
import pathlib

import numpy as np
from tokenizers import Tokenizer

ENDINGS = (".txt", ".md", ".rst", ".jsonl")
AT_ONCE = 2_000_000  # characters
HELD_OUT = 0.01
MOST_HELD_OUT = 16


def documents(path):
    """The texts of a file, or of all files of a folder: one of a file, or one of each line of .jsonl, in its "text"."""
    path = pathlib.Path(path)
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.suffix in ENDINGS)
    if not files:
        raise SystemExit(f"{path}: expected a file, or a folder with {', '.join(ENDINGS)}")
    for file in files:
        if file.suffix != ".jsonl":
            yield file.read_text(encoding="utf-8", errors="replace")
            continue
        with open(file, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield text_of(line, f"{file}:{number}")


def text_of(line, where):
    try:
        text = json.loads(line)["text"]
    except (ValueError, KeyError, TypeError):
        text = None
    if not isinstance(text, str):
        raise SystemExit(f'{where}: expected {{"text": "…"}}')
    return text


def batches(texts):
    some, size = [], 0
    for text in texts:
        some.append(text)
        size += len(text)
        if size > AT_ONCE:
            yield some
            some, size = [], 0
    yield some


def tokenised(source, folder, end, to):
    """Writes the tokens of a source to a file, each document followed by `end`, unless they are there. -> a map of them"""
    path = pathlib.Path(to)
    if not path.exists():
        tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
        with open(f"{path}.new", "wb") as out:
            for some in batches(documents(source)):
                for found in tokenizer.encode_batch_fast(some, add_special_tokens=False):
                    np.array([*found.ids, end], dtype=np.uint32).tofile(out)
        os.replace(f"{path}.new", path)
    return np.memmap(path, dtype=np.uint32, mode="r")


class Source:
    """One source of rows of `length` tokens. Some are held out; the others come in another order each time around."""

    def __init__(self, name, tokens, length, seed):
        self.name, self.tokens, self.length, self.seed = name, tokens, length, seed
        count = len(tokens) // length
        if count < 2:
            raise SystemExit(f"{name}: got {len(tokens)} tokens, expected at least {2 * length}: two rows of --length")
        self.held = min(MOST_HELD_OUT, max(1, round(count * HELD_OUT)))
        self.count = count - self.held
        self.order, self.around = None, -1

    def row(self, at):
        around, place = divmod(at, self.count)
        if around != self.around:
            self.order, self.around = np.random.default_rng((self.seed, around)).permutation(self.count), around
        return self.at(self.order[place])

    def at(self, number):
        return self.tokens[number * self.length : (number + 1) * self.length].astype(np.int64)

    def held_out(self):
        return [self.at(self.count + one) for one in range(self.held)]


class Mix:
    """Rows of several sources, of each as often as its share says."""

    def __init__(self, sources, shares, seed):
        self.sources, self.shares, self.seed = sources, np.array(shares) / sum(shares), seed
        self.taken = [0] * len(sources)

    def rows(self, step, count):
        drawn = np.random.default_rng((self.seed, step)).choice(len(self.sources), count, p=self.shares)
        rows = []
        for which in drawn:
            rows.append(self.sources[which].row(self.taken[which]))
            self.taken[which] += 1
        return np.stack(rows)

    def held_out(self):
        return np.stack([row for source in self.sources for row in source.held_out()])
