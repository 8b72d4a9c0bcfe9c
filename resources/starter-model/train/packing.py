"""Samples to rows: tokens, their weights and the number of each token's sample. No torch; the same (seed, step) gives the same
batch, whatever was made before."""
import random

from data import mix
from data.prompt import SPOKEN

WIDTHS = ((512, .62), (1024, .38))  # row widths and how often a step has them
FILLERS = ("sums", "talk", "textops")  # short samples for what is left of a row
LEAST = 24  # tokens of a rest that is not filled
OPENING, DECIDES = 2, 2.5  # the first tokens of a reply decide what it is about, the others mostly go on: they weigh so much


def encode(tokenizer, spans):
    ids, weights = [], []
    for text, weight in spans:
        new = tokenizer.encode(text).ids
        opening = min(OPENING, len(new)) if weight == SPOKEN else 0
        ids += new
        weights += [DECIDES] * opening + [weight] * (len(new) - opening)
    return ids, weights


def rows_of(samples, width, count, short):
    """`count` rows of `width` tokens, longest sample first into the fullest row that has room; `short()` makes small ones."""
    rows = [[] for _ in range(count)]
    room = [width] * count

    def place(sample):
        fits = [i for i in range(count) if room[i] >= len(sample[0])]
        if not fits:
            return False
        best = min(fits, key=lambda i: room[i])
        rows[best].append(sample)
        room[best] -= len(sample[0])
        return True

    for sample in sorted(samples, key=lambda s: -len(s[0])):
        place(sample)
    misses = 0
    while max(room) > LEAST and misses < 12:
        misses += not place(short())
    return rows, room


def flat(rows, room):
    """Rows as three lists of lists; what is left is token 0 without weight, a sample of its own."""
    ids, weights, seg = [], [], []
    for row, left in zip(rows, room):
        ids.append([t for s in row for t in s[0]] + [0] * left)
        weights.append([w for s in row for w in s[1]] + [0.0] * left)
        seg.append([n for n, s in enumerate(row) for _ in s[0]] + [len(row)] * left)
    return ids, weights, seg


def batch(tokenizer, seed, step, tokens, split="train", skill=None):
    r = random.Random(f"{seed}/{step}")
    width = r.choices([w for w, _ in WIDTHS], [p for _, p in WIDTHS])[0]
    count = tokens // width
    samples, total = [], 0
    while total < tokens:
        one = encode(tokenizer, mix.sample(r, split, skill)[1])
        if len(one[0]) <= width:
            samples.append(one)
            total += len(one[0])
    order = list(range(count))
    r.shuffle(order)
    rows, room = rows_of(samples, width, count, lambda: encode(tokenizer, mix.sample(r, split, skill or r.choice(FILLERS))[1]))
    return flat([rows[i] for i in order], [room[i] for i in order])
